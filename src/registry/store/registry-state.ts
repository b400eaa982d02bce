import type { Mode } from '../../clients/registry-client.ts'
import { contextOf, DEFAULT_CONTEXT } from '../../formats/qualified-subject.ts'
import type { SchemaReference } from '../../formats/references.ts'
import type { StoredAssociation } from '../model/association.ts'
import type { SchemaContent, SchemaVersion } from '../model/schema.ts'
import { isContext, type Subject, toSubject } from '../model/subject.ts'
import type { Config } from '../model/subject-config.ts'
import { AssociationIndex } from './association-index.ts'
import type { RegistryRecord, StoredSchema } from './registry-record.ts'

/** The result of applying a record, for the log and the metrics. An `id-conflict` record is ignored. */
export type ApplyResult = 'registered' | 'deleted' | 'id-conflict' | 'other'

type Mutable = { -readonly [Key in keyof SchemaVersion]: SchemaVersion[Key] }
type Context = {
  /** The versions that have a schema ID, oldest record first. */
  readonly holders: Map<number, Mutable[]>
  readonly idByGuid: Map<string, number>
  idMax: number
}

/** Read access to the current state, for decisions and responses. */
export interface RegistryView {
  /** Changes with every applied record. */
  readonly revision: number
  /** In ascending order, including soft-deleted versions. Empty if the subject does not exist. */
  versions(subject: Subject): readonly SchemaVersion[]
  version(subject: Subject, version: number): SchemaVersion | undefined
  /** The highest version that is not deleted. */
  latest(subject: Subject): SchemaVersion | undefined
  holders(context: string, id: number): readonly SchemaVersion[]
  idOf(context: string, guid: string): number | undefined
  idMax(context: string): number
  subjects(): Iterable<Subject>
  /** The versions whose references name this version. */
  referrers(subject: Subject, version: number): readonly SchemaVersion[]
  config(subject: Subject | null): Config | undefined
  mode(subject: Subject | null): Mode | undefined
  /** The subjects and contexts for which a mode is set; null is the default context. */
  modeSubjects(): readonly (Subject | null)[]
  /** The names whose config has this subject as `alias`. */
  aliasesOf(subject: Subject): readonly Subject[]
  /** Whether a context contains a version, including soft-deleted versions. */
  isInUse(context: string): boolean
  /** The contexts that contain a version or have a context record: the default context, then the others, sorted. */
  contexts(): readonly string[]
  isKnownContext(context: string): boolean
  associations(): Iterable<StoredAssociation>
  associationsOfSubject(subject: Subject): readonly StoredAssociation[]
  associationsOfResource(resourceId: string): readonly StoredAssociation[]
}

/**
 * The state of the registry, built from the records of its topic. Every instance that applies the same records in the
 * same order has the same state. Contents that several versions share are stored once.
 */
export class RegistryState implements RegistryView {
  #revision = 0
  readonly #subjects = new Map<Subject, Mutable[]>()
  readonly #contexts = new Map<string, Context>()
  readonly #known = new Set<string>()
  readonly #contents = new Map<string, SchemaContent>()
  /** GUID → the number of versions that share a content, minus one. Most contents have one version and no entry. */
  readonly #furtherUses = new Map<string, number>()
  readonly #referrers = new Map<string, Set<Mutable>>()
  readonly #configs = new Map<Subject | null, Config>()
  readonly #modes = new Map<Subject | null, Mode>()
  readonly #associations = new AssociationIndex()

  apply(record: RegistryRecord, timestampMs: number): ApplyResult {
    this.#revision += 1
    switch (record.kind) {
      case 'schema':
        return record.value ? this.#put(record.value, timestampMs) : this.#remove(record.subject, record.version)
      case 'config':
        setOrDelete(this.#configs, record.subject, record.value)
        return 'other'
      case 'mode':
        setOrDelete(this.#modes, record.subject, record.value)
        return 'other'
      case 'delete-subject':
        return this.#softDelete(record.subject, record.version)
      case 'clear-subject':
        return this.#clear(record.subject)
      case 'context':
        if (record.known) this.#known.add(record.context)
        else this.#known.delete(record.context)
        return 'other'
      case 'association':
        this.#associations.put(record.association, record.value, timestampMs)
        return 'other'
      case 'none':
        return 'other'
    }
  }

  get revision(): number {
    return this.#revision
  }

  versions(subject: Subject): readonly SchemaVersion[] {
    return this.#subjects.get(subject) ?? []
  }

  version(subject: Subject, version: number): SchemaVersion | undefined {
    const versions = this.versions(subject)
    const found = versions[placeOf(versions, version)]
    return found?.version === version ? found : undefined
  }

  latest(subject: Subject): SchemaVersion | undefined {
    return this.#subjects.get(subject)?.findLast(({ deleted }) => !deleted)
  }

  holders(context: string, id: number): readonly SchemaVersion[] {
    return this.#contexts.get(context)?.holders.get(id) ?? []
  }

  idOf(context: string, guid: string): number | undefined {
    return this.#contexts.get(context)?.idByGuid.get(guid)
  }

  idMax(context: string): number {
    return this.#contexts.get(context)?.idMax ?? 0
  }

  subjects(): Iterable<Subject> {
    return this.#subjects.keys()
  }

  referrers(subject: Subject, version: number): readonly SchemaVersion[] {
    return [...(this.#referrers.get(placeKey(subject, version)) ?? [])]
  }

  config(subject: Subject | null): Config | undefined {
    return this.#configs.get(subject)
  }

  mode(subject: Subject | null): Mode | undefined {
    return this.#modes.get(subject)
  }

  modeSubjects(): readonly (Subject | null)[] {
    return [...this.#modes.keys()]
  }

  aliasesOf(subject: Subject): readonly Subject[] {
    const target = (name: Subject, { alias }: Config) => alias && toSubject(alias, contextOf(name)) === subject
    return [...this.#configs].flatMap(([name, config]) => (name !== null && target(name, config) ? [name] : []))
  }

  isInUse(context: string): boolean {
    return (this.#contexts.get(context)?.holders.size ?? 0) > 0
  }

  contexts(): readonly string[] {
    const others = new Set([...this.#known, ...[...this.#contexts.keys()].filter((name) => this.isInUse(name))])
    others.delete(DEFAULT_CONTEXT)
    return [DEFAULT_CONTEXT, ...[...others].sort()]
  }

  isKnownContext(context: string): boolean {
    return this.#known.has(context)
  }

  associations(): Iterable<StoredAssociation> {
    return this.#associations.all()
  }

  associationsOfSubject(subject: Subject): readonly StoredAssociation[] {
    return this.#associations.ofSubject(subject)
  }

  associationsOfResource(resourceId: string): readonly StoredAssociation[] {
    return this.#associations.ofResource(resourceId)
  }

  #put(stored: StoredSchema, timestampMs: number): ApplyResult {
    const context = this.#context(contextOf(stored.subject))
    context.idMax = Math.max(context.idMax, stored.id)
    const holders = context.holders.get(stored.id) ?? []
    if (holders[0] && holders[0].content.text !== stored.content.text) return 'id-conflict'
    this.#remove(stored.subject, stored.version)
    const versions = this.#subjects.get(stored.subject)
    // Listed member by member: an object made by a spread takes 50% more memory, and there is one for each version.
    const version: Mutable = {
      subject: versions?.[0]?.subject ?? stored.subject,
      version: stored.version,
      id: stored.id,
      content: this.#intern(stored.content),
      deleted: stored.deleted,
      timestampMs,
      extra: stored.extra,
    }
    if (versions) versions.splice(placeOf(versions, stored.version), 0, version)
    else this.#subjects.set(stored.subject, [version])
    const left = context.holders.get(stored.id)
    // `[version]` allocates space for one element; V8 grows an empty array to 17 elements on the first push.
    if (left) left.push(version)
    else context.holders.set(stored.id, [version])
    context.idByGuid.set(version.content.guid, stored.id)
    for (const reference of version.content.references) this.#refer(version, reference)
    return stored.deleted ? 'deleted' : 'registered'
  }

  #remove(subject: Subject, version: number): ApplyResult {
    const versions = this.#subjects.get(subject) ?? []
    const at = placeOf(versions, version)
    const found = versions[at]
    if (found?.version !== version) return 'other'
    versions.splice(at, 1)
    if (versions.length === 0) this.#subjects.delete(subject)
    this.#forgetId(found)
    this.#release(found.content)
    for (const reference of found.content.references) this.#unrefer(found, reference)
    return 'other'
  }

  #forgetId(version: Mutable): void {
    const context = this.#context(contextOf(version.subject))
    const holders = context.holders.get(version.id)?.filter((holder) => holder !== version) ?? []
    if (holders.length > 0) context.holders.set(version.id, holders)
    else context.holders.delete(version.id)
    const { guid } = version.content
    if (context.idByGuid.get(guid) === version.id && !holders.some(({ content }) => content.guid === guid)) {
      context.idByGuid.delete(guid)
    }
  }

  #softDelete(subject: Subject, upTo: number): ApplyResult {
    for (const version of this.#subjects.get(subject) ?? []) if (version.version <= upTo) version.deleted = true
    return 'deleted'
  }

  #clear(scope: Subject | null): ApplyResult {
    for (const [subject, versions] of this.#subjects) {
      if (!isWithin(subject, scope)) continue
      for (const { version, deleted } of [...versions]) if (deleted) this.#remove(subject, version)
    }
    return 'other'
  }

  #context(name: string): Context {
    const found = this.#contexts.get(name)
    if (found) return found
    const made: Context = { holders: new Map(), idByGuid: new Map(), idMax: 0 }
    this.#contexts.set(name, made)
    return made
  }

  #intern(content: SchemaContent): SchemaContent {
    const { guid } = content
    const known = this.#contents.get(guid)
    if (known) this.#furtherUses.set(guid, (this.#furtherUses.get(guid) ?? 0) + 1)
    else this.#contents.set(guid, content)
    return known ?? content
  }

  #release({ guid }: SchemaContent): void {
    const further = this.#furtherUses.get(guid) ?? 0
    if (further === 0) this.#contents.delete(guid)
    else if (further === 1) this.#furtherUses.delete(guid)
    else this.#furtherUses.set(guid, further - 1)
  }

  #refer(version: Mutable, reference: SchemaReference): void {
    const key = referenceKey(version, reference)
    const referrers = this.#referrers.get(key) ?? new Set()
    referrers.add(version)
    this.#referrers.set(key, referrers)
  }

  #unrefer(version: Mutable, reference: SchemaReference): void {
    const key = referenceKey(version, reference)
    const referrers = this.#referrers.get(key)
    referrers?.delete(version)
    if (referrers?.size === 0) this.#referrers.delete(key)
  }
}

/** Whether the scope of a config, mode or clear record includes the subject; null includes everything. */
export function isWithin(subject: Subject, scope: Subject | null): boolean {
  return scope === null || subject === scope || (isContext(scope) && contextOf(scope) === contextOf(subject))
}

/** The index of the first version that is not smaller: where the version is, or would be inserted. */
function placeOf(versions: readonly SchemaVersion[], version: number): number {
  const last = versions.at(-1)
  if (!last || last.version < version) return versions.length
  let low = 0
  let high = versions.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((versions[middle]?.version ?? 0) < version) low = middle + 1
    else high = middle
  }
  return low
}

function placeKey(subject: Subject, version: number): string {
  return `${version} ${subject}`
}

/** The subject of a reference is resolved in the context of the schema that contains the reference. */
function referenceKey(version: SchemaVersion, reference: SchemaReference): string {
  return placeKey(toSubject(reference.subject, contextOf(version.subject)), reference.version)
}

function setOrDelete<Key, Value>(map: Map<Key, Value>, key: Key, value: Value | null): void {
  if (value === null) map.delete(key)
  else map.set(key, value)
}
