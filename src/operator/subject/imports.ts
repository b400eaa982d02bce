import { undefinedIfNotFound } from '../../clients/http.ts'
import type { NewSchema, RegistryClient } from '../../clients/registry.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { DependencyNotReady, TerminalError } from '../controller/reconcile-error.ts'
import { subjectName } from '../resources/index-values.ts'
import type { Resource } from '../resources/resource.ts'
import { resolveSchemaText } from './desired.ts'

/** A version to import with its number and its id. */
export type SchemaImport = NewSchema & { readonly id: number; readonly version: number }

const LOOK_AGAIN_MS = 30_000

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
  const left: SchemaImport[] = []
  for (const { version, id, schemaType, references, ...source } of declared) {
    const schema = (await resolveSchemaText(source, metadata.namespace, cluster)) ?? ''
    const one = { id, version, schema, schemaType, ...(references && { references }) }
    if (!(await isThere(registry, subjectName(resource), one))) left.push(one)
  }
  if (left.length > 0) await assertImporting(resource, registry, cluster)
  return left
}

async function isThere(
  registry: RegistryClient,
  subject: string,
  { id, version, ...schema }: SchemaImport,
): Promise<boolean> {
  const found = await undefinedIfNotFound(registry.version(subject, version, { deleted: true }))
  if (found === undefined) return false
  const same = found.id === id && (await undefinedIfNotFound(registry.lookup(subject, schema, { deleted: true })))
  if (same && same.id === id) return true
  const what = found.id === id ? 'another schema' : `id ${found.id}`
  throw new TerminalError('ImportConflict', `version ${version} of ${subject} already exists with ${what}`)
}

/** The mode is changed by a RegistryMode or by a user, never by the Subject. */
async function assertImporting(
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
  if (isPlanned) throw new DependencyNotReady('WaitingForImportMode', message, { requeueAfterMs: LOOK_AGAIN_MS })
  throw new TerminalError('WaitingForImportMode', `${message}, and no RegistryMode of registry ${name} changes that`)
}
