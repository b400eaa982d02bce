import type { DekAlgorithm } from '../../encryption/dek-cipher.ts'
import type { Subject } from '../model/subject.ts'
import { existingKek, liveKek } from './kek-commands.ts'
import { type Dek, type DekId, isSameDek, type Kek, type KeyRecord, type StoredDek } from './key.ts'
import { type KeyDecision, writeKeys } from './key-decision.ts'
import { invalidKey, keyExists, keyNotFound, keyNotSoftDeleted, keySoftDeleted, tooManyKeys } from './key-error.ts'
import type { KeyView } from './key-state.ts'

/** A DEK to be created. Without material the registry generates the key, if the KEK is shared. */
export type DekRequest = StoredDek & {
  /** Encrypts an existing DEK again, with what its KEK is now. */
  readonly rewrap: boolean
}

/** How a DEK is to be made, and the keys that this was decided from. */
export type DekPlan = {
  readonly kek: Kek
  readonly before: Dek | undefined
  /** `given`: as in the request; `generate`: a new key; `rewrap`: the key that exists, encrypted again. */
  readonly material: 'given' | 'generate' | 'rewrap'
}

/** Several versions of a DEK. */
export type DekVersions = { readonly kekName: string; readonly subject: Subject; readonly algorithm: DekAlgorithm }
export type VersionNumber = number | 'latest'

/** Throws `key_not_found`, `key_exists`, `too_many_keys`, and `invalid_key` where the material is missing. */
export function planDek(view: KeyView, request: DekRequest, keysMax: number): DekPlan {
  const kek = request.deleted ? existingKek(view, request.kekName) : liveKek(view, request.kekName)
  if (view.dekCount > keysMax) throw tooManyKeys(keysMax)
  const before = view.dek(request)
  const { encryptedKeyMaterial: given, subject } = request
  const isUndelete = before !== undefined && request.deleted !== before.deleted && isSameDek(before, request)
  if (before && !request.rewrap && !isUndelete) throw keyExists(subject)
  if (given !== undefined && kek.shared && before) throw keyExists(subject)
  if (given !== undefined) return { kek, before, material: 'given' }
  if (!kek.shared) throw invalidKey('encryptedKeyMaterial')
  return { kek, before, material: before ? 'rewrap' : 'generate' }
}

/** Whether nothing has changed that a plan was made from. */
export function isCurrentPlan(view: KeyView, { kek, before }: DekPlan, id: DekId): boolean {
  return view.kek(kek.name) === kek && view.dek(id) === before
}

/** `request` has its material by now. */
export function decideCreateDek(request: StoredDek): KeyDecision<Dek> {
  return { records: [putDek(request)], respond: (view) => existingDek(view, request) }
}

/** Throws `key_not_found` and `key_not_soft_deleted`. */
export function decideDeleteDeks(view: KeyView, which: DekVersions, permanent: boolean): KeyDecision<void> {
  return deleteDeks(allVersions(view, which), permanent)
}

/** Throws `key_not_found` and `key_not_soft_deleted`. */
export function decideDeleteDek(
  view: KeyView,
  which: DekVersions,
  version: VersionNumber,
  permanent: boolean,
): KeyDecision<void> {
  return deleteDeks([oneVersion(view, which, version)], permanent)
}

/** Throws `key_not_found`, and `key_soft_deleted` where the KEK has to be undeleted first. */
export function decideUndeleteDeks(view: KeyView, which: DekVersions): KeyDecision<void> {
  return undeleteDeks(view, which.kekName, allVersions(view, which))
}

/** Throws `key_not_found`, and `key_soft_deleted` where the KEK has to be undeleted first. */
export function decideUndeleteDek(view: KeyView, which: DekVersions, version: VersionNumber): KeyDecision<void> {
  return undeleteDeks(view, which.kekName, [oneVersion(view, which, version)])
}

/** The latest of those that count, or the version itself; soft-deleted ones count with `deleted`. */
export function findDek(
  view: KeyView,
  which: DekVersions,
  version: VersionNumber,
  { deleted }: { readonly deleted: boolean },
): Dek {
  const versions = view.dekVersions(which.kekName, which.subject, which.algorithm)
  const counting = versions.filter((dek) => deleted || !dek.deleted)
  const found = version === 'latest' ? counting.at(-1) : counting.find((dek) => dek.version === version)
  if (!found) throw keyNotFound(which.subject)
  return found
}

function oneVersion(view: KeyView, which: DekVersions, version: VersionNumber): Dek {
  existingKek(view, which.kekName)
  return findDek(view, which, version, { deleted: true })
}

function allVersions(view: KeyView, which: DekVersions): readonly Dek[] {
  existingKek(view, which.kekName)
  const deks = view.dekVersions(which.kekName, which.subject, which.algorithm)
  if (deks.length === 0) throw keyNotFound(which.subject)
  return deks
}

function deleteDeks(deks: readonly Dek[], permanent: boolean): KeyDecision<void> {
  const live = deks.filter(({ deleted }) => !deleted)
  if (!permanent) return writeKeys(live.map((dek) => putDek({ ...dek, deleted: true })))
  if (live[0]) throw keyNotSoftDeleted(live[0].subject)
  return writeKeys(deks.map((dek) => ({ kind: 'dek', id: idOf(dek), value: null })))
}

function undeleteDeks(view: KeyView, kekName: string, deks: readonly Dek[]): KeyDecision<void> {
  if (existingKek(view, kekName).deleted) throw keySoftDeleted(kekName)
  return writeKeys(deks.filter(({ deleted }) => deleted).map((dek) => putDek({ ...dek, deleted: false })))
}

function existingDek(view: KeyView, id: DekId): Dek {
  const dek = view.dek(id)
  if (!dek) throw keyNotFound(id.subject)
  return dek
}

function putDek({ encryptedKeyMaterial, deleted, ...rest }: StoredDek): KeyRecord {
  const id = idOf(rest)
  return { kind: 'dek', id, value: { ...id, encryptedKeyMaterial, deleted } }
}

function idOf({ kekName, subject, algorithm, version }: DekId): DekId {
  return { kekName, subject, algorithm, version }
}
