import { contextOf, DEFAULT_CONTEXT, splitSubject } from '../../formats/qualified-subject.ts'
import { RegistryError, schemaNotFound } from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { ALL_CONTEXTS, type Subject, toSubject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-view.ts'

/** Whether the principal may read a subject. Searches skip the subjects that it may not read. */
export type IsReadable = (subject: Subject) => boolean

/** Which versions match: only live ones, all, or only soft-deleted ones. */
export type VersionFilter = 'live' | 'all' | 'deleted'

export function matchesVersionFilter(which: VersionFilter): (version: SchemaVersion) => boolean {
  if (which === 'all') return () => true
  return ({ deleted }) => deleted === (which === 'deleted')
}

/**
 * Returns the subjects that match, sorted. The prefix `:*:` searches every context; any other prefix searches the
 * context it names. A subject is deleted if all its versions are.
 */
export function findSubjects(view: RegistryView, prefix: string, which: VersionFilter): readonly Subject[] {
  const matches = prefixMatcher(prefix)
  const isWanted = (subject: Subject) => which === 'all' || view.isLive(subject) === (which === 'live')
  return [...view.subjects()].filter((subject) => matches(subject) && isWanted(subject)).sort()
}

function prefixMatcher(prefix: string): (subject: Subject) => boolean {
  if (prefix.startsWith(ALL_CONTEXTS)) {
    const start = prefix.slice(ALL_CONTEXTS.length)
    return start === '' ? () => true : (subject) => splitSubject(subject).name.startsWith(start)
  }
  const context = contextOf(prefix)
  const start = toSubject(prefix)
  return (subject) => subject.startsWith(start) && contextOf(subject) === context
}

/**
 * Returns a version with this ID. If a subject is given, a version of that subject is preferred; an unqualified subject
 * is searched in every context, the default one first. Otherwise any subject of the context matches. Throws
 * `schema_not_found`.
 */
export function findById(
  view: RegistryView,
  id: number,
  subject: Subject | undefined,
  isReadable: IsReadable,
): SchemaVersion {
  const context = subject === undefined ? DEFAULT_CONTEXT : contextOf(subject)
  const found =
    (subject !== undefined && ownHolder(view, id, subject, isReadable)) ||
    view.holders(context, id).find((holder) => isReadable(holder.subject))
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
    const name = toSubject(splitSubject(subject).name, context)
    if (!isReadable(name)) continue
    const own = view.holders(context, id).find((holder) => holder.subject === name)
    if (own) return own
  }
  return undefined
}

/** Returns all versions with this ID, sorted by subject and version. Throws `schema_not_found` if there are none. */
export function findVersionsById(
  view: RegistryView,
  id: number,
  subject: Subject | undefined,
  isReadable: IsReadable,
  which: VersionFilter,
): readonly SchemaVersion[] {
  const context = contextOf(findById(view, id, subject, isReadable).subject)
  const name = subject === undefined ? '' : splitSubject(subject).name
  return view
    .holders(context, id)
    .filter((holder) => isReadable(holder.subject))
    .filter((holder) => name === '' || splitSubject(holder.subject).name === name)
    .filter(matchesVersionFilter(which))
    .toArray()
    .sort((a, b) => (a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : a.version - b.version))
}

/** Returns one version with this GUID for each context, the default context first. Throws `schema_not_found`. */
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
 * Calls `find` with the subject. If that throws a `RegistryError` and the subject is in the default context, tries the
 * first permitted context that has a subject of that name. If there is none, rethrows the error.
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
    const other = error instanceof RegistryError ? subjectOfOtherContext(view, subject, isPermitted) : undefined
    if (other === undefined) throw error
    return find(other)
  }
}

/**
 * Returns the subject of the same name in the first other context that has one, if it is permitted. Undefined if the subject
 * is not in the default context.
 */
export function subjectOfOtherContext(
  view: RegistryView,
  subject: Subject,
  isPermitted: (subject: Subject) => boolean,
): Subject | undefined {
  if (contextOf(subject) !== DEFAULT_CONTEXT) return undefined
  const others = view.contexts().slice(1)
  return others
    .map((context) => toSubject(subject, context))
    .find((other) => view.versions(other).length > 0 && isPermitted(other))
}

/** Returns the highest version that matches the filter and whose metadata has all these properties. */
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

/** Whether a schema has a rule of this type, in any of its rule lists. */
export function hasRule({ content }: SchemaVersion, type: string): boolean {
  const { migrationRules = [], domainRules = [], encodingRules = [] } = content.ruleSet ?? {}
  return [...migrationRules, ...domainRules, ...encodingRules].some((rule) => rule.type === type)
}
