import type { OffloadableSchema } from '../../compatibility-worker/offloadable-schema.ts'
import type { FormatType, ParsedSchema } from '../../formats/format.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { normalizedReferences, type SchemaReference } from '../../formats/references.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { inheritMetadata } from '../commands/inherited-metadata.ts'
import {
  invalidSchema,
  RegistryError,
  schemaNotFound,
  subjectNotFound,
  versionNotFound,
} from '../model/registry-error.ts'
import { guidOf, type SchemaContent, type SchemaVersion, type SentSchema } from '../model/schema.ts'
import { VERSION_PROPERTY, withProperty } from '../model/schema-metadata.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-view.ts'
import { configInScope } from './effective-config.ts'
import { subjectOfOtherContext } from './schema-search.ts'

/** A sent schema after parsing: its canonical content, and the parsed schema. */
export type ResolvedSchema = { readonly content: SchemaContent; readonly parsed: OffloadableSchema }
/** A positive version number, or the latest version that is not deleted. */
export type VersionSelector = number | 'latest'

/** Parses a sent schema and resolves its references. Rejects with `invalid_schema`. */
export async function resolveSchema(
  { view, schemas }: DecisionContext,
  subject: Subject,
  sent: SentSchema,
  options: { readonly normalize: boolean; readonly validation: 'strict' | 'loose'; readonly fields?: boolean },
): Promise<ResolvedSchema> {
  if (sent.text.trim() === '') throw invalidSchema('Empty schema')
  const references = concreteReferences(view, subject, sent.references)
  const read = await schemas.parse(view, subject, { ...sent, references }, options.validation)
  const parsed = options.normalize ? await read.normalized() : read
  if (options.fields && parsed.type === 'JSON' && parsed.fields.some((field) => field.startsWith('$$'))) {
    throw invalidSchema('Field names cannot start with $$ prefix')
  }
  const content = {
    ...sent,
    text: parsed.canonical,
    references: options.normalize ? normalizedReferences(references) : references,
  }
  return { content: { ...content, guid: guidOfParsed(content, parsed) }, parsed }
}

/** The GUIDs of schemas that consist of a text only. A parsed schema is cached, and hashing takes longer than the search. */
const guidsOfTexts = new WeakMap<ParsedSchema, string>()

function guidOfParsed(content: SentSchema, { parsed }: OffloadableSchema): string {
  const isTextOnly = content.references.length === 0 && !content.metadata && !content.ruleSet
  if (!parsed || !isTextOnly) return guidOf(content)
  const known = guidsOfTexts.get(parsed)
  if (known !== undefined) return known
  const guid = guidOf(content)
  guidsOfTexts.set(parsed, guid)
  return guid
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
export async function findSchema(
  context: DecisionContext,
  subject: Subject,
  schema: ResolvedSchema,
  options: { readonly deleted: boolean; readonly latestOnly?: boolean },
): Promise<SchemaVersion | undefined> {
  const { view } = context
  if (options.latestOnly) {
    const latest = view.latest(subject)
    return latest && findEquivalent(context, schema, [latest])
  }
  const { guid, type } = schema.content
  const id = view.idOf(contextOf(subject), guid)
  const isCandidate = ({ deleted }: SchemaVersion) => options.deleted || !deleted
  const versions = view.versions(subject)
  const same = versions.find((version) => version.id === id && version.content.guid === guid && isCandidate(version))
  if (same) return withType(same, type)
  return findEquivalent(context, schema, versions.filter(isCandidate))
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
export async function lookUpSchema(
  context: DecisionContext,
  subject: Subject,
  sent: SentSchema,
  options: { readonly normalize: boolean; readonly deleted: boolean },
): Promise<SchemaVersion> {
  const { view, defaults } = context
  if (!view.versions(subject).some(({ deleted }) => options.deleted || !deleted)) throw subjectNotFound(subject)
  const config = configInScope(view, subject, defaults)
  const find = async (schema: SentSchema) => {
    const normalize = options.normalize || config.normalize === true
    const resolved = await resolveSchema(context, subject, schema, { normalize, validation: 'loose' })
    return findSchema(context, subject, resolved, options)
  }
  const found = await find(sent)
  if (found) return found
  const latest = view.latest(subject)
  const withInherited = latest && (await find({ ...sent, ...inheritMetadata(sent, latest.content, config) }))
  if (!withInherited) throw schemaNotFound()
  return withInherited
}

/** As `lookUpSchema`, and as `findInAnyContext` if the schema is not found under this subject. */
export async function lookUpInAnyContext(
  context: DecisionContext,
  subject: Subject,
  isPermitted: (subject: Subject) => boolean,
  sent: SentSchema,
  options: { readonly normalize: boolean; readonly deleted: boolean },
): Promise<SchemaVersion> {
  try {
    return await lookUpSchema(context, subject, sent, options)
  } catch (error) {
    const other = error instanceof RegistryError ? subjectOfOtherContext(context.view, subject, isPermitted) : undefined
    if (other === undefined) throw error
    return lookUpSchema(context, other, sent, options)
  }
}

/**
 * Returns the newest version that is equivalent to a schema: the canonical texts are equal, also if the sent schema has
 * inlined the references of the version, or the schemas are equivalent otherwise, and metadata and rules are equal apart from
 * the `confluent:version` property. `versions` are ascending.
 */
export async function findEquivalent(
  { view, schemas }: DecisionContext,
  { content, parsed }: ResolvedSchema,
  versions: readonly SchemaVersion[],
): Promise<SchemaVersion | undefined> {
  const references = JSON.stringify(content.references)
  const candidates = versions.toReversed().flatMap((version) => {
    const old = version.content
    const isInlined = content.references.length === 0 && old.references.length > 0
    const hasReferences = isInlined || references === JSON.stringify(old.references)
    if (content.type !== old.type || !hasReferences) return []
    if (!isEqualExceptVersion(content, version) || !parsed.canEqual(old.text)) return []
    return { ...schemas.stored(view, version), isInlined, version }
  })
  return (await schemas.operations.findEquivalent(parsed, candidates))?.version
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
