import { RequestError, undefinedIfNotFound } from '../../clients/http-client.ts'
import { type NewSchema, REGISTRY_ERROR, type RegistryClient } from '../../clients/registry-client.ts'
import type { ClusterReader, ResourceEvent } from '../cluster/cluster.ts'
import { DependencyNotReady, TerminalError } from '../controller/reconcile-error.ts'
import type { ReconcileResult } from '../controller/reconciler.ts'
import type { ReadyCondition } from '../resources/condition.ts'
import { subjectName } from '../resources/index-values.ts'
import type { Resource } from '../resources/resource.ts'
import { resolveSchemaText } from './desired-subject.ts'
import { readOnlyError } from './execute-subject-steps.ts'
import { toSchemaError } from './observed-subject.ts'

/** A version to import with its number and its id. */
export type SchemaImport = NewSchema & { readonly id: number; readonly version: number }

/** How often the mode is polled while a RegistryMode is expected to change it. */
const MODE_POLL_MS = 30_000

/**
 * The declared versions that are not registered yet, oldest first. Versions that were imported are not checked again.
 * Throws `TerminalError` where another schema has the version or the id, and `DependencyNotReady` or `TerminalError`
 * while the registry is not in mode IMPORT.
 */
export async function pendingImports(
  resource: Resource<'Subject'>,
  registry: RegistryClient,
  cluster: ClusterReader,
): Promise<readonly SchemaImport[]> {
  const { spec, status, metadata } = resource
  const declared = [...(spec.imports ?? [])].sort((a, b) => a.version - b.version)
  const isDone = status.imported === declared.length && status.observedGeneration === metadata.generation
  if (declared.length === 0 || isDone) return []
  const pending: SchemaImport[] = []
  for (const { version, id, schemaType, references, ...source } of declared) {
    const schema = (await resolveSchemaText(source, metadata.namespace, cluster)) ?? ''
    const wanted = { id, version, schema, schemaType, ...(references && { references }) }
    if (!(await isImported(registry, subjectName(resource), wanted))) pending.push(wanted)
  }
  if (pending.length > 0) await assertImportMode(resource, registry, cluster)
  return pending
}

/** Throws `TerminalError` where the version exists with another schema or id. */
async function isImported(
  registry: RegistryClient,
  subject: string,
  { id, version, ...schema }: SchemaImport,
): Promise<boolean> {
  const found = await undefinedIfNotFound(registry.version(subject, version, { deleted: true }))
  if (found === undefined) return false
  const equal =
    found.id === id ? await undefinedIfNotFound(registry.lookup(subject, schema, { deleted: true })) : undefined
  if (equal?.id === id) return true
  const difference = found.id === id ? 'another schema' : `id ${found.id}`
  throw new TerminalError('ImportConflict', `version ${version} of ${subject} already exists with ${difference}`)
}

/** The mode is changed by a RegistryMode or by a user, never by the Subject. */
async function assertImportMode(
  resource: Resource<'Subject'>,
  registry: RegistryClient,
  cluster: ClusterReader,
): Promise<void> {
  const mode = await registry.mode(subjectName(resource), { effective: true })
  if (mode === 'IMPORT') return
  const { name } = resource.spec.registryRef
  const isPlanned = cluster
    .list('RegistryMode')
    .some(({ spec }) => spec.registryRef.name === name && spec.mode === 'IMPORT')
  const message = `versions are imported in mode IMPORT only; the mode is ${mode}`
  if (isPlanned) throw new DependencyNotReady('WaitingForImportMode', message, { requeueAfterMs: MODE_POLL_MS })
  throw new TerminalError('WaitingForImportMode', `${message}, and no RegistryMode of registry ${name} changes that`)
}

/** Registers the pending imports, oldest first. The current schema follows in the next reconcile. */
export async function registerImports(
  resource: Resource<'Subject'>,
  pending: readonly SchemaImport[],
  registry: RegistryClient,
): Promise<ReconcileResult<'Subject'>> {
  const { spec, status } = resource
  const { observedGeneration: _, conditions: __, ...statusFields } = status
  const subject = subjectName(resource)
  const imported = spec.imports?.length ?? 0
  const message = `importing ${pending.length} of ${imported} versions of ${subject}`
  const readyCondition: ReadyCondition = { status: 'False', reason: 'Registering', message, progress: 'reconciling' }
  if (spec.suspend) return { readyCondition, statusFields, requeue: 'none' }
  for (const version of pending) await registerImport(subject, version, registry)
  const note = `imported versions ${pending.map(({ version }) => version).join(', ')} of ${subject}`
  const events: readonly ResourceEvent[] = [{ type: 'Normal', reason: 'Registered', note }]
  return { readyCondition, statusFields: { ...statusFields, imported }, requeue: { afterMs: 0 }, events }
}

/** The registry returns the same error code for a mode without imports and for an id that belongs to another schema. */
async function registerImport(subject: string, schema: SchemaImport, registry: RegistryClient): Promise<void> {
  const { id, version } = schema
  try {
    await registry.register(subject, schema)
  } catch (error) {
    const isNotPermitted = error instanceof RequestError && error.errorCode === REGISTRY_ERROR.operationNotPermitted
    if (!isNotPermitted) throw toSchemaError(error)
    if ((await undefinedIfNotFound(registry.byId(id, subject))) === undefined) throw readOnlyError(error)
    const message = `id ${id}, declared for version ${version} of ${subject}, belongs to another schema in the same context`
    throw new TerminalError('ImportConflict', message)
  }
}
