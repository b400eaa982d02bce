import { contextOf, DEFAULT_CONTEXT } from '../../formats/qualified-subject.ts'
import type { TagChange } from '../../formats/tags.ts'
import { incompatibleSchema, invalidSchema, notPermitted } from '../model/registry-error.ts'
import { checkRuleSet } from '../model/rule-set.ts'
import type { SchemaContent, SchemaVersion, SentSchema } from '../model/schema.ts'
import { VERSION_PROPERTY, withProperty } from '../model/schema-metadata.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import { configInScope, type EffectiveConfig, modeInScope } from '../queries/effective-config.ts'
import { findIncompatibilities } from '../queries/find-incompatibilities.ts'
import { findEquivalent, findSchema, type ResolvedSchema, resolveSchema, withType } from '../queries/schema-lookup.ts'
import type { StoredSchema } from '../store/registry-record.ts'
import type { RegistryView } from '../store/registry-view.ts'
import { assignSchemaId } from './assign-schema-id.ts'
import { type Decision, type DecisionContext, nothingToWrite } from './decision-types.ts'
import { hasDefaults, inheritMetadata } from './inherited-metadata.ts'
import { checkRegisterable, isImporting } from './mode-checks.ts'

export type Registration = {
  readonly subject: Subject
  readonly schema: SentSchema
  /** -1: the registry assigns the ID. */
  readonly id: number
  /** 0: the next version. -1: the latest version; an older version with the same schema is not reused. */
  readonly version: number
  readonly normalize: boolean
  /** Skips the compatibility check. */
  readonly force: boolean
  /** Changes to the inline tags of the schema. */
  readonly tags?: TagChange | undefined
  /** Copies the tags of the previous version to the entities that still exist. */
  readonly propagateTags?: boolean
}

/** `changed`: the stored schema differs from the sent one, because the config or an earlier version added to it. */
export type RegisteredSchemaResult = { readonly schema: StoredSchema; readonly changed: boolean }

/**
 * Returns the version if the schema is already registered under this subject; this needs no leader. Undefined if
 * `decideRegister` has to decide.
 */
export async function findRegistered(
  context: DecisionContext,
  request: Registration,
): Promise<SchemaVersion | undefined> {
  const { subject, id, version } = request
  const config = configInScope(context.view, subject, context.defaults)
  if (!isSearched(request, config)) return undefined
  const schema = await resolveSchema(context, subject, request.schema, {
    normalize: isNormalizing(request, config),
    validation: 'loose',
  })
  const existing = await findSchema(context, subject, schema, { deleted: false, latestOnly: version === -1 })
  if (!existing || (id >= 0 && id !== existing.id)) return undefined
  if (version <= 0 || version === existing.version) return existing
  // The same schema can have been imported under several versions.
  const other = context.view.version(subject, version)
  return other && !other.deleted && other.id === existing.id ? other : undefined
}

/** Whether the schema is registered as it is sent, so that the versions can be searched for it. */
function isSearched({ schema, tags, propagateTags }: Registration, config: EffectiveConfig): boolean {
  return !hasDefaults(config) && !tags && !propagateTags && schema.text.trim() !== ''
}

/**
 * Registers a schema. Registering the schema of a soft-deleted version again assigns the same ID. Throws `not_permitted` if
 * the mode does not allow it or the ID belongs to another schema; `invalid_schema`, `invalid_rule_set` or
 * `incompatible_schema`. `missingAt` is the revision of the state in which `findRegistered` found no version.
 */
export async function decideRegister(
  context: DecisionContext,
  registration: Registration,
  missingAt?: number,
): Promise<Decision<RegisteredSchemaResult>> {
  checkRuleSet(registration.schema.ruleSet)
  const request = await applyTagChange(context, registration)
  const { view, defaults } = context
  const { subject } = request
  const config = configInScope(view, subject, defaults)
  const wasSearched = isSearched(request, config)
  if (wasSearched && !(missingAt === view.revision && request === registration)) {
    const registered = await findRegistered(context, request)
    if (registered) return nothingToWrite({ schema: registered, changed: false })
  }
  const mode = modeInScope(view, subject, defaults)
  checkRegisterable(mode, subject, request.id)
  const versions = view.versions(subject)
  const next = view.versionMax(subject) + 1
  const importing = isImporting(mode)
  const sent = importing ? request.schema : await completeSchema(context, request, config, next)
  const schema = await resolveSchema(context, subject, sent, {
    normalize: !importing && isNormalizing(request, config),
    validation: request.id < 0 && config.validateNewSchemas !== false ? 'strict' : 'loose',
    fields: config.validateFields === true,
  })
  checkReferable(view, subject, schema)
  const changed = sent !== request.schema
  const live = versions.filter(({ deleted }) => !deleted)
  // The search has compared the same schema with the same versions.
  const isMissing = wasSearched && !changed && !importing && request.id < 0
  const existing = isMissing ? undefined : await findEquivalentVersion(context, schema, request, live)
  if (existing) return nothingToWrite({ schema: existing, changed })
  if (!importing && !request.force) await checkCompatible(context, subject, schema, live, config)
  const stored: StoredSchema = {
    subject,
    version: newVersion(request, next, importing),
    id: assignSchemaId(view, subject, schema.content, request.id),
    content: schema.content,
    deleted: false,
    extra: {},
  }
  return { records: recordsOf(context, stored, versions), answer: { schema: stored, changed } }
}

/** Throws `not_permitted` for a reference to a subject that has a STRONG association. */
function checkReferable(view: RegistryView, subject: Subject, { content }: ResolvedSchema): void {
  for (const reference of content.references) {
    const target = toSubject(reference.subject, contextOf(subject))
    if (view.associationsOfSubject(target).some(({ lifecycle }) => lifecycle === 'STRONG')) {
      throw notPermitted(`Subject '${reference.subject}' has a strong association and cannot be referenced`)
    }
  }
}

function isNormalizing({ normalize }: Registration, config: EffectiveConfig): boolean {
  return normalize || config.normalize === true
}

/**
 * Completes a sent schema: an empty text is taken from the previous version, metadata and rules as in
 * `inheritMetadata`. Throws `invalid_schema` for an empty text without a previous version.
 */
async function completeSchema(
  context: DecisionContext,
  request: Registration,
  config: EffectiveConfig,
  next: number,
): Promise<SentSchema> {
  const { schema: sent, subject, version, propagateTags } = request
  const previous = context.view.latest(subject)?.content
  const isEmpty = sent.text.trim() === ''
  if (isEmpty && !previous) throw invalidSchema('Empty schema')
  const { metadata: merged, ruleSet } = inheritMetadata(sent, previous, config)
  const isVersioned = version !== 0 || merged?.properties?.[VERSION_PROPERTY] !== undefined
  const metadata = isVersioned ? withProperty(merged, VERSION_PROPERTY, String(next)) : merged
  const { type, text, references } = isEmpty && previous ? previous : sent
  const inheritsTags = propagateTags && previous?.type === type
  const completedText = inheritsTags
    ? await addInheritedTags(context, subject, previous, { type, text, references })
    : text
  const isAsSent = !isEmpty && completedText === text
  if (isAsSent && metadata === undefined && ruleSet === undefined) return sent
  return { type, text: completedText, references, metadata, ruleSet }
}

async function applyTagChange({ view, schemas }: DecisionContext, request: Registration): Promise<Registration> {
  const { subject, schema, tags } = request
  if (!tags) return request
  const parsed = await schemas.parse(view, subject, schema, 'loose')
  return { ...request, schema: { ...schema, text: await parsed.tagged(tags) }, tags: undefined }
}

/** Adds the tags of the previous version to the sent text, for the entities that both have. */
async function addInheritedTags(
  { view, schemas }: DecisionContext,
  subject: Subject,
  previous: SchemaContent,
  sent: Pick<SchemaContent, 'type' | 'text' | 'references'>,
): Promise<string> {
  const add = await (await schemas.parse(view, subject, previous, 'loose')).tags()
  if (add.length === 0) return sent.text
  const parsed = await schemas.parse(view, subject, sent, 'loose')
  return parsed.tagged({ add, remove: [], ignoreMissing: true })
}

async function findEquivalentVersion(
  context: DecisionContext,
  schema: ResolvedSchema,
  { subject, id, version: requested }: Registration,
  live: readonly SchemaVersion[],
): Promise<SchemaVersion | undefined> {
  if (requested !== 0) return undefined
  const known = context.view.idOf(contextOf(subject), schema.content.guid)
  const wanted = known !== undefined && (id < 0 || id === known) ? known : id
  const same = live.findLast((version) => version.id === wanted && version.content.guid === schema.content.guid)
  if (same) return withType(same, schema.content.type)
  return findEquivalent(
    context,
    schema,
    live.filter((version) => wanted < 0 || wanted === version.id),
  )
}

async function checkCompatible(
  context: DecisionContext,
  subject: Subject,
  schema: ResolvedSchema,
  live: readonly SchemaVersion[],
  config: EffectiveConfig,
): Promise<void> {
  const messages = await findIncompatibilities(context, schema, live, config)
  if (messages.length > 0) throw incompatibleSchema(subject, messages)
}

function newVersion({ version }: Registration, next: number, importing: boolean): number {
  if (version <= 0) return next
  if (version !== next && !importing) throw invalidSchema('Version is not one more than previous version')
  return version
}

/**
 * Also hard-deletes older soft-deleted versions of the subject with the same ID, unless another schema references them.
 */
function recordsOf(
  { view }: DecisionContext,
  stored: StoredSchema,
  versions: readonly SchemaVersion[],
): Decision<unknown>['records'] {
  const { subject, version, id } = stored
  const context = contextOf(subject)
  const isNewContext = context !== DEFAULT_CONTEXT && !view.isKnownContext(context)
  const superseded = versions
    .filter((old) => old.deleted && old.id === id && old.version < version)
    .filter((old) => view.referrers(subject, old.version).length === 0)
  return [
    ...(isNewContext ? [{ kind: 'context', context, known: true } as const] : []),
    ...superseded.map((old) => ({ kind: 'schema', subject, version: old.version, value: null }) as const),
    { kind: 'schema', subject, version, value: stored },
  ]
}
