import type { Clock } from '../../config/clock.ts'
import type { Logger } from '../../config/logger.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { type CustomObject, readObject } from '../cluster/kubernetes/custom-object.ts'
import { outcomeOfError } from '../controller/error-outcome.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { Reconciler } from '../controller/reconciler.ts'
import type { ConditionReason } from '../resources/condition.ts'
import { type Resource, type ResourceKind, resourceKeyOf } from '../resources/resource.ts'
import { type FieldCause, fieldForConfigKey, fieldForReason } from './field-causes.ts'
import { withProposed } from './proposed-view.ts'

/** What becomes of a proposed resource. Whoever proposed it is shown the warnings. */
export type AdmissionDecision =
  | { readonly allowed: true; readonly warnings: readonly string[] }
  | {
      readonly allowed: false
      readonly reason: ConditionReason
      readonly message: string
      /** By field; absent where the object as a whole is refused. */
      readonly causes?: readonly FieldCause[]
    }

type DryRunner<K extends ResourceKind> = Pick<Reconciler<K>, 'runtime' | 'dryRun'>
export type DryRunners = { readonly [K in ResourceKind]: DryRunner<K> }

export type AdmissionDependencies = {
  readonly cluster: ClusterReader
  /** Who knows what a pass would say, going by what this view declares. */
  readonly dryRunners: (declared: ClusterReader) => DryRunners
  readonly clock: Clock
  readonly logger: Logger
}

/** The API server waits for 5 s. */
const ANSWER_MS = 4_000

/** Stuck now, but not for good: others may bring it, in the same `kubectl apply` even. */
const MAY_HEAL: ReadonlySet<ConditionReason> = new Set<ConditionReason>([
  'ReferenceNotFound',
  'Missing',
  'InputMissing',
])

/**
 * Whether an object may be stored, by what a pass over it would say. What can't be found out now is allowed, with a
 * warning: a runtime that is away keeps nobody from declaring anything.
 */
export async function decideAdmission<K extends ResourceKind>(
  kind: K,
  object: CustomObject,
  options: AdmissionDependencies,
): Promise<AdmissionDecision> {
  const read = readObject(kind, object)
  // The definition's own rules are checked before: this one is of another version.
  if ('fault' in read) return { allowed: false, reason: 'ConfigInvalid', message: read.fault }
  const { resource } = read
  const objection = await objectionTo(kind, resource, options)
  if (objection !== undefined && !objection.allowed) return objection
  return { allowed: true, warnings: [...(objection?.warnings ?? []), ...adviceOn(resource)] }
}

async function objectionTo<K extends ResourceKind>(
  kind: K,
  resource: Resource<K>,
  { cluster, dryRunners, clock, logger }: AdmissionDependencies,
): Promise<AdmissionDecision | undefined> {
  const dryRunner: DryRunner<K> = dryRunners(withProposed(cluster, resource))[kind]
  const answered = new AbortController()
  const late = clock.sleep(ANSWER_MS, answered.signal).then(() => unjudged(`no answer within ${ANSWER_MS} ms`))
  try {
    return await Promise.race([dryRunner.dryRun(resource).then(() => undefined), late])
  } catch (error) {
    const outcome = outcomeOfError(error, {
      runtime: dryRunner.runtime,
      previous: [],
      generation: 0,
      sinceMs: 0,
      readinessGracePeriodMs: 0,
    })
    if (outcome === undefined) {
      logger.error({ err: error, resource: resourceKeyOf(resource) }, 'a proposed resource could not be judged')
      return unjudged('internal error of the operator: see its log')
    }
    const { status: ready, reason, message, progress } = outcome.readyCondition
    const isRefused = ready === 'False' && progress === 'stalled' && !MAY_HEAL.has(reason)
    if (isRefused) return { allowed: false, reason, message, ...causesOf(error, reason, message, resource) }
    return ready === 'Unknown' ? unjudged(message) : { allowed: true, warnings: [`${reason}: ${message}`] }
  } finally {
    answered.abort()
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

function unjudged(why: string): AdmissionDecision {
  return { allowed: true, warnings: [`allowed without a verdict: ${why}`] }
}

/** What is allowed and may still not be meant. */
function adviceOn(resource: Resource): readonly string[] {
  if (resource.kind !== 'RegistryMode') return []
  const { mode, window } = resource.spec
  return [
    ...(mode === 'READONLY_OVERRIDE' ? ['mode READONLY_OVERRIDE is deprecated: use READONLY'] : []),
    ...(window === undefined ? [] : ['the operator alone closes the window: while it does not run, the mode stays']),
  ]
}
