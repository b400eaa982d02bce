import type { Mode } from '../../clients/registry-client.ts'
import type { StoredAssociation } from '../model/association.ts'
import type { SchemaVersion } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import type { Config } from '../model/subject-config.ts'

/** Read access to the current state, for decisions and responses. */
export interface RegistryView {
  /** Changes with every applied record. */
  readonly revision: number
  /** In ascending order, including soft-deleted versions. Empty if the subject does not exist. */
  versions(subject: Subject): readonly SchemaVersion[]
  /** The highest version number, also of a version whose record cannot be read; 0 if there is none. */
  versionMax(subject: Subject): number
  version(subject: Subject, version: number): SchemaVersion | undefined
  /** The highest version that is not deleted. */
  latest(subject: Subject): SchemaVersion | undefined
  /** Whether the subject has a version that is not deleted. */
  isLive(subject: Subject): boolean
  /** The versions with an ID, oldest record first. An iterator, because an ID can have very many. */
  holders(context: string, id: number): IteratorObject<SchemaVersion>
  idOf(context: string, guid: string): number | undefined
  idMax(context: string): number
  subjects(): Iterable<Subject>
  /** The versions whose references name this version. */
  referrers(subject: Subject, version: number): readonly SchemaVersion[]
  config(subject: Subject | null): Config | undefined
  mode(subject: Subject | null): Mode | undefined
  /** The subjects and contexts for which a mode is set; null is the default context. */
  modeSubjects(): readonly (Subject | null)[]
  /** The names whose config has this subject as `alias`. */
  aliasesOf(subject: Subject): readonly Subject[]
  /** Whether a context contains a version, including soft-deleted versions. */
  isInUse(context: string): boolean
  /** The contexts that contain a version or have a context record: the default context, then the others, sorted. */
  contexts(): readonly string[]
  isKnownContext(context: string): boolean
  associations(): Iterable<StoredAssociation>
  associationsOfSubject(subject: Subject): readonly StoredAssociation[]
  associationsOfResource(resourceId: string): readonly StoredAssociation[]
}
