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
  /** Class name of the original, without `$Key` and `$Value`. Default: that in Kafka Connect's package. */
  readonly original?: string
  readonly summary: string
  readonly notes?: string
  readonly config: Config
  create(config: z.infer<Config>): SideChange
}

/** Defines the two variants of a transform: `NAME$Key` and `NAME$Value`. */
export function sideTransforms<Config extends z.ZodObject>(
  transform: SideTransform<Config>,
): readonly [Transform<Config>, Transform<Config>] {
  const { name, isOwn = false, original = `${PACKAGE}.${name}`, create, ...info } = transform
  return recordTransforms<Config>({
    ...info,
    name,
    ...(!isOwn && { original }),
    create(config, sideOf) {
      const change = create(config)
      return (record) => {
        const side = sideOf.read(record)
        const changed = change(side, record)
        if (changed === side) return record
        return { ...record, headers: changed.headers ?? record.headers, ...sideOf.write(changed) }
      }
    },
  })
}

/** Reads and writes the key, or the value, of a record. */
export type SideAccess = {
  readonly read: (record: ConnectRecord) => Side
  readonly write: (side: Side) => Partial<ConnectRecord>
}

const SIDES = {
  Key: {
    read: ({ keySchema: schema, key: value }) => ({ schema, value }),
    write: ({ schema, value }) => ({ keySchema: schema, key: value }),
  },
  Value: {
    read: ({ valueSchema: schema, value }) => ({ schema, value }),
    write: ({ schema, value }) => ({ valueSchema: schema, value }),
  },
} as const satisfies Readonly<Record<string, SideAccess>>

type RecordTransform<Config extends z.ZodObject> = Omit<SideTransform<Config>, 'isOwn' | 'create'> & {
  create(config: z.infer<Config>, side: SideAccess): <R extends ConnectRecord>(record: R) => R | null
}

/** Defines the two variants of a transform that reads the key or the value, and may change or drop the whole record. */
export function recordTransforms<Config extends z.ZodObject>(
  transform: RecordTransform<Config>,
): readonly [Transform<Config>, Transform<Config>] {
  const { name, original, create, ...info } = transform
  const of = (side: keyof typeof SIDES) =>
    defineTransform<Config>({
      ...info,
      class: `${name}$${side}`,
      ...(original !== undefined && { aliases: [`${original}$${side}`] }),
      version: SHIPPED_VERSION,
      create: (config) => create(config, SIDES[side]),
    })
  return [of('Key'), of('Value')]
}

/** Class name, alias and version of a transform that also exists in Kafka Connect. */
export function names(
  name: string,
  ...others: readonly string[]
): {
  readonly class: string
  readonly aliases: readonly string[]
  readonly version: string
} {
  return { class: name, aliases: [`${PACKAGE}.${name}`, ...others], version: SHIPPED_VERSION }
}

/** Class name and version of a transform that does not exist in Kafka Connect. */
export function ownNames(name: string): { readonly class: string; readonly version: string } {
  return { class: name, version: SHIPPED_VERSION }
}
