import {
  associationForSubjectExists,
  noActiveVersion,
  referenceExists,
  subjectNotFound,
  subjectNotSoftDeleted,
  subjectSoftDeleted,
  versionNotSoftDeleted,
  versionSoftDeleted,
} from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import { findVersion, type VersionSelector } from '../queries/schema-lookup.ts'
import type { RegistryView } from '../store/registry-view.ts'
import type { Decision, DecisionContext } from './decision-types.ts'
import { checkWritable } from './mode-checks.ts'

/**
 * Deletes a subject. After a soft delete, its schemas can still be read by ID; a hard delete (`permanent`) requires a
 * soft delete first. The answer is the deleted version numbers.
 */
export function decideDeleteSubject(
  { view, defaults }: DecisionContext,
  subject: Subject,
  permanent: boolean,
): Decision<readonly number[]> {
  const all = view.versions(subject)
  if (all.length === 0) throw subjectNotFound(subject)
  const versions = permanent ? all : all.filter(({ deleted }) => !deleted)
  const last = versions.at(-1)
  if (!last) throw subjectSoftDeleted(subject)
  checkWritable(view, subject, defaults)
  if (view.associationsOfSubject(subject).length > 0) throw associationForSubjectExists(subject)
  for (const version of versions) {
    const others = referrers(view, version, permanent).filter((referrer) => referrer.subject !== subject)
    if (others.length > 0) throw referenceExists(subject, version.version)
    if (permanent && !version.deleted) throw subjectNotSoftDeleted(subject)
  }
  const answer = versions.map(({ version }) => version)
  if (!permanent) return { records: [{ kind: 'delete-subject', subject, version: last.version }], answer }
  return { records: hardDeletion(view, versions, subject), answer }
}

/** Returns the records that soft-delete and then hard-delete a subject. Throws `reference_exists`. */
export function subjectDeletion(view: RegistryView, subject: Subject): Decision<unknown>['records'] {
  const versions = view.versions(subject)
  const last = versions.findLast(({ deleted }) => !deleted)
  for (const { version } of versions) {
    const others = view.referrers(subject, version).filter((referrer) => referrer.subject !== subject)
    if (others.length > 0) throw referenceExists(subject, version)
  }
  return [
    ...(last ? [{ kind: 'delete-subject', subject, version: last.version } as const] : []),
    ...hardDeletion(view, versions, subject),
  ]
}

/** The newest version is deleted first, because it can reference older ones. */
function hardDeletion(
  view: RegistryView,
  versions: readonly SchemaVersion[],
  subject: Subject,
): Decision<unknown>['records'] {
  return [...versions.toReversed().map(tombstone), ...settingsOf(view, subject)]
}

/** Deletes one version; a hard delete (`permanent`) requires a soft delete first. The answer is the version number. */
export function decideDeleteVersion(
  { view, defaults }: DecisionContext,
  subject: Subject,
  selector: VersionSelector,
  permanent: boolean,
): Decision<number> {
  const version = findVersion(view, subject, selector, { deleted: true })
  if (version.deleted && !permanent) throw versionSoftDeleted(subject, version.version)
  checkWritable(view, subject, defaults)
  const isLastLive = !view.versions(subject).some((other) => !other.deleted && other.version !== version.version)
  if (!permanent && isLastLive && view.associationsOfSubject(subject).length > 0) throw noActiveVersion(subject)
  if (referrers(view, version, permanent).length > 0) throw referenceExists(subject, version.version)
  const answer = version.version
  if (!permanent) {
    return { records: [{ kind: 'schema', subject, version: answer, value: { ...version, deleted: true } }], answer }
  }
  if (!version.deleted) throw versionNotSoftDeleted(subject, answer)
  const isLast = view.versions(subject).length === 1
  return { records: [tombstone(version), ...(isLast ? settingsOf(view, subject) : [])], answer }
}

/** The versions that block a deletion: all referrers for a hard delete, only the live ones for a soft delete. */
function referrers(view: RegistryView, version: SchemaVersion, permanent: boolean): readonly SchemaVersion[] {
  return view.referrers(version.subject, version.version).filter(({ deleted }) => permanent || !deleted)
}

function tombstone({ subject, version }: SchemaVersion) {
  return { kind: 'schema', subject, version, value: null } as const
}

/** The mode and config of a subject are deleted with its last version. */
function settingsOf(view: RegistryView, subject: Subject): Decision<unknown>['records'] {
  return [
    ...(view.mode(subject) === undefined ? [] : [{ kind: 'mode', subject, value: null } as const]),
    ...(view.config(subject) === undefined ? [] : [{ kind: 'config', subject, value: null } as const]),
  ]
}
