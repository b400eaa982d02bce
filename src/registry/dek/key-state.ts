import type { DekAlgorithm } from '../../encryption/data-cipher.ts'
import type { Subject } from '../model/subject.ts'
import type { Dek, DekId, Kek, KeyRecord, StoredDek } from './key.ts'

/** Read access to the current keys. */
export interface KeyView {
  readonly kekCount: number
  readonly sharedKekCount: number
  readonly dekCount: number
  kek(name: string): Kek | undefined
  /** Sorted by name. */
  keks(): readonly Kek[]
  dek(id: DekId): Dek | undefined
  /** Sorted by version. */
  dekVersions(kekName: string, subject: Subject, algorithm: DekAlgorithm): readonly Dek[]
  /** The DEKs of one KEK, or of all KEKs, in no particular order. */
  deks(kekName?: string): Iterable<Dek>
}

/** The versions of each DEK of a KEK, by algorithm and subject; sorted by version. */
type DeksOfKek = Map<string, readonly Dek[]>

/** All keys of the DEK registry, including soft-deleted ones, in memory. */
export class KeyState implements KeyView {
  readonly #keks = new Map<string, Kek>()
  readonly #deks = new Map<string, DeksOfKek>()
  #dekCount = 0

  apply(record: KeyRecord, timestampMs: number, offset: number): void {
    if (record.kind === 'dek') this.#applyDek(record.id, record.value && { ...record.value, timestampMs, offset })
    else if (record.value === null) this.#keks.delete(record.name)
    else this.#keks.set(record.name, { ...record.value, timestampMs, offset })
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
    return this.#keks.get(name)
  }

  keks(): readonly Kek[] {
    return [...this.#keks.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  dek(id: DekId): Dek | undefined {
    return this.dekVersions(id.kekName, id.subject, id.algorithm).find(({ version }) => version === id.version)
  }

  dekVersions(kekName: string, subject: Subject, algorithm: DekAlgorithm): readonly Dek[] {
    return this.#deks.get(kekName)?.get(subjectKey(subject, algorithm)) ?? []
  }

  *deks(kekName?: string): Iterable<Dek> {
    const groups = kekName === undefined ? this.#deks.values() : [this.#deks.get(kekName) ?? new Map()]
    for (const group of groups) for (const versions of group.values()) yield* versions
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
