import type { DekAlgorithm } from '../../encryption/dek-cipher.ts'
import type { Subject } from '../model/subject.ts'

export const DEFAULT_ALGORITHM: DekAlgorithm = 'AES256_GCM'
export const FIRST_VERSION = 1

/** When and where a record was written. */
type Stamp = {
  /** Milliseconds since 1970. */
  readonly timestampMs: number
  readonly offset: number
}

/** A key encryption key (KEK) as its record holds it: a reference to a key that is kept in a KMS. */
export type StoredKek = {
  readonly name: string
  readonly kmsType: string
  readonly kmsKeyId: string
  readonly kmsProps: Readonly<Record<string, string>>
  readonly doc: string | undefined
  /** Whether the registry itself may use the KMS, to wrap and unwrap data encryption keys for its clients. */
  readonly shared: boolean
  readonly deleted: boolean
}
export type Kek = StoredKek & Stamp

export type DekId = {
  readonly kekName: string
  readonly subject: Subject
  readonly algorithm: DekAlgorithm
  readonly version: number
}
/** A data encryption key (DEK) as its record holds it: encrypted by its KEK. */
export type StoredDek = DekId & {
  /** Base64. Absent only in records of other registries. */
  readonly encryptedKeyMaterial: string | undefined
  readonly deleted: boolean
}
export type Dek = StoredDek & Stamp

/** One change of the keys, as their topic holds it. A null value removes the key. */
export type KeyRecord =
  | { readonly kind: 'kek'; readonly name: string; readonly value: StoredKek | null }
  | { readonly kind: 'dek'; readonly id: DekId; readonly value: StoredDek | null }

/** Whether two KEKs are the same key, deleted or not. */
export function isSameKek(one: StoredKek, other: StoredKek): boolean {
  return (
    one.name === other.name &&
    one.kmsType === other.kmsType &&
    one.kmsKeyId === other.kmsKeyId &&
    one.doc === other.doc &&
    one.shared === other.shared &&
    hasSameEntries(one.kmsProps, other.kmsProps)
  )
}

/** Whether two versions of one DEK hold the same key, deleted or not. */
export function isSameDek(one: StoredDek, other: StoredDek): boolean {
  return one.encryptedKeyMaterial === other.encryptedKeyMaterial
}

/** In the order in which a Java `TreeMap` has them: by UTF-16 code units. */
export function sortedEntries(map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function hasSameEntries(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  return JSON.stringify(sortedEntries(one)) === JSON.stringify(sortedEntries(other))
}
