import { RequestError } from '../../clients/http-client.ts'
import { ClusterError } from '../../clients/kubernetes/cluster-error.ts'
import { messageOf } from '../../common/errors.ts'
import type { Condition } from '../resources/common-status.ts'
import { findCondition, type ReadyCondition } from '../resources/condition.ts'
import type { Requeue } from './controller.ts'
import { DependencyNotReady, NotAppliedError, TerminalError } from './reconcile-error.ts'
import { pollDelayMs, REBALANCE_POLL, STALLED_REQUEUE_MS, TRANSIENT_STATE_POLL } from './requeue-delays.ts'

export type ErrorContext = {
  /** The runtime that the reconcile called. */
  readonly runtime: 'Worker' | 'Registry'
  readonly previous: readonly Condition[]
  /** `metadata.generation` of the resource. */
  readonly generation: number
  /** false: the runtime is known not to have the declared configuration. */
  readonly isApplied?: boolean
  /** How long the resource has been failing, in milliseconds. */
  readonly sinceMs: number
  /** How long a Ready resource stays Ready while its runtime fails. */
  readonly readinessGracePeriodMs: number
}

/** The Ready condition for an error, and when to reconcile again; undefined for an error that only a bug explains. */
export function outcomeOfError(
  error: unknown,
  context: ErrorContext,
): { readonly readyCondition: ReadyCondition; readonly requeue: Requeue } | undefined {
  if (error instanceof TerminalError) {
    const { reason, message, otherConditions, requeueAfterMs = STALLED_REQUEUE_MS } = error
    return {
      readyCondition: { status: 'False', reason, message, progress: 'stalled', otherConditions },
      requeue: { afterMs: requeueAfterMs },
    }
  }
  if (error instanceof DependencyNotReady) {
    const { reason, message, otherConditions, requeueAfterMs, pollInterval } = error
    const afterMs = pollInterval === undefined ? requeueAfterMs : pollDelayMs(pollInterval, context.sinceMs)
    const requeue: Requeue = afterMs === undefined ? 'none' : { afterMs }
    return { readyCondition: { status: 'False', reason, message, progress: 'reconciling', otherConditions }, requeue }
  }
  if (error instanceof NotAppliedError) return outcomeOfError(error.cause, { ...context, isApplied: false })
  if (error instanceof ClusterError) return outcomeOfClusterError(error, context)
  return error instanceof RequestError ? outcomeOfRequestError(error, context) : undefined
}

/** The API server failed, so nothing is known about the runtime. */
function outcomeOfClusterError({ code, message }: ClusterError, context: ErrorContext) {
  const requeue: Requeue = 'rate-limited'
  if (code === 'forbidden') {
    return {
      readyCondition: { status: 'Unknown', reason: 'Forbidden', message, progress: 'stalled' } as const,
      requeue,
    }
  }
  const kept = code === 'unreachable' ? readyWithinGracePeriod(context) : undefined
  const readyCondition =
    kept ?? ({ status: 'Unknown', reason: 'InternalError', message, progress: 'reconciling' } as const)
  return { readyCondition, requeue }
}

function outcomeOfRequestError(error: RequestError, context: ErrorContext) {
  const { runtime } = context
  const requeue: Requeue = 'rate-limited'
  if (error.status === 401 || error.status === 403) {
    const message = `the ${runtime.toLowerCase()} rejected the operator's credentials: ${error.message}`
    return {
      readyCondition: { status: 'Unknown', reason: 'Unauthorized', message, progress: 'stalled' } as const,
      requeue,
    }
  }
  if (!error.retriable) {
    const message = `the ${runtime.toLowerCase()} rejected the request: ${error.message}`
    return {
      readyCondition: { status: 'False', reason: 'ConfigInvalid', message, progress: 'stalled' } as const,
      requeue,
    }
  }
  const rebalancing = error.status === 409
  const soon: Requeue = rebalancing ? { afterMs: pollDelayMs(REBALANCE_POLL, context.sinceMs) } : requeue
  const kept = readyWithinGracePeriod(context)
  if (kept !== undefined) return { readyCondition: kept, requeue: soon }
  const reason = rebalancing ? 'Rebalancing' : (`${runtime}Unreachable` as const)
  const message = rebalancing ? 'the worker cluster is rebalancing' : messageOf(error)
  const readyCondition: ReadyCondition = {
    status: 'Unknown',
    reason,
    message,
    ...(isChangePending(context) && { progress: 'reconciling' }),
  }
  return { readyCondition, requeue: soon }
}

/**
 * The Ready condition for a state that ends without an action, such as tasks that are unassigned after a worker was
 * lost. A resource that was Ready stays Ready for the grace period.
 */
export function outcomeOfTransientState(
  readyCondition: ReadyCondition,
  context: Omit<ErrorContext, 'runtime'>,
): { readonly readyCondition: ReadyCondition; readonly requeue: Requeue } {
  const { message, otherConditions = [] } = readyCondition
  const { sinceMs, readinessGracePeriodMs } = context
  const overdue: ReadyCondition = { status: 'Unknown', reason: 'Rebalancing', message, otherConditions }
  const kept = readyWithinGracePeriod(context)
  return {
    readyCondition:
      kept === undefined ? (sinceMs < readinessGracePeriodMs ? readyCondition : overdue) : { ...kept, otherConditions },
    requeue: { afterMs: pollDelayMs(TRANSIENT_STATE_POLL, sinceMs) },
  }
}

/** The condition Ready=True of before, while the grace period lasts. */
function readyWithinGracePeriod(context: Omit<ErrorContext, 'runtime'>): ReadyCondition | undefined {
  const { previous, generation, isApplied = true, sinceMs, readinessGracePeriodMs } = context
  const ready = findCondition(previous, 'Ready')
  // A condition of an older generation says nothing about the current one.
  const isCurrent = isApplied && ready?.observedGeneration === generation
  if (ready?.status !== 'True' || !isCurrent || sinceMs >= readinessGracePeriodMs) return undefined
  return { status: 'True', reason: 'Succeeded', message: ready.message }
}

/**
 * Whether a change waits for the runtime. A resource that was never applied is not in progress: it has no earlier
 * state.
 */
function isChangePending({ previous, generation, isApplied = true }: Omit<ErrorContext, 'runtime'>): boolean {
  const ready = findCondition(previous, 'Ready')
  if (ready === undefined) return false
  const isObserved = ready.observedGeneration === generation
  return !isApplied || !isObserved || findCondition(previous, 'Reconciling')?.status === 'True'
}
