import { contextOf } from '../../formats/qualified-subject.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import type { RegistryRecord } from './registry-record.ts'
import type { RegistryView } from './registry-view.ts'

/**
 * The state as it will be when `records`, which register schemas, are written. A command that registers several schemas in one
 * batch decides each of them on the state that the ones before it leave.
 */
export function withPending(view: RegistryView, records: readonly RegistryRecord[]): RegistryView {
  if (records.length === 0) return view
  const written = records.flatMap((record) => (record.kind === 'schema' ? [record] : []))
  const added = written.flatMap(({ value }): SchemaVersion[] => (value ? [{ ...value, timestampMs: 0 }] : []))
  const isReplaced = ({ subject, version }: SchemaVersion) =>
    written.some((record) => record.subject === subject && record.version === version)
  const addedIn = (context: string) => added.filter(({ subject }) => contextOf(subject) === context)
  const versions = (subject: Subject) =>
    [
      ...view.versions(subject).filter((one) => !isReplaced(one)),
      ...added.filter((one) => one.subject === subject),
    ].sort((one, other) => one.version - other.version)
  const latest = (subject: Subject) => versions(subject).findLast(({ deleted }) => !deleted)
  return {
    revision: view.revision,
    versions,
    versionMax: (subject) => Math.max(view.versionMax(subject), ...versions(subject).map(({ version }) => version)),
    version: (subject, version) => versions(subject).find((one) => one.version === version),
    latest,
    isLive: (subject) => latest(subject) !== undefined,
    holders: (context, id) =>
      Iterator.from([
        ...view.holders(context, id).filter((one) => !isReplaced(one)),
        ...addedIn(context).filter((one) => one.id === id),
      ]),
    idOf: (context, guid) =>
      view.idOf(context, guid) ?? addedIn(context).find(({ content }) => content.guid === guid)?.id,
    idMax: (context) => Math.max(view.idMax(context), ...addedIn(context).map(({ id }) => id)),
    subjects: () => new Set([...view.subjects(), ...added.map(({ subject }) => subject)]),
    referrers: (subject, version) => [
      ...view.referrers(subject, version).filter((one) => !isReplaced(one)),
      ...added.filter(({ subject: from, content }) =>
        content.references.some(
          (one) => one.version === version && toSubject(one.subject, contextOf(from)) === subject,
        ),
      ),
    ],
    config: (subject) => view.config(subject),
    mode: (subject) => view.mode(subject),
    modeSubjects: () => view.modeSubjects(),
    aliasesOf: (subject) => view.aliasesOf(subject),
    isInUse: (context) => view.isInUse(context) || addedIn(context).length > 0,
    contexts: () => [...new Set([...view.contexts(), ...added.map(({ subject }) => contextOf(subject))])],
    isKnownContext: (context) => view.isKnownContext(context) || addedIn(context).length > 0,
    associations: () => view.associations(),
    associationsOfSubject: (subject) => view.associationsOfSubject(subject),
    associationsOfResource: (resourceId) => view.associationsOfResource(resourceId),
  }
}
