import { isSameKek, type Kek, type KeyRecord, type StoredKek } from './key.ts'
import { type KeyDecision, writeKeys } from './key-decision.ts'
import { keyExists, keyNotFound, keyNotSoftDeleted, keyReferenceExists, tooManyKeys } from './key-error.ts'
import type { KeyView } from './key-state.ts'

/** The changes to a KEK. Absent members are unchanged. */
export type KekUpdate = Partial<Pick<StoredKek, 'kmsProps' | 'doc' | 'shared'>>

/** Undeletes the KEK if the same one is soft-deleted. Throws `key_exists` or `too_many_keys`. */
export function decideCreateKek(view: KeyView, request: StoredKek, keysMax: number): KeyDecision<Kek> {
  if (view.kekCount > keysMax) throw tooManyKeys(keysMax)
  const kek = { ...request, kmsType: normalizedKmsType(request.kmsType) }
  const before = view.kek(kek.name)
  if (before && (kek.deleted === before.deleted || !isSameKek(before, kek))) throw keyExists(kek.name)
  return { records: [putKek(kek)], respond: (after) => existingKek(after, kek.name) }
}

/** Returns the KEK that `decideUpdateKek` would store. Throws `key_not_found`. */
export function updatedKek(view: KeyView, name: string, update: KekUpdate): StoredKek {
  return { ...liveKek(view, name), ...update }
}

/** Throws `key_not_found`. */
export function decideUpdateKek(view: KeyView, name: string, update: KekUpdate): KeyDecision<Kek> {
  const after = updatedKek(view, name, update)
  const isUnchanged = isSameKek(after, existingKek(view, name))
  return { records: isUnchanged ? [] : [putKek(after)], respond: (written) => existingKek(written, name) }
}

/** Throws `key_not_found`, `key_not_soft_deleted`, or `key_reference_exists` if the KEK has DEKs. */
export function decideDeleteKek(view: KeyView, name: string, permanent: boolean): KeyDecision<void> {
  const kek = existingKek(view, name)
  for (const dek of view.deks(name)) if (permanent || !dek.deleted) throw keyReferenceExists(name)
  if (permanent && !kek.deleted) throw keyNotSoftDeleted(name)
  if (permanent) return writeKeys([{ kind: 'kek', name, value: null }])
  return writeKeys(kek.deleted ? [] : [putKek({ ...kek, deleted: true })])
}

/** Throws `key_not_found`. */
export function decideUndeleteKek(view: KeyView, name: string): KeyDecision<void> {
  const kek = existingKek(view, name)
  return writeKeys(kek.deleted ? [putKek({ ...kek, deleted: false })] : [])
}

/** Returns the KEK, which can be soft-deleted. Throws `key_not_found`. */
export function existingKek(view: KeyView, name: string): Kek {
  const kek = view.kek(name)
  if (!kek) throw keyNotFound(name)
  return kek
}

/** Returns the KEK. Throws `key_not_found`, also if it is soft-deleted. */
export function liveKek(view: KeyView, name: string): Kek {
  const kek = existingKek(view, name)
  if (kek.deleted) throw keyNotFound(name)
  return kek
}

/** Converts the spellings of a cloud provider's KMS type to one, as Confluent's registry does: `AWS` → `aws-kms`. */
function normalizedKmsType(kmsType: string): string {
  const provider = ['aws', 'azure', 'gcp'].find((prefix) => kmsType.toLowerCase().startsWith(prefix))
  return provider === undefined ? kmsType : `${provider}-kms`
}

function putKek({ name, kmsType, kmsKeyId, kmsProps, doc, shared, deleted }: StoredKek): KeyRecord {
  return { kind: 'kek', name, value: { name, kmsType, kmsKeyId, kmsProps, doc, shared, deleted } }
}
