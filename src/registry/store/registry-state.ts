import type { Mode } from '../../clients/registry-client.ts'
import { contextOf, DEFAULT_CONTEXT } from '../../formats/qualified-subject.ts'
import type { StoredAssociation } from '../model/association.ts'
import { guidOf, type SchemaVersion } from '../model/schema.ts'
import { isWithin, type Subject, toSubject } from '../model/subject.ts'
import type { Config } from '../model/subject-config.ts'
import { AssociationIndex } from './association-index.ts'
import { IntegerMap } from './integer-map.ts'
import type { UnreadableVersion } from './record-codec.ts'
import { Referrers } from './referrers.ts'
import type { RecordedSchema, RegistryRecord } from './registry-record.ts'
import type { RegistryView } from './registry-view.ts'
import { doubled } from './schema-contents.ts'
import { SchemaVersions } from './schema-versions.ts'
import { UnreadableVersions } from './unreadable-versions.ts'

/** The result of applying a record, for the log and the metrics. An `id-conflict` record is ignored. */
export type ApplyResult = 'registered' | 'deleted' | 'id-conflict' | 'other'

/** The versions of a context by schema ID and by content. */
type Context = {
  /** ID → the row of its newest record. The rows of an ID are a ring. */
  readonly newest: IntegerMap
  /** Row of a content → a version with the ID that the content has. */
  readonly byContent: IntegerMap
  idMax: number
}

/** A subject with fewer versions has an array of the exact size. */
const EXACT_MAX = 32
const TEXTS_MAX = 1_000
/** Maximum number of versions whose contents are indexed later. A record that needs the whole index blocks the thread for up to 0.25 s. */
const UNINDEXED_MAX = 100_000

/**
 * The state of the registry, built from the records of its topic. Every instance that applies the same records in the
 * same order has the same state. Versions are rows of arrays; the objects that are returned are created when they are
 * requested, and do not change.
 */
export class RegistryState implements RegistryView {
  #revision = 0
  readonly #versions: SchemaVersions
  /** The rows of each subject, in ascending order of versions. */
  readonly #subjects = new Map<Subject, number[]>()
  readonly #contexts = new Map<string, Context>()
  /** By row: the next row in the ring of its ID. */
  #nextHolder = new Int32Array(16)
  readonly #known = new Set<string>()
  readonly #referrers = new Referrers()
  readonly #configs = new Map<Subject | null, Config>()
  readonly #modes = new Map<Subject | null, Mode>()
  readonly #associations = new AssociationIndex()
  readonly #unreadable = new UnreadableVersions()
  /** Versions whose contents are not indexed by GUID yet, in the order of their records: rows from `#indexedTo` on. */
  #unindexed: number[] = []
  #indexedTo = 0
  readonly #unindexedMax: number

  /**
   * `textsMax`: maximum number of schema texts that are cached uncompressed. `unindexedMax`: maximum number of versions
   * whose contents are indexed later.
   */
  constructor(textsMax = TEXTS_MAX, unindexedMax = UNINDEXED_MAX) {
    this.#versions = new SchemaVersions(textsMax)
    this.#unindexedMax = unindexedMax
  }

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
    const context = this.#context(contextOf(subject))
    context.idMax = Math.max(context.idMax, id)
  }

  get revision(): number {
    return this.#revision
  }

  versions(subject: Subject): readonly SchemaVersion[] {
    return (this.#subjects.get(subject) ?? []).map((row) => this.#versions.get(row))
  }

  versionMax(subject: Subject): number {
    const row = this.#subjects.get(subject)?.at(-1)
    return Math.max(row === undefined ? 0 : this.#versions.number(row), this.#unreadable.max(subject))
  }

  version(subject: Subject, version: number): SchemaVersion | undefined {
    const row = this.#rowOf(subject, version)
    return row === undefined ? undefined : this.#versions.get(row)
  }

  latest(subject: Subject): SchemaVersion | undefined {
    const row = this.#latestRow(subject)
    return row === undefined ? undefined : this.#versions.get(row)
  }

  isLive(subject: Subject): boolean {
    return this.#latestRow(subject) !== undefined
  }

  *holders(context: string, id: number): Generator<SchemaVersion, void> {
    for (const row of this.#holderRows(this.#contexts.get(context)?.newest.get(id))) yield this.#versions.get(row)
  }

  idOf(context: string, guid: string): number | undefined {
    this.indexContents()
    const content = this.#versions.contents.rowOf(guid)
    const row = content === undefined ? undefined : this.#contexts.get(context)?.byContent.get(content)
    return row === undefined ? undefined : this.#versions.id(row)
  }

  idMax(context: string): number {
    return this.#contexts.get(context)?.idMax ?? 0
  }

  subjects(): Iterable<Subject> {
    return this.#subjects.keys()
  }

  referrers(subject: Subject, version: number): readonly SchemaVersion[] {
    return [...this.#referrers.of(subject, version)].map((row) => this.#versions.get(row))
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
    return (this.#contexts.get(context)?.newest.size ?? 0) > 0
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

  /**
   * Indexes the contents of up to `countMax` versions by GUID. Returns whether there are more. The index is complete before
   * it is read, and before a record is applied that does more than add a version with a new ID, so it does not depend on
   * when this is called.
   */
  indexContents(countMax = Number.POSITIVE_INFINITY): boolean {
    const end = Math.min(this.#unindexed.length, this.#indexedTo + countMax)
    for (; this.#indexedTo < end; this.#indexedTo++) this.#indexContent(this.#unindexed[this.#indexedTo]!)
    const isRest = this.#indexedTo < this.#unindexed.length
    // Removed in bulk, because each removal copies the rest.
    if (this.#indexedTo > (isRest ? this.#unindexedMax : 0)) {
      this.#unindexed = this.#unindexed.slice(this.#indexedTo)
      this.#indexedTo = 0
    }
    return isRest
  }

  #indexContent(row: number): void {
    const contentRow = this.#versions.contents.index(this.#versions.contentRow(row))
    this.#versions.setContentRow(row, contentRow)
    this.#context(contextOf(this.#versions.subject(row))).byContent.set(contentRow, row)
  }

  #put(stored: RecordedSchema, timestampMs: number): ApplyResult {
    const { contents } = this.#versions
    const { subject, id } = stored
    const context = this.#context(contextOf(subject))
    context.idMax = Math.max(context.idMax, id)
    const newest = context.newest.get(id)
    if (
      stored.content.guid === undefined &&
      newest === undefined &&
      this.#rowOf(subject, stored.version) === undefined
    ) {
      const row = this.#addVersion(stored, contents.addUnindexed(stored.content), timestampMs)
      this.#addHolder(context, id, row)
      this.#unindexed.push(row)
      if (this.#unindexed.length - this.#indexedTo > this.#unindexedMax) this.indexContents(1)
      return stored.deleted ? 'deleted' : 'registered'
    }
    this.indexContents()
    const content = { ...stored.content, guid: stored.content.guid ?? guidOf(stored.content) }
    if (newest !== undefined && !contents.hasText(this.#versions.contentRow(this.#nextHolder[newest]!), content)) {
      return 'id-conflict'
    }
    // Acquired before the replaced version releases it.
    const contentRow = contents.acquire(content)
    this.#remove(subject, stored.version)
    const row = this.#addVersion({ ...stored, content }, contentRow, timestampMs)
    this.#addHolder(context, id, row)
    context.byContent.set(contentRow, row)
    this.#referrers.add(row, subject, contents.references(contentRow))
    return stored.deleted ? 'deleted' : 'registered'
  }

  #addVersion(stored: RecordedSchema, contentRow: number, timestampMs: number): number {
    const { subject } = stored
    const rows = this.#subjects.get(subject)
    // The subjects of all rows are one string.
    const name = rows ? this.#versions.subject(rows[0]!) : subject
    const row = this.#versions.add({ ...stored, subject: name }, contentRow, timestampMs)
    if (rows) this.#subjects.set(name, this.#inserted(rows, row, stored.version))
    else this.#subjects.set(name, [row])
    return row
  }

  #remove(subject: Subject, version: number): ApplyResult {
    const row = this.#rowOf(subject, version)
    if (row === undefined) return 'other'
    this.indexContents()
    const rows = this.#subjects.get(subject)!
    rows.splice(this.#placeOf(rows, version), 1)
    if (rows.length === 0) this.#subjects.delete(subject)
    this.#removeHolder(this.#context(contextOf(subject)), row)
    const references = this.#versions.contents.references(this.#versions.contentRow(row))
    this.#referrers.remove(row, subject, references)
    this.#versions.remove(row)
    return 'other'
  }

  #rowOf(subject: Subject, version: number): number | undefined {
    const rows = this.#subjects.get(subject) ?? []
    const row = rows[this.#placeOf(rows, version)]
    return row !== undefined && this.#versions.number(row) === version ? row : undefined
  }

  #latestRow(subject: Subject): number | undefined {
    return this.#subjects.get(subject)?.findLast((row) => !this.#versions.isDeleted(row))
  }

  #inserted(rows: number[], row: number, version: number): number[] {
    const place = this.#placeOf(rows, version)
    // V8 reserves space for 17 more elements when an array grows.
    if (rows.length < EXACT_MAX) return rows.toSpliced(place, 0, row)
    rows.splice(place, 0, row)
    return rows
  }

  /** The index of the first version that is not smaller: where the version is, or would be inserted. */
  #placeOf(rows: readonly number[], version: number): number {
    const last = rows.at(-1)
    if (last === undefined || this.#versions.number(last) < version) return rows.length
    let low = 0
    let high = rows.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#versions.number(rows[middle]!) < version) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The rows of an ID, oldest record first. */
  *#holderRows(newest: number | undefined): Generator<number, void> {
    if (newest === undefined) return
    let row = newest
    do {
      row = this.#nextHolder[row]!
      yield row
    } while (row !== newest)
  }

  #addHolder(context: Context, id: number, row: number): void {
    while (row >= this.#nextHolder.length) this.#nextHolder = doubled(this.#nextHolder)
    const newest = context.newest.get(id)
    this.#nextHolder[row] = newest === undefined ? row : this.#nextHolder[newest]!
    if (newest !== undefined) this.#nextHolder[newest] = row
    context.newest.set(id, row)
  }

  #removeHolder(context: Context, row: number): void {
    const id = this.#versions.id(row)
    const newest = context.newest.get(id)!
    const content = this.#versions.contentRow(row)
    let before = newest
    let same: number | undefined
    for (const holder of this.#holderRows(newest)) {
      if (this.#nextHolder[holder] === row) before = holder
      if (holder !== row && this.#versions.contentRow(holder) === content) same ??= holder
    }
    this.#nextHolder[before] = this.#nextHolder[row]!
    if (before === row) context.newest.delete(id)
    else if (newest === row) context.newest.set(id, before)
    const named = context.byContent.get(content)
    // Another ID that has the content keeps it.
    if (named === undefined || this.#versions.id(named) !== id) return
    if (same === undefined) context.byContent.delete(content)
    else context.byContent.set(content, same)
  }

  #softDelete(subject: Subject, upTo: number): ApplyResult {
    for (const row of this.#subjects.get(subject) ?? []) {
      if (this.#versions.number(row) <= upTo) this.#versions.markDeleted(row)
    }
    return 'deleted'
  }

  #clear(scope: Subject | null): ApplyResult {
    for (const [subject, rows] of this.#subjects) {
      if (!isWithin(subject, scope)) continue
      for (const row of [...rows]) {
        if (this.#versions.isDeleted(row)) this.#remove(subject, this.#versions.number(row))
      }
    }
    return 'other'
  }

  #context(name: string): Context {
    const found = this.#contexts.get(name)
    if (found) return found
    const made: Context = { newest: new IntegerMap(), byContent: new IntegerMap(), idMax: 0 }
    this.#contexts.set(name, made)
    return made
  }
}

function setOrDelete<Key, Value>(map: Map<Key, Value>, key: Key, value: Value | null): void {
  if (value === null) map.delete(key)
  else map.set(key, value)
}
