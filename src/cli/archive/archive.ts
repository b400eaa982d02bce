import { isDeepStrictEqual } from 'node:util'
import type { Mode, NewSchema, SubjectConfig } from '../../clients/registry.ts'

/** One version as it was registered. */
export type ArchivedVersion = Omit<NewSchema, 'id' | 'version'> & {
  readonly version: number
  readonly id: number
  /** Softly: still readable by its id. */
  readonly deleted?: true
}

/** What is set for a name, not what it inherits. */
export type ArchivedSettings = { readonly config?: SubjectConfig; readonly mode?: Mode }

/** Versions ascend. There are none where only settings are kept, as under an alias. */
export type ArchivedSubject = ArchivedSettings & {
  readonly subject: string
  readonly versions: readonly ArchivedVersion[]
}

/** `.` is the default context, `.__GLOBAL` what counts for all of them. */
export type ArchivedContext = ArchivedSettings & { readonly context: string }

/** Everything a registry holds, contexts and subjects in order of their names. */
export type RegistryArchive = {
  readonly contexts: readonly ArchivedContext[]
  readonly subjects: readonly ArchivedSubject[]
}

/** A version and whose it is. */
export type SubjectVersion = { readonly subject: string; readonly version: ArchivedVersion }
export type VersionReference = { readonly subject: string; readonly version: number }

export const DEFAULT_CONTEXT_NAME = '.'
export const GLOBAL_CONTEXT_NAME = '.__GLOBAL'

const QUALIFIED = /^:(\.[^:]*):/

export function contextNameOf(subject: string): string {
  return QUALIFIED.exec(subject)?.[1] ?? DEFAULT_CONTEXT_NAME
}

/** The name that stands for a context in `/config` and `/mode`; undefined is how they call the default one. */
export function configNameOf(context: string): string | undefined {
  return context === DEFAULT_CONTEXT_NAME ? undefined : `:${context}:`
}

/** Of a version's place; unlike the subject, the number can't contain the blank. */
export function versionKey(subject: string, version: number): string {
  return `${version} ${subject}`
}

export function versionsOf({ subjects }: RegistryArchive): readonly SubjectVersion[] {
  return subjects.flatMap(({ subject, versions }) => versions.map((version) => ({ subject, version })))
}

/** Where a version's references lead. Those without a context mean the one of the subject that refers. */
export function referencesOf({ subject, version: { references = [] } }: SubjectVersion): readonly VersionReference[] {
  const context = contextNameOf(subject)
  return references.map((reference) => {
    const isComplete = context === DEFAULT_CONTEXT_NAME || QUALIFIED.test(reference.subject)
    return { subject: isComplete ? reference.subject : `:${context}:${reference.subject}`, version: reference.version }
  })
}

/** Whether two versions stand for the same schema, letter by letter, wherever they are. */
export function isIdenticalSchema(a: ArchivedVersion, b: ArchivedVersion): boolean {
  return isDeepStrictEqual(schemaOf(a), schemaOf(b))
}

/** What an id stands for. */
export function schemaOf({ schema, schemaType = 'AVRO', references, metadata, ruleSet }: ArchivedVersion): NewSchema {
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
