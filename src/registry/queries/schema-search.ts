import { RegistryError, schemaNotFound } from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { ALL_CONTEXTS, contextOf, DEFAULT_CONTEXT, partsOf, type Subject, toSubject } from '../model/subject.ts'
import type { RegistryView } from '../store/state.ts'

/** Whether a subject may be read; what may not is not found. */
export type IsReadable = (subject: Subject) => boolean

/** Which versions take part: live ones, also deleted ones, or only those. */
export type VersionFilter = 'live' | 'all' | 'deleted'

export function matchesVersionFilter(which: VersionFilter): (version: SchemaVersion) => boolean {
  if (which === 'all') return () => true
  return ({ deleted }) => deleted === (which === 'deleted')
}

/**
 * Sorted. A prefix of `:*:` searches every context; any other one searches the context it names. A subject is deleted
 * when all its versions are.
 */
export function findSubjects(view: RegistryView, prefix: string, which: VersionFilter): readonly Subject[] {
  const matches = prefixMatcher(prefix)
  const isLive = matchesVersionFilter('live')
  const isWanted = (subject: Subject) => which === 'all' || view.versions(subject).some(isLive) === (which === 'live')
  return [...view.subjects()].filter((subject) => matches(subject) && isWanted(subject)).sort()
}

function prefixMatcher(prefix: string): (subject: Subject) => boolean {
  if (prefix.startsWith(ALL_CONTEXTS)) {
    const start = prefix.slice(ALL_CONTEXTS.length)
    return start === '' ? () => true : (subject) => partsOf(subject).name.startsWith(start)
  }
  const context = contextOf(prefix)
  const start = toSubject(prefix)
  return (subject) => subject.startsWith(start) && contextOf(subject) === context
}

/**
 * A version that holds this id. With a subject, its own is preferred: in its context, then, for a subject without one, in
 * every other; after that any subject's of the context. Throws `schema_not_found`.
 */
export function findById(
  view: RegistryView,
  id: number,
  subject: Subject | undefined,
  isReadable: IsReadable,
): SchemaVersion {
  const context = subject === undefined ? DEFAULT_CONTEXT : contextOf(subject)
  const holders = view.holders(context, id)
  const found =
    (subject !== undefined && ownHolder(view, id, subject, isReadable)) ||
    holders.find((holder) => isReadable(holder.subject))
  if (!found) throw schemaNotFound(id)
  return found
}

function ownHolder(
  view: RegistryView,
  id: number,
  subject: Subject,
  isReadable: IsReadable,
): SchemaVersion | undefined {
  const contexts = contextOf(subject) === DEFAULT_CONTEXT ? view.contexts() : [contextOf(subject)]
  for (const context of contexts) {
    const name = toSubject(partsOf(subject).name, context)
    if (!isReadable(name)) continue
    const own = view.holders(context, id).find((holder) => holder.subject === name)
    if (own) return own
  }
  return undefined
}

/** Every place of an id, by subject. Throws `schema_not_found` when nothing holds it. */
export function findVersionsById(
  view: RegistryView,
  id: number,
  subject: Subject | undefined,
  isReadable: IsReadable,
  which: VersionFilter,
): readonly SchemaVersion[] {
  const context = contextOf(findById(view, id, subject, isReadable).subject)
  const name = subject === undefined ? '' : partsOf(subject).name
  return view
    .holders(context, id)
    .filter((holder) => isReadable(holder.subject))
    .filter((holder) => name === '' || partsOf(holder.subject).name === name)
    .filter(matchesVersionFilter(which))
    .toSorted((a, b) => (a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : a.version - b.version))
}

/** The contexts in which a guid has an id, the default one first. Throws `schema_not_found`. */
export function findByGuid(view: RegistryView, guid: string, isReadable: IsReadable): readonly SchemaVersion[] {
  const found = view.contexts().flatMap((context) => {
    const id = view.idOf(context, guid)
    const holder = id === undefined ? undefined : view.holders(context, id).find(({ subject }) => isReadable(subject))
    return holder ?? []
  })
  if (found.length === 0) throw schemaNotFound(guid)
  return found
}

/**
 * Tries a subject without a context in every context that is permitted, the default one first; its failure is the one that
 * counts.
 */
export function findInAnyContext<Found>(
  view: RegistryView,
  subject: Subject,
  isPermitted: (subject: Subject) => boolean,
  find: (subject: Subject) => Found,
): Found {
  try {
    return find(subject)
  } catch (error) {
    if (!(error instanceof RegistryError) || contextOf(subject) !== DEFAULT_CONTEXT) throw error
    for (const context of view.contexts().slice(1)) {
      const other = toSubject(subject, context)
      if (view.versions(other).length > 0 && isPermitted(other)) return find(other)
    }
    throw error
  }
}

/** The latest live version whose metadata has all these properties. */
export function findByMetadata(
  view: RegistryView,
  subject: Subject,
  properties: readonly (readonly [key: string, value: string])[],
  which: VersionFilter,
): SchemaVersion | undefined {
  return view
    .versions(subject)
    .filter(matchesVersionFilter(which))
    .findLast(({ content }) => properties.every(([key, value]) => content.metadata?.properties?.[key] === value))
}

/** Whether a schema carries rules: of any kind, or of one type. */
export function hasRule({ content }: SchemaVersion, type: string): boolean {
  const { migrationRules = [], domainRules = [], encodingRules = [] } = content.ruleSet ?? {}
  return [...migrationRules, ...domainRules, ...encodingRules].some((rule) => rule.type === type)
}
