import type { DekAlgorithm } from '../../encryption/data-cipher.ts'
import type { Subject } from '../model/subject.ts'
import { existingKek, liveKek } from './kek-commands.ts'
import { type Dek, type DekId, isSameDek, type Kek, type KeyRecord, type StoredDek } from './key.ts'
import { type KeyDecision, writeKeys } from './key-decision.ts'
import { invalidKey, keyExists, keyNotFound, keyNotSoftDeleted, keySoftDeleted, tooManyKeys } from './key-error.ts'
import type { KeyView } from './key-state.ts'

/** A DEK to create. Without key material, the registry generates the key, which requires a shared KEK. */
export type DekRequest = StoredDek & {
  /** Whether to encrypt an existing DEK again with the current key of its KEK. */
  readonly rewrap: boolean
}

/** How to create a DEK, and the keys on which this decision is based. */
export type DekPlan = {
  readonly kek: Kek
  readonly before: Dek | undefined
  /** `given`: the material of the request. `generate`: a new key. `rewrap`: the existing key, encrypted again. */
  readonly material: 'given' | 'generate' | 'rewrap'
}

/** Identifies all versions of a DEK. */
export type DekVersions = { readonly kekName: string; readonly subject: Subject; readonly algorithm: DekAlgorithm }
export type VersionNumber = number | 'latest'

/** Throws `key_not_found`, `key_exists`, `too_many_keys`, or `invalid_key` if the key material is missing. */
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

/** Whether the keys on which a plan is based are unchanged. */
export function isCurrentPlan(view: KeyView, { kek, before }: DekPlan, id: DekId): boolean {
  return view.kek(kek.name) === kek && view.dek(id) === before
}

/** `request` must contain the encrypted key material. */
export function decideCreateDek(request: StoredDek): KeyDecision<Dek> {
  return { records: [putDek(request)], respond: (view) => existingDek(view, request) }
}

/** Throws `key_not_found` and `key_not_soft_deleted`. */
export function decideDeleteDeks(view: KeyView, versions: DekVersions, permanent: boolean): KeyDecision<void> {
  return deleteDeks(allVersions(view, versions), permanent)
}

/** Throws `key_not_found` and `key_not_soft_deleted`. */
export function decideDeleteDek(
  view: KeyView,
  versions: DekVersions,
  version: VersionNumber,
  permanent: boolean,
): KeyDecision<void> {
  return deleteDeks([oneVersion(view, versions, version)], permanent)
}

/** Throws `key_not_found`, or `key_soft_deleted` if the KEK is soft-deleted. */
export function decideUndeleteDeks(view: KeyView, versions: DekVersions): KeyDecision<void> {
  return undeleteDeks(view, versions.kekName, allVersions(view, versions))
}

/** Throws `key_not_found`, or `key_soft_deleted` if the KEK is soft-deleted. */
export function decideUndeleteDek(view: KeyView, versions: DekVersions, version: VersionNumber): KeyDecision<void> {
  return undeleteDeks(view, versions.kekName, [oneVersion(view, versions, version)])
}

/** Returns a version of a DEK. With `deleted`, it can be a soft-deleted one. Throws `key_not_found`. */
export function findDek(
  view: KeyView,
  versions: DekVersions,
  version: VersionNumber,
  { deleted }: { readonly deleted: boolean },
): Dek {
  const found =
    version === 'latest'
      ? view
          .dekVersions(versions.kekName, versions.subject, versions.algorithm)
          .findLast((dek) => deleted || !dek.deleted)
      : view.dek({ ...versions, version })
  if (!found || (found.deleted && !deleted)) throw keyNotFound(versions.subject)
  return found
}

function oneVersion(view: KeyView, versions: DekVersions, version: VersionNumber): Dek {
  existingKek(view, versions.kekName)
  return findDek(view, versions, version, { deleted: true })
}

function allVersions(view: KeyView, versions: DekVersions): readonly Dek[] {
  existingKek(view, versions.kekName)
  const deks = view.dekVersions(versions.kekName, versions.subject, versions.algorithm)
  if (deks.length === 0) throw keyNotFound(versions.subject)
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
