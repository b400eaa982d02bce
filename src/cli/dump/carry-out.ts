import { RequestError } from '../../clients/http.ts'
import type { RegistryClient } from '../../clients/registry.ts'
import type { ImportPlan, Part } from './plan.ts'
import { eachOf, patient } from './pool.ts'

export type CarryOutOptions = {
  readonly signal?: AbortSignal
  /** Called after each version that was registered. */
  readonly onVersion?: () => void
}

/**
 * Writes what a plan says. Only the few subjects that are worked on have mode IMPORT, and each gets its own mode back
 * before the next is begun, also when something fails. Rejects with a `RequestError`, or when the signal aborts.
 */
export async function carryOut(plan: ImportPlan, registry: RegistryClient, options: CarryOutOptions): Promise<void> {
  const client = patient(registry)
  const pace = options.signal ? { signal: options.signal } : {}
  await eachOf(plan.contextConfigs, ({ name, config }) => client.putConfig(config, name), pace)
  for (const wave of plan.waves) await eachOf(wave, (part) => importPart(part, client, options), pace)
  await eachOf(plan.subjectConfigs, ({ name, config }) => client.putConfig(config, name), pace)
  await eachOf(plan.modes, ({ name, mode }) => client.putMode(mode, name, { force: true }), pace)
}

async function importPart(part: Part, client: RegistryClient, options: CarryOutOptions): Promise<void> {
  const { subject, register, isOpen } = part
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
    const removable = part.remove.filter((version) => !missing.has(version))
    for (const version of removable) await client.deleteVersion(subject, version).catch(orGone)
    if (!isOpen) await leaveImport(part, client)
  }
}

function leaveImport({ subject, mode }: Part, client: RegistryClient): Promise<void> {
  return mode === undefined ? client.deleteMode(subject).catch(orGone) : client.putMode(mode, subject, { force: true })
}

/** It was done already: by the request whose answer was lost, or with the last version of a subject. */
function orGone(error: unknown): void {
  if (!(error instanceof RequestError && error.status === 404)) throw error
}
