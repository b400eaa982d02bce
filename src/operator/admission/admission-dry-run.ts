import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { type CustomObject, readObject } from '../cluster/kubernetes/custom-object.ts'
import { type Resource, type ResourceKind, resourceKeyOf } from '../resources/resource.ts'
import type { AdmissionDecision } from './admission-review.ts'
import { type DryRunner, type DryRunners, type DryRunVerdict, dryRunVerdict, usageWarnings } from './dry-run-verdict.ts'
import { withProposed } from './proposed-view.ts'

export type DryRunDependencies = {
  readonly cluster: ClusterReader
  /** The dry runs of all kinds, based on this view of the declared resources. */
  readonly dryRunners: (declared: ClusterReader) => DryRunners
  readonly clock: Clock
  readonly logger: Logger
}

/** Less than the 5 s that the API server waits. */
const DRY_RUN_TIMEOUT_MS = 4_000

/**
 * Decides by a dry run whether an object may be stored. What cannot be decided now is allowed with a warning: an
 * unavailable runtime prevents no declaration.
 */
export async function dryRunAdmission<K extends ResourceKind>(
  kind: K,
  object: CustomObject,
  options: DryRunDependencies,
): Promise<AdmissionDecision> {
  const read = readObject(kind, object)
  // The API server has checked the definition's rules before: this definition is of another version.
  if ('unreadable' in read) return { allowed: false, reason: 'ConfigInvalid', message: read.unreadable.reason }
  const { resource } = read
  const verdict = await verdictOn(kind, resource, options)
  if (verdict.kind === 'rejected') {
    const { reason, message, causes } = verdict
    return { allowed: false, reason, message, ...(causes.length > 0 && { causes }) }
  }
  return { allowed: true, warnings: [...warningsOf(verdict), ...usageWarnings(resource)] }
}

async function verdictOn<K extends ResourceKind>(
  kind: K,
  resource: Resource<K>,
  { cluster, dryRunners, clock, logger }: DryRunDependencies,
): Promise<DryRunVerdict> {
  const dryRunner: DryRunner<K> = dryRunners(withProposed(cluster, resource))[kind]
  const ended = new AbortController()
  const timeout = clock.sleep(DRY_RUN_TIMEOUT_MS, ended.signal).then((): DryRunVerdict => {
    return { kind: 'undecided', message: `the dry run took longer than ${DRY_RUN_TIMEOUT_MS} ms` }
  })
  try {
    const verdict = await Promise.race([dryRunVerdict(dryRunner, resource), timeout])
    if (verdict.kind === 'undecided' && verdict.unexpectedError !== undefined) {
      const err = verdict.unexpectedError
      logger.error({ err, resource: resourceKeyOf(resource) }, 'the dry run of a proposed resource failed')
    }
    return verdict
  } finally {
    ended.abort()
  }
}

function warningsOf(verdict: DryRunVerdict): readonly string[] {
  switch (verdict.kind) {
    case 'pending':
      return [`${verdict.reason}: ${verdict.message}`]
    case 'undecided':
      return [`allowed without validation: ${verdict.message}`]
    case 'accepted':
      return verdict.warnings ?? []
    default:
      return []
  }
}
