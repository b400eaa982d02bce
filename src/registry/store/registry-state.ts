import type { Mode } from '../../clients/registry-client.ts'
import { contextOf, DEFAULT_CONTEXT } from '../../formats/qualified-subject.ts'
import type { StoredAssociation } from '../model/association.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { isWithin, type Subject, toSubject } from '../model/subject.ts'
import type { Config } from '../model/subject-config.ts'
import { AssociationIndex } from './association-index.ts'
import type { RetiredIds } from './leader-claim.ts'
import type { UnreadableVersion } from './record-codec.ts'
import { Referrers } from './referrers.ts'
import type { RegistryRecord, StoredSchema } from './registry-record.ts'
import type { RegistryView } from './registry-view.ts'
import { SchemaVersions } from './schema-versions.ts'
import { UnreadableVersions } from './unreadable-versions.ts'

/** The result of applying a record, for the log and the metrics. An `id-conflict` record is ignored. */
export type ApplyResult = 'registered' | 'deleted' | 'id-conflict' | 'other'

/**
 * The state of the registry, built from the records of its topic. Every instance that applies the same records in the
 * same order has the same state. The versions and lists that are returned do not change.
 */
export class RegistryState implements RegistryView {
  #revision = 0
  readonly #versions = new SchemaVersions()
  readonly #known = new Set<string>()
  readonly #referrers = new Referrers()
  readonly #configs = new Map<Subject | null, Config>()
  readonly #modes = new Map<Subject | null, Mode>()
  readonly #associations = new AssociationIndex()
  readonly #unreadable = new UnreadableVersions()

  apply(record: RegistryRecord, timestampMs: number): ApplyResult {
    this.#revision += 1
    switch (record.kind) {
      case 'schema':
        this.#unreadable.delete(record.subject, record.version)
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

  /** Keeps the number and the ID of a version from being assigned to another schema. */
  applyUnreadable({ subject, version, id = 0 }: UnreadableVersion): void {
    this.#revision += 1
    this.#unreadable.add(subject, version)
    this.#versions.reserveId(contextOf(subject), id)
  }

  /** Keeps IDs from being assigned that no version has any more. */
  reserveIds(ids: RetiredIds): void {
    for (const [context, id] of Object.entries(ids)) this.#versions.reserveId(context, id)
  }

  /** The largest IDs that no version has any more when these records are applied. */
  retiredIds(records: readonly RegistryRecord[]): RetiredIds {
    const changes = records.filter((record) => record.kind === 'schema')
    const isReplaced = ({ subject, version }: SchemaVersion) =>
      changes.some((change) => change.subject === subject && change.version === version)
    const isWritten = ({ subject, id }: SchemaVersion) =>
      changes.some(({ subject: to, value }) => value?.id === id && contextOf(to) === contextOf(subject))
    return this.#versions.retiredIds((version) => !isReplaced(version) || isWritten(version))
  }

  get revision(): number {
    return this.#revision
  }

  versions(subject: Subject): readonly SchemaVersion[] {
    return [...this.#versions.ofSubject(subject)]
  }

  versionMax(subject: Subject): number {
    return Math.max(this.#versions.ofSubject(subject).at(-1)?.version ?? 0, this.#unreadable.max(subject))
  }

  version(subject: Subject, version: number): SchemaVersion | undefined {
    return this.#versions.get(subject, version)
  }

  latest(subject: Subject): SchemaVersion | undefined {
    return this.#versions.ofSubject(subject).findLast(({ deleted }) => !deleted)
  }

  isLive(subject: Subject): boolean {
    return this.latest(subject) !== undefined
  }

  holders(context: string, id: number): IteratorObject<SchemaVersion> {
    return this.#versions.ofId(context, id).values()
  }

  idOf(context: string, guid: string): number | undefined {
    return this.#versions.ofContent(context, guid)?.id
  }

  idMax(context: string): number {
    return this.#versions.idMax(context)
  }

  subjects(): Iterable<Subject> {
    return this.#versions.subjects()
  }

  referrers(subject: Subject, version: number): readonly SchemaVersion[] {
    return this.#referrers.of(subject, version).map((place) => this.#versions.get(place.subject, place.version)!)
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
    return this.#versions.isInUse(context)
  }

  contexts(): readonly string[] {
    const others = new Set([...this.#known, ...this.#versions.contexts()])
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
    const { subject, version, id, content } = stored
    const context = contextOf(subject)
    this.#versions.reserveId(context, id)
    const [oldest] = this.#versions.ofId(context, id)
    if (oldest !== undefined && oldest.content.text !== content.text) return 'id-conflict'
    this.#remove(subject, version)
    this.#versions.add({ ...stored, timestampMs })
    this.#referrers.add(stored)
    return stored.deleted ? 'deleted' : 'registered'
  }

  #remove(subject: Subject, version: number): ApplyResult {
    const removed = this.#versions.get(subject, version)
    if (removed === undefined) return 'other'
    this.#versions.remove(removed)
    this.#referrers.remove(removed)
    return 'other'
  }

  #softDelete(subject: Subject, upTo: number): ApplyResult {
    for (const version of this.versions(subject)) {
      if (version.version <= upTo && !version.deleted) this.#versions.softDelete(version)
    }
    return 'deleted'
  }

  #clear(scope: Subject | null): ApplyResult {
    for (const subject of this.#versions.subjects()) {
      if (!isWithin(subject, scope)) continue
      for (const { version, deleted } of this.versions(subject)) if (deleted) this.#remove(subject, version)
    }
    return 'other'
  }
}

function setOrDelete<Key, Value>(map: Map<Key, Value>, key: Key, value: Value | null): void {
  if (value === null) map.delete(key)
  else map.set(key, value)
}
