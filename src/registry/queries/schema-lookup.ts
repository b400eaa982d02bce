import type { OffloadableSchema } from '../../compatibility-worker/offloadable-schema.ts'
import type { FormatType } from '../../formats/format.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { normalizedReferences, type SchemaReference } from '../../formats/references.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { inheritMetadata } from '../commands/inherited-metadata.ts'
import { invalidSchema, schemaNotFound, subjectNotFound, versionNotFound } from '../model/registry-error.ts'
import { guidOf, type SchemaContent, type SchemaVersion, type SentSchema } from '../model/schema.ts'
import { VERSION_PROPERTY, withProperty } from '../model/schema-metadata.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-view.ts'
import { configInScope } from './effective-config.ts'

/** A sent schema after parsing: its canonical content, and the parsed schema. */
export type ResolvedSchema = { readonly content: SchemaContent; readonly parsed: OffloadableSchema }
/** A positive version number, or the latest version that is not deleted. */
export type VersionSelector = number | 'latest'

/** Parses a sent schema and resolves its references. Throws `invalid_schema`. */
export function resolveSchema(
  { view, schemas, results }: DecisionContext,
  subject: Subject,
  sent: SentSchema,
  options: { readonly normalize: boolean; readonly validation: 'strict' | 'loose'; readonly fields?: boolean },
): ResolvedSchema {
  if (sent.text.trim() === '') throw invalidSchema('Empty schema')
  const references = concreteReferences(view, subject, sent.references)
  const read = schemas.parse(view, subject, { ...sent, references }, { validation: options.validation, results })
  const parsed = options.normalize ? read.normalized() : read
  if (options.fields && parsed.type === 'JSON' && parsed.fields.some((field) => field.startsWith('$$'))) {
    throw invalidSchema('Field names cannot start with $$ prefix')
  }
  const content = {
    ...sent,
    text: parsed.canonical,
    references: options.normalize ? normalizedReferences(references) : references,
  }
  return { content: { ...content, guid: results.guidOf(content) }, parsed }
}

/** Replaces the version -1 (latest) of references by the number of the latest version. */
function concreteReferences(
  view: RegistryView,
  subject: Subject,
  references: readonly SchemaReference[],
): readonly SchemaReference[] {
  if (!references.some(({ version }) => version === -1)) return references
  return references.map((reference) => {
    if (reference.version !== -1) return reference
    const latest = view.latest(toSubject(reference.subject, contextOf(subject)))
    return latest ? { ...reference, version: latest.version } : reference
  })
}

/** Returns the selected version. Throws `subject_not_found` or `version_not_found`. */
export function findVersion(
  view: RegistryView,
  subject: Subject,
  selector: VersionSelector,
  options: { readonly deleted: boolean },
): SchemaVersion {
  const found = selector === 'latest' ? view.latest(subject) : view.version(subject, selector)
  if (found && (options.deleted || !found.deleted)) return found
  const exists = view.versions(subject).some(({ deleted }) => options.deleted || !deleted)
  throw exists ? versionNotFound(selector === 'latest' ? -1 : selector) : subjectNotFound(subject)
}

/**
 * Returns the version of the subject that has this schema: the one with the same GUID, with the type that was sent,
 * otherwise the newest one that is equivalent as defined by `isRegisteredAs`. With `latestOnly`, only the latest version
 * is compared, and only by `isRegisteredAs`.
 */
export function findSchema(
  context: DecisionContext,
  subject: Subject,
  schema: ResolvedSchema,
  options: { readonly deleted: boolean; readonly latestOnly?: boolean },
): SchemaVersion | undefined {
  const { view } = context
  if (options.latestOnly) {
    const latest = view.latest(subject)
    return latest && isRegisteredAs(context, schema, latest) ? latest : undefined
  }
  const { guid, type } = schema.content
  const id = view.idOf(contextOf(subject), guid)
  const candidates = view.versions(subject).filter(({ deleted }) => options.deleted || !deleted)
  const same = candidates.find((version) => version.id === id && version.content.guid === guid)
  if (same) return withType(same, type)
  return findEquivalent(context, schema, candidates)
}

/** Returns the version with the type of the request: Confluent's registry compares GUIDs, not types, and returns that type. */
export function withType(version: SchemaVersion, type: FormatType): SchemaVersion {
  return version.content.type === type ? version : { ...version, content: { ...version.content, type } }
}

/**
 * Returns the version under which a schema is registered. If the sent schema is not found, it is completed with
 * metadata and rules from the config and the latest version, as on registration. Throws `subject_not_found` or
 * `schema_not_found`.
 */
export function lookUpSchema(
  context: DecisionContext,
  subject: Subject,
  sent: SentSchema,
  options: { readonly normalize: boolean; readonly deleted: boolean },
): SchemaVersion {
  const { view, defaults } = context
  if (!view.versions(subject).some(({ deleted }) => options.deleted || !deleted)) throw subjectNotFound(subject)
  const config = configInScope(view, subject, defaults)
  const find = (schema: SentSchema) => {
    const normalize = options.normalize || config.normalize === true
    return findSchema(
      context,
      subject,
      resolveSchema(context, subject, schema, { normalize, validation: 'loose' }),
      options,
    )
  }
  const found = find(sent)
  if (found) return found
  const latest = view.latest(subject)
  const withInherited = latest && find({ ...sent, ...inheritMetadata(sent, latest.content, config) })
  if (!withInherited) throw schemaNotFound()
  return withInherited
}

/** Returns the newest version that is equivalent to a schema as defined by `isRegisteredAs`. `versions` are ascending. */
export function findEquivalent(
  context: DecisionContext,
  schema: ResolvedSchema,
  versions: readonly SchemaVersion[],
): SchemaVersion | undefined {
  return context.results.findInTurns(
    `registered as ${schema.content.type} ${schema.content.guid}`,
    versions.toReversed(),
    ({ version, content }) => `${version} ${content.guid}`,
    (version) => (isRegisteredAs(context, schema, version) ? version : undefined),
  )
}

/**
 * Whether a version is equivalent to a schema: the canonical texts are equal, also if the sent schema has inlined the
 * references of the version (AVRO: or the schemas are equivalent), and metadata and rules are equal apart from the
 * `confluent:version` property.
 */
export function isRegisteredAs(context: DecisionContext, schema: ResolvedSchema, version: SchemaVersion): boolean {
  const { content } = schema
  const old = version.content
  if (content.type !== old.type) return false
  const isInlined = content.references.length === 0 && old.references.length > 0
  if (!isInlined && JSON.stringify(content.references) !== JSON.stringify(old.references)) return false
  if (!isEqualExceptVersion(content, version) || !schema.parsed.canEqual(old.text)) return false
  const parsed = context.schemas.parseStored(context.view, version.subject, old, context.results)
  const text = isInlined ? (parsed.formatted('resolved') ?? parsed.canonical) : parsed.canonical
  return text === schema.parsed.canonical || (content.type === 'AVRO' && schema.parsed.isEquivalent(parsed))
}

/** Whether metadata and rules are equal, or differ only in that one side has the `confluent:version` property. */
function isEqualExceptVersion(content: SchemaContent, version: SchemaVersion): boolean {
  const old = version.content
  const { metadata, ruleSet } = content
  // Most schemas have neither metadata nor rules, and each new schema is compared with all versions.
  if (metadata === undefined && ruleSet === undefined && old.metadata === undefined && old.ruleSet === undefined) {
    return true
  }
  const sentVersion = content.metadata?.properties?.[VERSION_PROPERTY]
  const storedVersion = old.metadata?.properties?.[VERSION_PROPERTY]
  if (sentVersion !== undefined && storedVersion === undefined && Number(sentVersion) !== version.version) return false
  const comparableGuid = (one: SchemaContent) =>
    guidOf({
      ...one,
      text: '',
      references: [],
      metadata:
        (sentVersion === undefined) === (storedVersion === undefined)
          ? one.metadata
          : withProperty(one.metadata, VERSION_PROPERTY, undefined),
    })
  return comparableGuid(content) === comparableGuid(old)
}
