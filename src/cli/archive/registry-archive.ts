import { isDeepStrictEqual } from 'node:util'
import type { Mode, NewSchema, SubjectConfig } from '../../clients/registry-client.ts'
import { contextOf, DEFAULT_CONTEXT, qualifySubject } from '../../formats/qualified-subject.ts'

/** A version as it was registered. */
export type ArchivedVersion = Omit<NewSchema, 'id' | 'version'> & {
  readonly version: number
  readonly id: number
  /** Soft-deleted: still readable by its id. */
  readonly deleted?: true
}

/** Config and mode that are set for a subject or context itself; inherited values are not included. */
export type ArchivedSettings = { readonly config?: SubjectConfig; readonly mode?: Mode }

/** Versions are in ascending order; there are none for a name that has settings only, such as an alias. */
export type ArchivedSubject = ArchivedSettings & {
  readonly subject: string
  readonly versions: readonly ArchivedVersion[]
}

/** `.` is the default context; `.__GLOBAL` holds the settings of all contexts. */
export type ArchivedContext = ArchivedSettings & { readonly context: string }

/** The whole content of a registry, ordered by name. */
export type RegistryArchive = {
  readonly contexts: readonly ArchivedContext[]
  readonly subjects: readonly ArchivedSubject[]
}

export type SubjectVersion = { readonly subject: string; readonly version: ArchivedVersion }
export type VersionReference = { readonly subject: string; readonly version: number }

/** The name of a context in the paths `/config` and `/mode`; undefined for the default context. */
export function configNameOf(context: string): string | undefined {
  return context === DEFAULT_CONTEXT ? undefined : `:${context}:`
}

/** Unique: a version number contains no blank, a subject may. */
export function versionKey(subject: string, version: number): string {
  return `${version} ${subject}`
}

export function versionsOf({ subjects }: RegistryArchive): readonly SubjectVersion[] {
  return subjects.flatMap(({ subject, versions }) => versions.map((version) => ({ subject, version })))
}

/** The referenced versions with qualified subjects: an unqualified reference is resolved in the context of its subject. */
export function referencesOf({ subject, version: { references = [] } }: SubjectVersion): readonly VersionReference[] {
  const context = contextOf(subject)
  return references.map((one) => ({ subject: qualifySubject(one.subject, context), version: one.version }))
}

/** Whether type, text, references, metadata and rules are equal. */
export function isIdenticalSchema(a: ArchivedVersion, b: ArchivedVersion): boolean {
  return isDeepStrictEqual(schemaContentOf(a), schemaContentOf(b))
}

/** What a schema id identifies. */
export function schemaContentOf({
  schema,
  schemaType = 'AVRO',
  references,
  metadata,
  ruleSet,
}: ArchivedVersion): NewSchema {
  return {
    schemaType,
    schema,
    ...(references && references.length > 0 ? { references } : {}),
    ...(metadata ? { metadata } : {}),
    ...(ruleSet ? { ruleSet } : {}),
  }
}

/** `12 versions of 3 subjects`. */
export function describeSize(dump: RegistryArchive): string {
  const versions = versionsOf(dump).length
  const subjects = dump.subjects.length
  return `${versions} ${versions === 1 ? 'version' : 'versions'} of ${subjects} ${subjects === 1 ? 'subject' : 'subjects'}`
}
