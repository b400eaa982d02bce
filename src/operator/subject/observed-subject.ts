import { RequestError, undefinedIfNotFound } from '../../clients/http-client.ts'
import type {
  CompatibilityLevel,
  NewSchema,
  Registered,
  RegisteredSchema,
  RegistryClient,
  SchemaVersionId,
  SubjectConfig,
} from '../../clients/registry-client.ts'
import { REGISTRY_ERROR } from '../../clients/registry-client.ts'
import { COMPATIBILITY_POLICIES, type CompatibilityPolicy } from '../../formats/format.ts'
import { SchemaError } from '../../formats/schema-error.ts'
import type { CompatibilityRules } from '../../formats/version-compatibility.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import { isReady } from '../resources/condition.ts'
import type { Resource } from '../resources/resource.ts'
import type { DesiredSubject } from './desired-subject.ts'
import { type ComparisonDependencies, findConflicts, type SubjectSchema } from './schema-compatibility.ts'

const DEFAULT_LEVEL: CompatibilityLevel = 'BACKWARD'

/** The state of a subject in the registry, compared with its desired state. */
export type ObservedSubject = {
  /** Version and id of the desired schema, if it is registered. */
  readonly registered?: SchemaVersionId
  /** Versions that are not deleted, ascending; empty: the subject does not exist. */
  readonly versions: readonly number[]
  /** The level that is set on the subject itself; read only where it is managed. */
  readonly level?: CompatibilityLevel | undefined
  /** The effective level: the subject's own or the inherited one. */
  readonly effectiveLevel: CompatibilityLevel
  /**
   * Why the desired schema is incompatible with the existing versions, under the desired level; empty: it is
   * compatible.
   */
  readonly conflicts: readonly string[]
}

/** Whether the status of a Ready resource already matches what a list of the registry shows. */
export function isSubjectStatusCurrent(
  { status, metadata }: Resource<'Subject'>,
  latest: SchemaVersionId | undefined,
): boolean {
  if (latest === undefined || !isReady(status, metadata.generation)) return false
  return status.latestVersion === latest.version && (status.version !== latest.version || status.id === latest.id)
}

const NEW_SUBJECT: Awaited<ReturnType<typeof lookUpVersions>> = { versions: [] }

export type ObserveOptions = Pick<ComparisonDependencies, 'compatibilityWorker'> & {
  readonly managesLevel: boolean
  /** Whether the subject is known to be absent; then it is not read. */
  readonly isNew?: boolean
}

export async function observeSubject(
  registry: RegistryClient,
  desired: DesiredSubject,
  { compatibilityWorker, managesLevel, isNew = false }: ObserveOptions,
): Promise<ObservedSubject> {
  const { subject, schema, normalize } = desired
  const [{ registered, versions }, level, effective] = await Promise.all([
    isNew ? NEW_SUBJECT : lookUpVersions(registry, subject, schema, normalize),
    managesLevel ? undefinedIfNotFound(registry.config(subject)) : undefined,
    registry.config(subject, { effective: true }),
  ])
  const effectiveLevel = effective.compatibility ?? DEFAULT_LEVEL
  const isUnregistered = schema !== undefined && registered === undefined
  // Where nothing else is written first, the registry itself validates a first version.
  const isChecked = isUnregistered && (managesLevel || versions.length > 0)
  return {
    ...(registered === undefined ? {} : { registered }),
    versions,
    ...(level?.compatibility === undefined ? {} : { level: level.compatibility }),
    effectiveLevel,
    conflicts: isChecked
      ? await conflictsWithVersions({ registry, compatibilityWorker }, { ...schema, subject }, versions, {
          level: desired.compatibility ?? effectiveLevel,
          policy: policyOf(effective),
          group: effective.compatibilityGroup,
        })
      : [],
  }
}

export async function effectiveCompatibility(registry: RegistryClient, subject: string): Promise<CompatibilityLevel> {
  return (await registry.config(subject, { effective: true })).compatibility ?? DEFAULT_LEVEL
}

/** A registry that does not know policies returns none. */
function policyOf({ compatibilityPolicy }: SubjectConfig): CompatibilityPolicy | undefined {
  return COMPATIBILITY_POLICIES.find((policy) => policy === compatibilityPolicy)
}

/** The state after a registration; empty where the registry does not report the version yet. */
export async function observeRegistration(
  registry: RegistryClient,
  { subject, schema, normalize }: DesiredSubject,
  { versions }: ObservedSubject,
  { id, version }: Registered,
): Promise<Partial<ObservedSubject>> {
  // Older registries return the id only.
  const hasNoVersion = version === undefined && schema !== undefined
  const registered = hasNoVersion
    ? await lookUp(registry, subject, schema, normalize).catch(() => undefined)
    : { id, version }
  if (typeof registered !== 'object' || registered.version === undefined) return {}
  const all = [...new Set([...versions, registered.version])].sort((a, b) => a - b)
  return { registered: { id: registered.id, version: registered.version }, versions: all, conflicts: [] }
}

async function lookUpVersions(
  registry: RegistryClient,
  subject: string,
  schema: NewSchema | undefined,
  normalize: boolean,
): Promise<Pick<ObservedSubject, 'registered' | 'versions'>> {
  const found = schema === undefined ? 'no such schema' : await lookUp(registry, subject, schema, normalize)
  if (found === 'no such subject') return { versions: [] }
  const versions = (await undefinedIfNotFound(registry.versions(subject))) ?? []
  return found === 'no such schema' ? { versions } : { registered: found, versions }
}

async function lookUp(
  registry: RegistryClient,
  subject: string,
  schema: NewSchema,
  normalize: boolean,
): Promise<SchemaVersionId | 'no such schema' | 'no such subject'> {
  try {
    const { id, version } = await registry.lookup(subject, schema, { normalize })
    return { id, version }
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 404) throw toSchemaError(error)
    return error.errorCode === REGISTRY_ERROR.subjectNotFound ? 'no such subject' : 'no such schema'
  }
}

/** Converts a registry's rejection of a schema to a `TerminalError`. */
export function toSchemaError(error: unknown): unknown {
  if (!(error instanceof RequestError)) return error
  if (error.errorCode === REGISTRY_ERROR.invalidSchema || error.status === 400) {
    return new TerminalError('SchemaInvalid', error.message)
  }
  const isTooLarge = error.status === 413 || error.errorCode === REGISTRY_ERROR.schemaTooLarge
  return isTooLarge ? new TerminalError('SchemaTooLarge', error.message) : error
}

/** What reads and compares the schemas of a registry. */
export type SchemaAccess = Pick<ComparisonDependencies, 'compatibilityWorker'> & { readonly registry: RegistryClient }

async function conflictsWithVersions(
  access: SchemaAccess,
  schema: SubjectSchema,
  versions: readonly number[],
  rules: CompatibilityRules,
): Promise<readonly string[]> {
  // Which group a version belongs to is in its metadata.
  const isLastEnough = rules.group === undefined && !rules.level.endsWith('_TRANSITIVE')
  const fetched = rules.level === 'NONE' ? [] : isLastEnough ? versions.slice(-1) : versions
  const earlier = await Promise.all(fetched.map((version) => access.registry.version(schema.subject, version)))
  return conflictsBetween(access, schema, earlier, rules)
}

/** Throws `TerminalError` for an invalid schema and for unresolved references. */
export async function assertSchemaValid(access: SchemaAccess, subject: string, schema: NewSchema): Promise<void> {
  await conflictsBetween(access, { ...schema, subject }, [], { level: 'NONE' })
}

async function conflictsBetween(
  { registry, compatibilityWorker }: SchemaAccess,
  schema: SubjectSchema,
  earlier: readonly RegisteredSchema[],
  rules: CompatibilityRules,
): Promise<readonly string[]> {
  const lookup = (name: string, version: number) => registry.version(name, version, { deleted: true })
  try {
    return await findConflicts(schema, earlier, rules, { lookup, compatibilityWorker })
  } catch (error) {
    if (error instanceof SchemaError) throw new TerminalError('SchemaInvalid', error.message)
    if (error instanceof RequestError && error.status === 404) {
      throw new TerminalError('ReferenceNotFound', `a referenced schema is not in the registry: ${error.message}`)
    }
    throw error
  }
}
