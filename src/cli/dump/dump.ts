import { isDeepStrictEqual } from 'node:util'
import type { Config, Mode, NewSchema } from '../../clients/registry.ts'

/** One version as it was registered. */
export type DumpedVersion = Omit<NewSchema, 'id' | 'version'> & {
  readonly version: number
  readonly id: number
  /** Softly: still readable by its id. */
  readonly deleted?: true
}

/** What is set for a name, not what it inherits. */
export type DumpedSettings = { readonly config?: Config; readonly mode?: Mode }

/** Versions ascend. There are none where only settings are kept, as under an alias. */
export type DumpedSubject = DumpedSettings & { readonly subject: string; readonly versions: readonly DumpedVersion[] }

/** `.` is the default context, `.__GLOBAL` what counts for all of them. */
export type DumpedContext = DumpedSettings & { readonly context: string }

/** Everything a registry holds, contexts and subjects in order of their names. */
export type Dump = { readonly contexts: readonly DumpedContext[]; readonly subjects: readonly DumpedSubject[] }

/** A version and whose it is. */
export type Placed = { readonly subject: string; readonly version: DumpedVersion }
export type Reference = { readonly subject: string; readonly version: number }

export const DEFAULT_CONTEXT = '.'
export const GLOBAL_CONTEXT = '.__GLOBAL'

const QUALIFIED = /^:(\.[^:]*):/

export function contextOf(subject: string): string {
  return QUALIFIED.exec(subject)?.[1] ?? DEFAULT_CONTEXT
}

/** The name that stands for a context in `/config` and `/mode`; undefined is how they call the default one. */
export function nameOfContext(context: string): string | undefined {
  return context === DEFAULT_CONTEXT ? undefined : `:${context}:`
}

/** Of a version's place; unlike the subject, the number can't contain the blank. */
export function placeKey(subject: string, version: number): string {
  return `${version} ${subject}`
}

export function placedVersions({ subjects }: Dump): readonly Placed[] {
  return subjects.flatMap(({ subject, versions }) => versions.map((version) => ({ subject, version })))
}

/** Where a version's references lead. Those without a context mean the one of the subject that refers. */
export function referencesOf({ subject, version: { references = [] } }: Placed): readonly Reference[] {
  const context = contextOf(subject)
  return references.map((reference) => {
    const isComplete = context === DEFAULT_CONTEXT || QUALIFIED.test(reference.subject)
    return { subject: isComplete ? reference.subject : `:${context}:${reference.subject}`, version: reference.version }
  })
}

/** Whether two versions stand for the same schema, letter by letter, wherever they are. */
export function isSameSchema(a: DumpedVersion, b: DumpedVersion): boolean {
  return isDeepStrictEqual(contentOf(a), contentOf(b))
}

/** What an id stands for. */
export function contentOf({ schema, schemaType = 'AVRO', references, metadata, ruleSet }: DumpedVersion): NewSchema {
  return {
    schemaType,
    schema,
    ...(references && references.length > 0 ? { references } : {}),
    ...(metadata ? { metadata } : {}),
    ...(ruleSet ? { ruleSet } : {}),
  }
}

/** `12 versions of 3 subjects`. */
export function sizeOf(dump: Dump): string {
  const versions = placedVersions(dump).length
  const subjects = dump.subjects.length
  return `${versions} ${versions === 1 ? 'version' : 'versions'} of ${subjects} ${subjects === 1 ? 'subject' : 'subjects'}`
}
