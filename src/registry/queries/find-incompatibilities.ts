import type { ComparisonRules, Conflict } from '../../compatibility-worker/worker-job.ts'
import { comparedVersions } from '../../formats/version-compatibility.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { invalidSchema } from '../model/registry-error.ts'
import type { SchemaVersion, SentSchema } from '../model/schema.ts'
import { reservedFields } from '../model/schema-metadata.ts'
import type { Subject } from '../model/subject.ts'
import { configInScope, type EffectiveConfig } from './effective-config.ts'
import { type ResolvedSchema, resolveSchema } from './schema-lookup.ts'

/** In characters. Messages truncate a longer text of the earlier schema. */
const OLD_SCHEMA_MAX = 10_240

/**
 * Returns the reasons why a sent schema is not compatible with the `previous` versions (ascending) under the subject's
 * config; empty if it is. Rejects with `invalid_schema`.
 */
export async function checkCompatibility(
  context: DecisionContext,
  subject: Subject,
  sent: SentSchema,
  previous: readonly SchemaVersion[],
  options: { readonly normalize: boolean },
): Promise<readonly string[]> {
  const config = configInScope(context.view, subject, context.defaults)
  const schema = await resolveSchema(context, subject, sent, {
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
export async function findIncompatibilities(
  context: DecisionContext,
  schema: ResolvedSchema,
  previous: readonly SchemaVersion[],
  config: EffectiveConfig,
): Promise<readonly string[]> {
  const { compatibilityLevel: level, compatibilityPolicy: policy, compatibilityGroup: group } = config
  const properties = schema.content.metadata?.properties
  const versions = previous.map((stored) => ({ stored, properties: stored.content.metadata?.properties }))
  const compared = comparedVersions(properties, versions, { level, group })
  const conflict = await firstConflict(
    context,
    schema,
    compared.map(({ stored }) => stored),
    { level, policy },
  )
  const messages = [
    ...(config.validateFields ? fieldMessages(schema, previous.at(-1)) : []),
    ...(conflict ? conflictMessages(conflict.found, conflict.version, level) : []),
  ]
  if (messages.length === 0) return []
  return [...messages, `{validateFields: '${config.validateFields === true}', compatibility: '${level}'}`]
}

type VersionConflict = { readonly version: SchemaVersion; readonly found: Exclude<Conflict, { kind: 'unreadable' }> }

async function firstConflict(
  { view, schemas }: DecisionContext,
  { parsed }: ResolvedSchema,
  versions: readonly SchemaVersion[],
  rules: ComparisonRules,
): Promise<VersionConflict | undefined> {
  const stored = versions.map((version) => ({ ...schemas.stored(view, version), version }))
  for await (const { version, found } of schemas.operations.conflicts(parsed, stored, rules)) {
    if (found.kind !== 'unreadable') return { version: version.version, found }
    await version.parse()
    throw invalidSchema(`Invalid schema of version ${version.version.version}: it cannot be compared`)
  }
  return undefined
}

function conflictMessages(
  conflict: VersionConflict['found'],
  { version }: SchemaVersion,
  level: EffectiveConfig['compatibilityLevel'],
): readonly string[] {
  if (conflict.kind === 'type') return ['Incompatible because of different schema type']
  const { forward, backward, canonical: text } = conflict
  const shown =
    text.length <= OLD_SCHEMA_MAX
      ? `{oldSchema: '${text}'}`
      : `{oldSchema: <truncated> '${text.slice(0, OLD_SCHEMA_MAX)}...'}`
  const messages = [...forward, ...backward].map(({ message }) => message)
  // Under FULL, Confluent's registry shows the earlier schema only if there is a backward incompatibility.
  if (level.startsWith('FULL') && backward.length === 0) return messages
  return [...messages, `{oldSchemaVersion: ${version}}`, shown]
}

/** A reserved field must stay reserved, and the schema must not have a field of that name. */
function fieldMessages({ parsed, content }: ResolvedSchema, latest: SchemaVersion | undefined): readonly string[] {
  const reserved = reservedFields(content.metadata)
  const vanished = reservedFields(latest?.content.metadata).filter((field) => !reserved.includes(field))
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
