import type { OffloadableSchema } from '../../compatibility-worker/offloadable-schema.ts'
import type { FormatType } from '../../formats/format.ts'
import { comparedVersions, conflictsWith, type VersionConflict } from '../../formats/version-compatibility.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import type { SchemaVersion, SentSchema } from '../model/schema.ts'
import { type Metadata, reservedFields } from '../model/schema-metadata.ts'
import type { Subject } from '../model/subject.ts'
import { configInScope, type EffectiveConfig } from './effective-config.ts'
import { type ResolvedSchema, resolveSchema } from './schema-lookup.ts'

/** An earlier version. `parsed` is called only if the version is compared. */
type Candidate = {
  readonly type: FormatType
  readonly version: number
  readonly guid: string
  readonly metadata: Metadata | undefined
  readonly parsed: () => OffloadableSchema
}

/** In characters. Messages truncate a longer text of the earlier schema. */
const OLD_SCHEMA_MAX = 10_240

/**
 * Returns the reasons why a sent schema is not compatible with the `previous` versions (ascending) under the subject's
 * config; empty if it is. Throws `invalid_schema`.
 */
export function checkCompatibility(
  context: DecisionContext,
  subject: Subject,
  sent: SentSchema,
  previous: readonly SchemaVersion[],
  options: { readonly normalize: boolean },
): readonly string[] {
  const config = configInScope(context.view, subject, context.defaults)
  const schema = resolveSchema(context, subject, sent, {
    normalize: options.normalize || config.normalize === true,
    validation: config.validateNewSchemas === false ? 'loose' : 'strict',
    fields: config.validateFields === true,
  })
  return findIncompatibilities(context, schema, previous, config)
}

/**
 * Returns the reasons why a resolved schema is not compatible with the `previous` versions (ascending) under this config;
 * empty if it is. The messages are those of a verbose response of Confluent's registry, in its order. They cover only the
 * first version that conflicts.
 */
export function findIncompatibilities(
  context: DecisionContext,
  schema: ResolvedSchema,
  previous: readonly SchemaVersion[],
  config: EffectiveConfig,
): readonly string[] {
  const { compatibilityLevel: level, compatibilityPolicy: policy, compatibilityGroup: group } = config
  const rules = { level, policy, group }
  const candidates = candidatesOf(context, previous)
  const versions = candidates.map((version) => ({ ...version, properties: version.metadata?.properties }))
  const conflict = context.results.findInTurns(
    `compatible with ${schema.content.type} ${schema.content.guid} by ${level} and ${policy}`,
    comparedVersions(schema.content.metadata?.properties, versions, rules),
    ({ version, guid }) => `${version} ${guid}`,
    (version) => conflictsWith(schema.parsed, [version], rules).next().value,
  )
  const messages = [
    ...(config.validateFields ? fieldMessages(schema, candidates.at(-1)) : []),
    ...(conflict ? conflictMessages(conflict, level) : []),
  ]
  if (messages.length === 0) return []
  return [...messages, `{validateFields: '${config.validateFields === true}', compatibility: '${level}'}`]
}

function candidatesOf(
  { view, schemas, results }: DecisionContext,
  versions: readonly SchemaVersion[],
): readonly Candidate[] {
  return versions.map(({ subject, version, content }) => ({
    type: content.type,
    version,
    guid: content.guid,
    metadata: content.metadata,
    parsed: () => schemas.parseStored(view, subject, content, results),
  }))
}

function conflictMessages(
  conflict: VersionConflict<Candidate, OffloadableSchema>,
  level: EffectiveConfig['compatibilityLevel'],
): readonly string[] {
  if (conflict.kind === 'type') return ['Incompatible because of different schema type']
  const { version, earlier, forward, backward } = conflict
  const text = earlier.canonical
  const shown =
    text.length <= OLD_SCHEMA_MAX
      ? `{oldSchema: '${text}'}`
      : `{oldSchema: <truncated> '${text.slice(0, OLD_SCHEMA_MAX)}...'}`
  const messages = [...forward, ...backward].map(({ message }) => message)
  // Under FULL, Confluent's registry shows the earlier schema only if there is a backward incompatibility.
  if (level.startsWith('FULL') && backward.length === 0) return messages
  return [...messages, `{oldSchemaVersion: ${version.version}}`, shown]
}

/** A reserved field must stay reserved, and the schema must not have a field of that name. */
function fieldMessages({ parsed, content }: ResolvedSchema, latest: Candidate | undefined): readonly string[] {
  const reserved = reservedFields(content.metadata)
  const vanished = reservedFields(latest?.metadata).filter((field) => !reserved.includes(field))
  return [
    ...vanished.map(
      (field) =>
        `The new schema has reserved field ${field} removed from its metadata which is present in the old schema's metadata.`,
    ),
    ...reserved
      .filter((field) => parsed.fields.includes(field))
      .map((field) => `The new schema has field that conflicts with the reserved field ${field}.`),
  ]
}
