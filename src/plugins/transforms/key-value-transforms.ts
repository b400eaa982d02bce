import {
  type ConnectRecord,
  defineTransform,
  type RecordHeader,
  type Schema,
  type Transform,
  type z,
} from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'

const PACKAGE = 'org.apache.kafka.connect.transforms'

/** The key or the value of a record, with its schema. */
export type Side = { readonly schema: Schema | null; readonly value: unknown }

/** Returns the changed side, or the same object if nothing changed. */
export type SideChange = (side: Side, record: ConnectRecord) => Side & { readonly headers?: readonly RecordHeader[] }

type SideTransform<Config extends z.ZodObject> = {
  readonly name: string
  /** Whether the transform is Weir's own, so that it has no alias in Kafka Connect's package. */
  readonly isOwn?: boolean
  readonly summary: string
  readonly notes?: string
  readonly config: Config
  create(config: z.infer<Config>): SideChange
}

/** Defines the two variants of a transform: `NAME$Key` and `NAME$Value`. */
export function sideTransforms<Config extends z.ZodObject>(
  transform: SideTransform<Config>,
): readonly [Transform<Config>, Transform<Config>] {
  const { name, isOwn = false, create, ...info } = transform
  const of = (side: string, read: (record: ConnectRecord) => Side, write: (side: Side) => Partial<ConnectRecord>) =>
    defineTransform<Config>({
      ...info,
      ...(isOwn ? ownNames : names)(`${name}$${side}`),
      create(config) {
        const change = create(config)
        return (record) => {
          const side = read(record)
          const changed = change(side, record)
          if (changed === side) return record
          return { ...record, headers: changed.headers ?? record.headers, ...write(changed) }
        }
      },
    })
  return [
    of(
      'Key',
      ({ keySchema: schema, key: value }) => ({ schema, value }),
      ({ schema, value }) => ({ keySchema: schema, key: value }),
    ),
    of(
      'Value',
      ({ valueSchema: schema, value }) => ({ schema, value }),
      ({ schema, value }) => ({ valueSchema: schema, value }),
    ),
  ]
}

/** Class name, alias and version of a transform that also exists in Kafka Connect. */
export function names(name: string): {
  readonly class: string
  readonly aliases: readonly string[]
  readonly version: string
} {
  return { class: name, aliases: [`${PACKAGE}.${name}`], version: SHIPPED_VERSION }
}

/** Class name and version of a transform that does not exist in Kafka Connect. */
export function ownNames(name: string): { readonly class: string; readonly version: string } {
  return { class: name, version: SHIPPED_VERSION }
}
