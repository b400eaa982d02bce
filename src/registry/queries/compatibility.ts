import type { CompatibilityLevel } from '../../clients/registry.ts'
import type { CompareOptions, SchemaType } from '../../formats/format.ts'
import type { ExaminedSchema } from '../compatibility-worker/facts.ts'
import { type Metadata, reservedFields } from '../model/metadata.ts'
import type { EffectiveConfig } from './effective-config.ts'

/** A schema to compare: parsed only when its turn comes. */
export type Candidate = {
  readonly type: SchemaType
  readonly version: number
  readonly metadata: Metadata | undefined
  readonly parsed: () => ExaminedSchema
}

const BACKWARD = { roles: { reader: 'new', writer: 'old' } } as const
const FORWARD = { roles: { reader: 'old', writer: 'new' } } as const
const OLD_SCHEMA_MAX = 10_240

/**
 * Why a schema may not follow the `previous` versions (ascending) under this config; empty when it may. The sentences
 * are those of the original's verbose answers, in their order.
 */
export function compatibilityMessages(
  schema: Pick<Candidate, 'metadata'> & { readonly parsed: ExaminedSchema },
  previous: readonly Candidate[],
  config: EffectiveConfig,
): readonly string[] {
  const level = config.compatibilityLevel
  const messages = [
    ...(config.validateFields ? fieldMessages(schema, previous.at(-1)) : []),
    ...levelMessages(schema.parsed, comparable(schema, previous, config), level, config),
  ]
  if (messages.length === 0) return []
  return [...messages, `{validateFields: '${config.validateFields === true}', compatibility: '${level}'}`]
}

/** Only versions of the same compatibility group take part; newest first, and only the newest if the level says so. */
function comparable(
  schema: Pick<Candidate, 'metadata'>,
  previous: readonly Candidate[],
  { compatibilityGroup: group, compatibilityLevel: level }: EffectiveConfig,
): readonly Candidate[] {
  if (level === 'NONE') return []
  const mates =
    group === undefined
      ? previous
      : previous.filter(({ metadata }) => metadata?.properties?.[group] === schema.metadata?.properties?.[group])
  return level.endsWith('_TRANSITIVE') ? mates.toReversed() : mates.slice(-1)
}

function levelMessages(
  schema: ExaminedSchema,
  previous: readonly Candidate[],
  level: CompatibilityLevel,
  config: EffectiveConfig,
): readonly string[] {
  const policy = config.compatibilityPolicy ?? 'STRICT'
  for (const old of previous) {
    const messages = pairMessages(schema, old, level, { policy })
    if (messages.length > 0) return messages
  }
  return []
}

function pairMessages(
  schema: ExaminedSchema,
  old: Candidate,
  level: CompatibilityLevel,
  options: Pick<CompareOptions, 'policy'>,
): readonly string[] {
  if (old.type !== schema.type) return ['Incompatible because of different schema type']
  const before = old.parsed()
  const forward = () => before.incompatibilities(schema, { ...FORWARD, ...options }).map(({ message }) => message)
  const backward = () => schema.incompatibilities(before, { ...BACKWARD, ...options }).map(({ message }) => message)
  if (level.startsWith('FORWARD')) return withOldSchema(forward(), old.version, before)
  if (level.startsWith('BACKWARD')) return withOldSchema(backward(), old.version, before)
  return [...forward(), ...withOldSchema(backward(), old.version, before)]
}

function withOldSchema(messages: readonly string[], version: number, old: ExaminedSchema): readonly string[] {
  if (messages.length === 0) return messages
  const text = old.canonical
  const shown =
    text.length <= OLD_SCHEMA_MAX
      ? `{oldSchema: '${text}'}`
      : `{oldSchema: <truncated> '${text.slice(0, OLD_SCHEMA_MAX)}...'}`
  return [...messages, `{oldSchemaVersion: ${version}}`, shown]
}

/** Reserved field names may not vanish, nor be used. */
function fieldMessages(
  schema: Pick<Candidate, 'metadata'> & { readonly parsed: ExaminedSchema },
  latest: Candidate | undefined,
): readonly string[] {
  const reserved = reservedFields(schema.metadata)
  const vanished = reservedFields(latest?.metadata).filter((field) => !reserved.includes(field))
  return [
    ...vanished.map(
      (field) =>
        `The new schema has reserved field ${field} removed from its metadata which is present in the old schema's metadata.`,
    ),
    ...reserved
      .filter((field) => schema.parsed.fields.includes(field))
      .map((field) => `The new schema has field that conflicts with the reserved field ${field}.`),
  ]
}
