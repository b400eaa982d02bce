import { RequestError } from '../../clients/http-client.ts'
import type { RegistryClient } from '../../clients/registry-client.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { withRetries } from './concurrent-requests.ts'
import type { ImportPlan, SubjectImport } from './import-plan.ts'

export type ExecuteImportOptions = {
  readonly signal?: AbortSignal
  /** Called after each registered version. */
  readonly onVersion?: () => void
}

/**
 * Executes an import plan. A subject has mode IMPORT only while its versions are registered; its own mode is restored
 * afterwards, also after a failure. Rejects with a `RequestError`, or with the signal's reason.
 */
export async function executeImport(
  plan: ImportPlan,
  registry: RegistryClient,
  options: ExecuteImportOptions,
): Promise<void> {
  const client = withRetries(registry)
  const concurrency = options.signal ? { signal: options.signal } : {}
  await mapConcurrently(plan.contextConfigs, ({ name, config }) => client.putConfig(config, name), concurrency)
  for (const wave of plan.waves)
    await mapConcurrently(wave, (subject) => importSubject(subject, client, options), concurrency)
  await mapConcurrently(plan.subjectConfigs, ({ name, config }) => client.putConfig(config, name), concurrency)
  await mapConcurrently(plan.modes, ({ name, mode }) => client.putMode(mode, name, { force: true }), concurrency)
}

async function importSubject(
  plan: SubjectImport,
  client: RegistryClient,
  options: ExecuteImportOptions,
): Promise<void> {
  const { subject, register, isContextInImportMode: isOpen } = plan
  const missing = new Set(register.map(({ version }) => version))
  try {
    if (!isOpen && register.length > 0) await client.putMode('IMPORT', subject, { force: true })
    for (const { deleted: _, ...version } of register) {
      options.signal?.throwIfAborted()
      await client.register(subject, version)
      missing.delete(version.version)
      options.onVersion?.()
    }
  } finally {
    const removable = plan.softDelete.filter((version) => !missing.has(version))
    for (const version of removable) await client.deleteVersion(subject, version).catch(ignoreNotFound)
    if (!isOpen) await restoreMode(plan, client)
  }
}

function restoreMode({ subject, mode }: SubjectImport, client: RegistryClient): Promise<void> {
  return mode === undefined
    ? client.deleteMode(subject).catch(ignoreNotFound)
    : client.putMode(mode, subject, { force: true })
}

/** An earlier request, whose response was lost, did it already; or it was deleted with the subject's last version. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof RequestError && error.status === 404)) throw error
}
