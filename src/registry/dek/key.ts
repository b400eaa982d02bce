import type { DekAlgorithm } from '../../encryption/data-cipher.ts'
import type { Subject } from '../model/subject.ts'

export const DEFAULT_ALGORITHM: DekAlgorithm = 'AES256_GCM'
export const FIRST_VERSION = 1

/** The position of a record in the topic. */
type RecordPosition = {
  /** The time of the record, in milliseconds since 1970. */
  readonly timestampMs: number
  readonly offset: number
}

/** The stored part of a key encryption key (KEK): a reference to a key in a KMS. */
export type StoredKek = {
  readonly name: string
  readonly kmsType: string
  readonly kmsKeyId: string
  readonly kmsProps: Readonly<Record<string, string>>
  readonly doc: string | undefined
  /** Whether the registry itself may use the KMS to generate and decrypt data encryption keys for its clients. */
  readonly shared: boolean
  readonly deleted: boolean
}
export type Kek = StoredKek & RecordPosition

export type DekId = {
  readonly kekName: string
  readonly subject: Subject
  readonly algorithm: DekAlgorithm
  readonly version: number
}
/** The stored part of a data encryption key (DEK). */
export type StoredDek = DekId & {
  /** The key encrypted by its KEK, in base64. Undefined only in records of other registries. */
  readonly encryptedKeyMaterial: string | undefined
  readonly deleted: boolean
}
export type Dek = StoredDek & RecordPosition

/** Identifies a record of the topic. */
export type KeyId = { readonly kind: 'kek'; readonly name: string } | { readonly kind: 'dek'; readonly id: DekId }

/** One record of the topic. A null value removes the key. */
export type KeyRecord =
  | { readonly kind: 'kek'; readonly name: string; readonly value: StoredKek | null }
  | { readonly kind: 'dek'; readonly id: DekId; readonly value: StoredDek | null }

/** Whether two KEKs are equal except for `deleted`. */
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

/** Whether two records of one DEK version contain the same key. */
export function isSameDek(one: StoredDek, other: StoredDek): boolean {
  return one.encryptedKeyMaterial === other.encryptedKeyMaterial
}

/** Sorts the entries by UTF-16 code units, as Java's `TreeMap` does. */
export function sortedEntries(map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function hasSameEntries(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  return JSON.stringify(sortedEntries(one)) === JSON.stringify(sortedEntries(other))
}
