import type { Mode } from '../../clients/registry.ts'
import type { TagChange } from '../../formats/tags.ts'
import { VERSION_PROPERTY, withProperty } from '../model/metadata.ts'
import { incompatibleSchema, invalidSchema, notPermitted, RegistryError } from '../model/registry-error.ts'
import { checkRuleSet } from '../model/rule-set.ts'
import type { SchemaContent, SchemaVersion } from '../model/schema.ts'
import { contextOf, DEFAULT_CONTEXT, type Subject, toSubject } from '../model/subject.ts'
import { candidates } from '../queries/check-compatibility.ts'
import { compatibilityMessages } from '../queries/compatibility.ts'
import {
  configInScope,
  type EffectiveConfig,
  isImporting,
  isReadOnly,
  modeInScope,
  wrongMode,
} from '../queries/effective-config.ts'
import {
  findSchema,
  isRegisteredAs,
  type ResolvedSchema,
  resolveSchema,
  type SentSchema,
} from '../queries/schema-lookup.ts'
import type { StoredSchema } from '../store/record.ts'
import type { RegistryView } from '../store/state.ts'
import { type Decision, type DecisionContext, nothingToWrite } from './decision.ts'
import { hasDefaults, inheritMetadata } from './inherited-metadata.ts'

export type Registration = {
  readonly subject: Subject
  readonly schema: SentSchema
  /** -1: the registry chooses. */
  readonly id: number
  /** 0: the next one. -1: it has to be the latest. */
  readonly version: number
  readonly normalize: boolean
  /** Leaves compatibility unchecked. */
  readonly force: boolean
  /** What becomes of the tags in the schema. */
  readonly tags?: TagChange | undefined
  /** Takes over the tags of the version before, as far as what carries them is still there. */
  readonly propagateTags?: boolean
}

/** `changed`: what is stored is not what was sent, because config or an earlier version added to it. */
export type RegisteredSchemaResult = { readonly schema: StoredSchema; readonly changed: boolean }

const ID_MAX = 2 ** 31 - 1

/**
 * The answer that needs no leader: the schema is registered under this subject already. Undefined when registering has
 * to decide.
 */
export function findRegistered(context: DecisionContext, request: Registration): SchemaVersion | undefined {
  const { subject, id, version } = request
  const config = configInScope(context.view, subject, context.defaults)
  if (hasDefaults(config) || request.tags || request.propagateTags) return undefined
  if (request.schema.text.trim() === '') return undefined
  const schema = resolveSchema(context, subject, request.schema, {
    normalize: normalizing(request, config),
    validation: 'loose',
  })
  const existing = findSchema(context, subject, schema, { deleted: false, latestOnly: version === -1 })
  if (!existing || (id >= 0 && id !== existing.id)) return undefined
  if (version <= 0 || version === existing.version) return existing
  // The same schema may have been imported under several versions.
  const other = context.view.version(subject, version)
  return other && !other.deleted && other.id === existing.id ? other : undefined
}

/**
 * Registers a schema. Throws `not_permitted` in the wrong mode or for an id that means something else, `invalid_schema`,
 * `invalid_rule_set` and `incompatible_schema`.
 */
export function decideRegister(context: DecisionContext, asked: Registration): Decision<RegisteredSchemaResult> {
  checkRuleSet(asked.schema.ruleSet)
  const request = tagged(context, asked)
  const registered = findRegistered(context, request)
  if (registered) return nothingToWrite({ schema: registered, changed: false })
  const { view, defaults } = context
  const { subject } = request
  const mode = modeInScope(view, subject, defaults)
  checkMode(request, mode)
  const config = configInScope(view, subject, defaults)
  const next = (view.versions(subject).at(-1)?.version ?? 0) + 1
  const importing = isImporting(mode)
  const sent = importing ? request.schema : completed(context, request, config, next)
  const schema = resolveSchema(context, subject, sent, {
    normalize: !importing && normalizing(request, config),
    validation: request.id < 0 && config.validateNewSchemas !== false ? 'strict' : 'loose',
    fields: config.validateFields === true,
  })
  checkReferable(view, subject, schema)
  const changed = sent !== request.schema
  const live = view.versions(subject).filter(({ deleted }) => !deleted)
  const again = request.version === 0 ? alreadyThere(context, schema, request, live) : undefined
  if (again) return nothingToWrite({ schema: again, changed })
  if (!importing && !request.force) checkCompatible(context, subject, schema, live, config)
  const stored: StoredSchema = {
    subject,
    version: newVersion(request, next, importing),
    id: newId(context, subject, schema, request.id),
    content: schema.content,
    deleted: false,
    extra: {},
  }
  return { records: recordsOf(context, stored), answer: { schema: stored, changed } }
}

/** A subject that belongs to a resource cannot be referred to. */
function checkReferable(view: RegistryView, subject: Subject, { content }: ResolvedSchema): void {
  for (const reference of content.references) {
    const target = toSubject(reference.subject, contextOf(subject))
    if (view.associationsOfSubject(target).some(({ lifecycle }) => lifecycle === 'STRONG')) {
      throw notPermitted(`Subject '${reference.subject}' has a strong association and cannot be referenced`)
    }
  }
}

function normalizing({ normalize }: Registration, config: EffectiveConfig): boolean {
  return normalize || config.normalize === true
}

function checkMode({ subject, id }: Registration, mode: Mode): void {
  if (isReadOnly(mode)) throw wrongMode(subject, 'in read-only mode')
  if (id >= 0 && !isImporting(mode)) throw wrongMode(subject, 'not in import mode')
  if (id < 0 && isImporting(mode)) throw wrongMode(subject, 'not in read-write mode')
}

/** What is missing comes from the version before and from config; what config overrides is overridden. */
function completed(context: DecisionContext, request: Registration, config: EffectiveConfig, next: number): SentSchema {
  const { schema: sent, subject, version, propagateTags } = request
  const previous = context.view.latest(subject)?.content
  const isEmpty = sent.text.trim() === ''
  if (isEmpty && !previous) throw invalidSchema('Empty schema')
  const { metadata: merged, ruleSet } = inheritMetadata(sent, previous, config)
  const counted = version !== 0 || merged?.properties?.[VERSION_PROPERTY] !== undefined
  const metadata = counted ? withProperty(merged, VERSION_PROPERTY, String(next)) : merged
  const { type, text, references } = isEmpty && previous ? previous : sent
  const inherits = propagateTags && previous?.type === type
  const inherited = inherits ? takenOver(context, subject, previous, { type, text, references }) : text
  const isAsSent = !isEmpty && inherited === text
  if (isAsSent && metadata === undefined && ruleSet === undefined) return sent
  return { type, text: inherited, references, metadata, ruleSet }
}

function tagged({ view, schemas, workerResults }: DecisionContext, request: Registration): Registration {
  const { subject, schema, tags } = request
  if (!tags) return request
  const parsed = schemas.parse(view, subject, schema, { validation: 'loose', workerResults })
  return { ...request, schema: { ...schema, text: parsed.tagged(tags) }, tags: undefined }
}

/** The text with the tags that the version before has at what both have. */
function takenOver(
  { view, schemas, workerResults }: DecisionContext,
  subject: Subject,
  previous: SchemaContent,
  sent: Pick<SchemaContent, 'type' | 'text' | 'references'>,
): string {
  const add = schemas.stored(view, subject, previous, workerResults).tags()
  if (add.length === 0) return sent.text
  const parsed = schemas.parse(view, subject, sent, { validation: 'loose', workerResults })
  return parsed.tagged({ add, remove: [], ifThere: true })
}

function alreadyThere(
  context: DecisionContext,
  schema: ResolvedSchema,
  { subject, id }: Registration,
  live: readonly SchemaVersion[],
): SchemaVersion | undefined {
  const known = context.view.idOf(contextOf(subject), schema.content.guid)
  const wanted = known !== undefined && (id < 0 || id === known) ? known : id
  const same = live.findLast((version) => version.id === wanted && version.content.guid === schema.content.guid)
  return (
    same ??
    live.findLast((version) => (wanted < 0 || wanted === version.id) && isRegisteredAs(context, schema, version))
  )
}

function checkCompatible(
  context: DecisionContext,
  subject: Subject,
  { parsed, content }: ResolvedSchema,
  live: readonly SchemaVersion[],
  config: EffectiveConfig,
): void {
  const messages = compatibilityMessages({ parsed, metadata: content.metadata }, candidates(context, live), config)
  if (messages.length > 0) throw incompatibleSchema(subject, messages)
}

function newVersion({ version }: Registration, next: number, importing: boolean): number {
  if (version <= 0) return next
  if (version !== next && !importing) throw invalidSchema('Version is not one more than previous version')
  return version
}

/** The same content has the same id everywhere in a context; a new one gets the next number. */
function newId({ view }: DecisionContext, subject: Subject, { content }: ResolvedSchema, asked: number): number {
  const context = contextOf(subject)
  const known = view.idOf(context, content.guid)
  if (asked < 0 && known !== undefined) return known
  if (asked >= 0) {
    const holder = view.holders(context, asked)[0]
    if (holder && (holder.content.guid !== content.guid || holder.content.type !== content.type)) {
      throw notPermitted(`Overwrite new schema with id ${asked} in context ${context} is not permitted.`)
    }
    return asked
  }
  const next = view.idMax(context) + 1
  if (next > ID_MAX)
    throw new RegistryError('store_failed', `Error while registering the schema: ${ID_MAX} is the last id`)
  return next
}

/** An older soft-deleted version with the same id goes for good, unless something still refers to it. */
function recordsOf({ view }: DecisionContext, stored: StoredSchema): Decision<unknown>['records'] {
  const { subject, version, id } = stored
  const context = contextOf(subject)
  const isNewContext = context !== DEFAULT_CONTEXT && !view.isKnownContext(context)
  const outlived = view
    .versions(subject)
    .filter((old) => old.deleted && old.id === id && old.version < version)
    .filter((old) => view.referrers(subject, old.version).length === 0)
  return [
    ...(isNewContext ? [{ kind: 'context', context, known: true } as const] : []),
    ...outlived.map((old) => ({ kind: 'schema', subject, version: old.version, value: null }) as const),
    { kind: 'schema', subject, version, value: stored },
  ]
}
