import { RequestError } from '../../clients/http.ts'
import { ClusterError } from '../../clients/kubernetes/cluster-error.ts'
import { messageOf } from '../../config/errors.ts'
import {
  type ConditionReason,
  findCondition,
  type ObservedCondition,
  type ReadyCondition,
} from '../resources/condition.ts'
import type { Condition } from '../resources/status.ts'
import type { Requeue } from './controller.ts'

export type PollInterval = { readonly firstMs: number; readonly maxMs: number }

export type WrongKey = { readonly key: string; readonly message: string }

type ReconcileErrorOptions = {
  readonly againMs?: number
  readonly pauses?: PollInterval
  readonly wrongKeys?: readonly WrongKey[]
}

/** Why a pass ends before its time. */
abstract class ReconcileError extends Error {
  readonly reason: ConditionReason
  /** Look again then, for what can also heal elsewhere. */
  readonly againMs: number | undefined
  /** Or with pauses that grow with the time that it has lasted. */
  readonly pauses: PollInterval | undefined
  /** The keys of a connector's configuration that are wrong, each with why. */
  readonly wrongKeys: readonly WrongKey[]
  /** What was found out until then. */
  otherConditions: readonly ObservedCondition[] = []

  constructor(reason: ConditionReason, message: string, options: ReconcileErrorOptions = {}) {
    super(message)
    this.wrongKeys = options.wrongKeys ?? []
    this.reason = reason
    this.againMs = options.againMs
    this.pauses = options.pauses
  }
}

/** What a person has to put right: the pass ends, `TerminalError` says why. It is looked at again when something changes. */
export class TerminalError extends ReconcileError {
  override readonly name = 'Stalled'
}

/** What has to happen elsewhere first; the pass ends and `Reconciling` says what it waits for. */
export class DependencyNotReady extends ReconcileError {
  override readonly name = 'Waiting'
}

/** Runs what may end the pass, which then tells more than its reason: what was found out before, or what it means. */
export async function withConditionsOnError<T>(
  findings: (trouble: ReconcileError) => readonly ObservedCondition[],
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ReconcileError) error.otherConditions = findings(error)
    throw error
  }
}

/**
 * A runtime failed before what is declared was applied to it. The grace period is for health: it never reports a
 * configuration as in force that the runtime does not hold.
 */
export class NotAppliedError extends Error {
  override readonly name = 'NotAppliedError'
  override readonly cause: Error

  constructor(cause: Error) {
    super(cause.message, { cause })
    this.cause = cause
  }
}

export type ErrorContext = {
  /** What the pass talks to. */
  readonly runtime: 'Worker' | 'Registry'
  readonly previous: readonly Condition[]
  /** Of the resource as it is declared now. */
  readonly generation: number
  /** false: the runtime is known not to hold what is declared. */
  readonly isApplied?: boolean
  /** How long passes over this resource have been failing in this way. */
  readonly sinceMs: number
  /** A runtime may be away for so long before a resource that was ready is called anything else. */
  readonly readinessGracePeriodMs: number
}

/** Rebalances are short: whoever waits for the end of one looks often, the longer it takes the less so. */
const REBALANCE: PollInterval = { firstMs: 1_000, maxMs: 15_000 }
const PASSING: PollInterval = { firstMs: 2_000, maxMs: 30_000 }
const STALLED_AGAIN_MS = 30_000

/** What a failed pass means for the resource, and when to look again. Undefined for what is nobody's fault but ours. */
export function outcomeOfError(
  error: unknown,
  circumstances: ErrorContext,
): { readonly readyCondition: ReadyCondition; readonly requeue: Requeue } | undefined {
  if (error instanceof TerminalError) {
    const { reason, message, otherConditions, againMs = STALLED_AGAIN_MS } = error
    return {
      readyCondition: { status: 'False', reason, message, progress: 'stalled', otherConditions },
      requeue: { afterMs: againMs },
    }
  }
  if (error instanceof DependencyNotReady) {
    const { reason, message, otherConditions, againMs, pauses } = error
    const afterMs = pauses === undefined ? againMs : doubling(pauses, circumstances.sinceMs)
    const requeue: Requeue = afterMs === undefined ? 'none' : { afterMs }
    return { readyCondition: { status: 'False', reason, message, progress: 'reconciling', otherConditions }, requeue }
  }
  if (error instanceof NotAppliedError) return outcomeOfError(error.cause, { ...circumstances, isApplied: false })
  if (error instanceof ClusterError) return judgeCluster(error, circumstances)
  return error instanceof RequestError ? judgeRequest(error, circumstances) : undefined
}

/** It is not the runtime's fault: neither is it blamed, nor is anything known of how the resource is doing there. */
function judgeCluster({ code, message }: ClusterError, circumstances: ErrorContext) {
  const requeue: Requeue = 'rate-limited'
  if (code === 'forbidden') {
    return {
      readyCondition: { status: 'Unknown', reason: 'Forbidden', message, progress: 'stalled' } as const,
      requeue,
    }
  }
  const kept = code === 'unreachable' ? stillReady(circumstances) : undefined
  const readyCondition =
    kept ?? ({ status: 'Unknown', reason: 'InternalError', message, progress: 'reconciling' } as const)
  return { readyCondition, requeue }
}

function judgeRequest(error: RequestError, circumstances: ErrorContext) {
  const { runtime } = circumstances
  const requeue: Requeue = 'rate-limited'
  if (error.status === 401 || error.status === 403) {
    const message = `the ${runtime.toLowerCase()} does not let the operator in: ${error.message}`
    return {
      readyCondition: { status: 'Unknown', reason: 'Unauthorized', message, progress: 'stalled' } as const,
      requeue,
    }
  }
  if (!error.retriable) {
    const message = `the ${runtime.toLowerCase()} refused: ${error.message}`
    return {
      readyCondition: { status: 'False', reason: 'ConfigInvalid', message, progress: 'stalled' } as const,
      requeue,
    }
  }
  const rebalancing = error.status === 409
  const soon: Requeue = rebalancing ? { afterMs: doubling(REBALANCE, circumstances.sinceMs) } : requeue
  const kept = stillReady(circumstances)
  if (kept !== undefined) return { readyCondition: kept, requeue: soon }
  const reason = rebalancing ? 'Rebalancing' : (`${runtime}Unreachable` as const)
  const message = rebalancing ? 'the workers are sharing out their work' : messageOf(error)
  const readyCondition: ReadyCondition = {
    status: 'Unknown',
    reason,
    message,
    ...(isPending(circumstances) && { progress: 'reconciling' }),
  }
  return { readyCondition, requeue: soon }
}

/** What is found on its way by itself, as after a worker has gone, is not held against it for the time of grace. */
export function outcomeOfTransientState(
  readyCondition: ReadyCondition,
  circumstances: Omit<ErrorContext, 'runtime'>,
): { readonly readyCondition: ReadyCondition; readonly requeue: Requeue } {
  const { message, otherConditions = [] } = readyCondition
  const { sinceMs, readinessGracePeriodMs } = circumstances
  const overdue: ReadyCondition = { status: 'Unknown', reason: 'Rebalancing', message, otherConditions }
  const kept = stillReady(circumstances)
  return {
    readyCondition:
      kept === undefined ? (sinceMs < readinessGracePeriodMs ? readyCondition : overdue) : { ...kept, otherConditions },
    requeue: { afterMs: doubling(PASSING, sinceMs) },
  }
}

/** A pause as long as all before it. */
function doubling({ firstMs, maxMs }: PollInterval, sinceMs: number): number {
  return Math.min(maxMs, Math.max(firstMs, sinceMs))
}

/** What was ready stays so during the grace period. */
function stillReady(circumstances: Omit<ErrorContext, 'runtime'>): ReadyCondition | undefined {
  const { previous, generation, isApplied = true, sinceMs, readinessGracePeriodMs } = circumstances
  const ready = findCondition(previous, 'Ready')
  // An older generation says nothing about this one.
  const isCurrent = isApplied && ready?.observedGeneration === generation
  if (ready?.status !== 'True' || !isCurrent || sinceMs >= readinessGracePeriodMs) return undefined
  return { status: 'True', reason: 'Succeeded', message: ready.message }
}

/** Whether a change of what was in force before waits for the runtime. What never was in force is not in progress. */
function isPending({ previous, generation, isApplied = true }: Omit<ErrorContext, 'runtime'>): boolean {
  const ready = findCondition(previous, 'Ready')
  if (ready === undefined) return false
  const isObserved = ready.observedGeneration === generation
  return !isApplied || !isObserved || findCondition(previous, 'Reconciling')?.status === 'True'
}
