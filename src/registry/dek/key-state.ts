import type { DekAlgorithm } from '../../encryption/data-cipher.ts'
import type { Subject } from '../model/subject.ts'
import type { Dek, DekId, Kek, KeyId, KeyRecord, StoredDek } from './key.ts'
import { keyUnreadable } from './key-error.ts'

/**
 * Read access to the current keys. A method throws `key_unreadable` if its result could be another one with a record that
 * cannot be read: a DEK that seems not to exist would be created again, and the data that it encrypted would be lost.
 */
export interface KeyView {
  readonly kekCount: number
  readonly sharedKekCount: number
  readonly dekCount: number
  kek(name: string): Kek | undefined
  /** Sorted by name; without KEKs that cannot be read. */
  keks(): readonly Kek[]
  dek(id: DekId): Dek | undefined
  /** Sorted by version. */
  dekVersions(kekName: string, subject: Subject, algorithm: DekAlgorithm): readonly Dek[]
  /** The DEKs of one KEK, or all that can be read, in no particular order. */
  deks(kekName?: string): Iterable<Dek>
}

/** The versions of each DEK of a KEK, by algorithm and subject; sorted by version. */
type DeksOfKek = Map<string, readonly Dek[]>

/** All keys of the DEK registry, including soft-deleted ones, in memory. */
export class KeyState implements KeyView {
  readonly #keks = new Map<string, Kek>()
  readonly #deks = new Map<string, DeksOfKek>()
  readonly #unreadable = new UnreadableKeys()
  #dekCount = 0

  apply(record: KeyRecord, timestampMs: number, offset: number): void {
    this.#unreadable.delete(record)
    if (record.kind === 'dek') this.#applyDek(record.id, record.value && { ...record.value, timestampMs, offset })
    else if (record.value === null) this.#keks.delete(record.name)
    else this.#keks.set(record.name, { ...record.value, timestampMs, offset })
  }

  /** The record replaces the one before it, as in a compacted topic. */
  applyUnreadable(id: KeyId): void {
    this.apply({ ...id, value: null } as KeyRecord, 0, 0)
    this.#unreadable.add(id)
  }

  get kekCount(): number {
    return this.#keks.size
  }

  get sharedKekCount(): number {
    return [...this.#keks.values()].filter(({ shared }) => shared).length
  }

  get dekCount(): number {
    return this.#dekCount
  }

  kek(name: string): Kek | undefined {
    if (this.#unreadable.hasKek(name)) throw keyUnreadable(name)
    return this.#keks.get(name)
  }

  keks(): readonly Kek[] {
    return [...this.#keks.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  dek(id: DekId): Dek | undefined {
    if (this.#unreadable.hasDek(id)) throw keyUnreadable(id.subject)
    return this.#versions(id.kekName, id.subject, id.algorithm).find(({ version }) => version === id.version)
  }

  dekVersions(kekName: string, subject: Subject, algorithm: DekAlgorithm): readonly Dek[] {
    if (this.#unreadable.hasDek({ kekName, subject, algorithm })) throw keyUnreadable(subject)
    return this.#versions(kekName, subject, algorithm)
  }

  *deks(kekName?: string): Iterable<Dek> {
    if (kekName !== undefined && this.#unreadable.hasDek({ kekName })) throw keyUnreadable(kekName)
    const groups = kekName === undefined ? this.#deks.values() : [this.#deks.get(kekName) ?? new Map()]
    for (const group of groups) for (const versions of group.values()) yield* versions
  }

  #versions(kekName: string, subject: Subject, algorithm: DekAlgorithm): readonly Dek[] {
    return this.#deks.get(kekName)?.get(subjectKey(subject, algorithm)) ?? []
  }

  #applyDek(id: DekId, dek: (StoredDek & { timestampMs: number; offset: number }) | null): void {
    const group: DeksOfKek = this.#deks.get(id.kekName) ?? new Map()
    const key = subjectKey(id.subject, id.algorithm)
    const before = group.get(key) ?? []
    const others = before.filter(({ version }) => version !== id.version)
    const after = dek ? [...others, dek].sort((one, other) => one.version - other.version) : others
    this.#dekCount += after.length - before.length
    if (after.length > 0) group.set(key, after)
    else group.delete(key)
    if (group.size > 0) this.#deks.set(id.kekName, group)
    else this.#deks.delete(id.kekName)
  }
}

function subjectKey(subject: Subject, algorithm: DekAlgorithm): string {
  return `${algorithm} ${subject}`
}

/** The keys whose records cannot be read. */
class UnreadableKeys {
  readonly #keks = new Set<string>()
  readonly #deks = new Map<string, DekId>()

  add(key: KeyId): void {
    if (key.kind === 'kek') this.#keks.add(key.name)
    else this.#deks.set(dekKey(key.id), key.id)
  }

  delete(key: KeyId): void {
    if (key.kind === 'kek') this.#keks.delete(key.name)
    else if (this.#deks.size > 0) this.#deks.delete(dekKey(key.id))
  }

  hasKek(name: string): boolean {
    return this.#keks.has(name)
  }

  /** Whether a DEK with all of these members is among them. */
  hasDek(wanted: Pick<DekId, 'kekName'> & Partial<DekId>): boolean {
    const members = ['kekName', 'subject', 'algorithm', 'version'] as const
    const isWanted = (id: DekId) => members.every((name) => wanted[name] === undefined || wanted[name] === id[name])
    return this.#deks.values().some(isWanted)
  }
}

function dekKey({ kekName, subject, algorithm, version }: DekId): string {
  return JSON.stringify([kekName, subject, algorithm, version])
}
