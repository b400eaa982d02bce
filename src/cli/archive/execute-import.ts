import { RequestError } from '../../clients/http.ts'
import type { RegistryClient } from '../../clients/registry.ts'
import { mapConcurrently, withRetries } from './concurrent-requests.ts'
import type { ImportPlan, SubjectImport } from './import-plan.ts'

export type ExecuteImportOptions = {
  readonly signal?: AbortSignal
  /** Called after each version that was registered. */
  readonly onVersion?: () => void
}

/**
 * Writes what a plan says. Only the few subjects that are worked on have mode IMPORT, and each gets its own mode back
 * before the next is begun, also when something fails. Rejects with a `RequestError`, or when the signal aborts.
 */
export async function executeImport(
  plan: ImportPlan,
  registry: RegistryClient,
  options: ExecuteImportOptions,
): Promise<void> {
  const client = withRetries(registry)
  const pace = options.signal ? { signal: options.signal } : {}
  await mapConcurrently(plan.contextConfigs, ({ name, config }) => client.putConfig(config, name), pace)
  for (const wave of plan.waves) await mapConcurrently(wave, (part) => importSubject(part, client, options), pace)
  await mapConcurrently(plan.subjectConfigs, ({ name, config }) => client.putConfig(config, name), pace)
  await mapConcurrently(plan.modes, ({ name, mode }) => client.putMode(mode, name, { force: true }), pace)
}

async function importSubject(
  part: SubjectImport,
  client: RegistryClient,
  options: ExecuteImportOptions,
): Promise<void> {
  const { subject, register, isContextInImportMode: isOpen } = part
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
    const removable = part.softDelete.filter((version) => !missing.has(version))
    for (const version of removable) await client.deleteVersion(subject, version).catch(ignoreNotFound)
    if (!isOpen) await restoreMode(part, client)
  }
}

function restoreMode({ subject, mode }: SubjectImport, client: RegistryClient): Promise<void> {
  return mode === undefined
    ? client.deleteMode(subject).catch(ignoreNotFound)
    : client.putMode(mode, subject, { force: true })
}

/** It was done already: by the request whose answer was lost, or with the last version of a subject. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof RequestError && error.status === 404)) throw error
}
