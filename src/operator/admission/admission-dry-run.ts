import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { type CustomObject, readObject } from '../cluster/kubernetes/custom-object.ts'
import { outcomeOfError } from '../controller/error-outcome.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { Reconciler } from '../controller/reconciler.ts'
import type { ConditionReason } from '../resources/condition.ts'
import { type Resource, type ResourceKind, resourceKeyOf } from '../resources/resource.ts'
import type { AdmissionDecision } from './admission-review.ts'
import { type FieldCause, fieldForConfigKey, fieldForReason } from './field-causes.ts'
import { withProposed } from './proposed-view.ts'

type DryRunner<K extends ResourceKind> = Pick<Reconciler<K>, 'runtime' | 'dryRun'>
export type DryRunners = { readonly [K in ResourceKind]: DryRunner<K> }

export type DryRunDependencies = {
  readonly cluster: ClusterReader
  /** The dry runs of all kinds, based on this view of the declared resources. */
  readonly dryRunners: (declared: ClusterReader) => DryRunners
  readonly clock: Clock
  readonly logger: Logger
}

/** Less than the 5 s that the API server waits. */
const DRY_RUN_TIMEOUT_MS = 4_000

/** Reasons of `Stalled` that other resources may resolve, even in the same `kubectl apply`. */
const MAY_HEAL: ReadonlySet<ConditionReason> = new Set<ConditionReason>([
  'ReferenceNotFound',
  'Missing',
  'InputMissing',
])

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
  if ('fault' in read) return { allowed: false, reason: 'ConfigInvalid', message: read.fault }
  const { resource } = read
  const objection = await objectionTo(kind, resource, options)
  if (objection !== undefined && !objection.allowed) return objection
  return { allowed: true, warnings: [...(objection?.warnings ?? []), ...adviceOn(resource)] }
}

async function objectionTo<K extends ResourceKind>(
  kind: K,
  resource: Resource<K>,
  { cluster, dryRunners, clock, logger }: DryRunDependencies,
): Promise<AdmissionDecision | undefined> {
  const dryRunner: DryRunner<K> = dryRunners(withProposed(cluster, resource))[kind]
  const ended = new AbortController()
  const timeout = clock
    .sleep(DRY_RUN_TIMEOUT_MS, ended.signal)
    .then(() => undecided(`the dry run took longer than ${DRY_RUN_TIMEOUT_MS} ms`))
  try {
    return await Promise.race([dryRunner.dryRun(resource).then(() => undefined), timeout])
  } catch (error) {
    const outcome = outcomeOfError(error, {
      runtime: dryRunner.runtime,
      previous: [],
      generation: 0,
      sinceMs: 0,
      readinessGracePeriodMs: 0,
    })
    if (outcome === undefined) {
      logger.error({ err: error, resource: resourceKeyOf(resource) }, 'the dry run of a proposed resource failed')
      return undecided('internal error of the operator: see its log')
    }
    const { status: ready, reason, message, progress } = outcome.readyCondition
    const isRejected = ready === 'False' && progress === 'stalled' && !MAY_HEAL.has(reason)
    if (isRejected) return { allowed: false, reason, message, ...causesOf(error, reason, message, resource) }
    return ready === 'Unknown' ? undecided(message) : { allowed: true, warnings: [`${reason}: ${message}`] }
  } finally {
    ended.abort()
  }
}

function causesOf(
  error: unknown,
  reason: ConditionReason,
  message: string,
  resource: Resource,
): { readonly causes?: readonly FieldCause[] } {
  const invalidKeys = error instanceof TerminalError ? error.invalidKeys : []
  if (invalidKeys.length > 0) {
    return {
      causes: invalidKeys.map((invalidKey) => ({
        field: fieldForConfigKey(invalidKey.key),
        message: invalidKey.message,
      })),
    }
  }
  const field = fieldForReason(reason, resource)
  return field === undefined ? {} : { causes: [{ field, message }] }
}

function undecided(why: string): AdmissionDecision {
  return { allowed: true, warnings: [`allowed without validation: ${why}`] }
}

/** Warnings about an object that is valid but may not be intended. */
function adviceOn(resource: Resource): readonly string[] {
  if (resource.kind !== 'RegistryMode') return []
  const { mode, window } = resource.spec
  return [
    ...(mode === 'READONLY_OVERRIDE' ? ['mode READONLY_OVERRIDE is deprecated: use READONLY'] : []),
    ...(window === undefined
      ? []
      : ['only the operator closes the window: the mode stays set while the operator does not run']),
  ]
}
