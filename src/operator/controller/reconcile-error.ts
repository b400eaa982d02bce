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
  also: readonly ObservedCondition[] = []

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
    if (error instanceof ReconcileError) error.also = findings(error)
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
  readonly graceMs: number
}

/** Rebalances are short: whoever waits for the end of one looks often, the longer it takes the less so. */
const REBALANCE: PollInterval = { firstMs: 1_000, maxMs: 15_000 }
const PASSING: PollInterval = { firstMs: 2_000, maxMs: 30_000 }
const STALLED_AGAIN_MS = 30_000

/** What a failed pass means for the resource, and when to look again. Undefined for what is nobody's fault but ours. */
export function outcomeOfError(
  error: unknown,
  circumstances: ErrorContext,
): { readonly verdict: ReadyCondition; readonly again: Requeue } | undefined {
  if (error instanceof TerminalError) {
    const { reason, message, also, againMs = STALLED_AGAIN_MS } = error
    return { verdict: { ready: 'False', reason, message, progress: 'stuck', also }, again: { afterMs: againMs } }
  }
  if (error instanceof DependencyNotReady) {
    const { reason, message, also, againMs, pauses } = error
    const afterMs = pauses === undefined ? againMs : doubling(pauses, circumstances.sinceMs)
    const again: Requeue = afterMs === undefined ? 'when changed' : { afterMs }
    return { verdict: { ready: 'False', reason, message, progress: 'working', also }, again }
  }
  if (error instanceof NotAppliedError) return outcomeOfError(error.cause, { ...circumstances, isApplied: false })
  if (error instanceof ClusterError) return judgeCluster(error, circumstances)
  return error instanceof RequestError ? judgeRequest(error, circumstances) : undefined
}

/** It is not the runtime's fault: neither is it blamed, nor is anything known of how the resource is doing there. */
function judgeCluster({ code, message }: ClusterError, circumstances: ErrorContext) {
  const again: Requeue = 'after backoff'
  if (code === 'forbidden') {
    return { verdict: { ready: 'Unknown', reason: 'Forbidden', message, progress: 'stuck' } as const, again }
  }
  const kept = code === 'unreachable' ? stillReady(circumstances) : undefined
  const verdict = kept ?? ({ ready: 'Unknown', reason: 'InternalError', message, progress: 'working' } as const)
  return { verdict, again }
}

function judgeRequest(error: RequestError, circumstances: ErrorContext) {
  const { runtime } = circumstances
  const again: Requeue = 'after backoff'
  if (error.status === 401 || error.status === 403) {
    const message = `the ${runtime.toLowerCase()} does not let the operator in: ${error.message}`
    return { verdict: { ready: 'Unknown', reason: 'Unauthorized', message, progress: 'stuck' } as const, again }
  }
  if (!error.retriable) {
    const message = `the ${runtime.toLowerCase()} refused: ${error.message}`
    return { verdict: { ready: 'False', reason: 'ConfigInvalid', message, progress: 'stuck' } as const, again }
  }
  const rebalancing = error.status === 409
  const soon: Requeue = rebalancing ? { afterMs: doubling(REBALANCE, circumstances.sinceMs) } : again
  const kept = stillReady(circumstances)
  if (kept !== undefined) return { verdict: kept, again: soon }
  const reason = rebalancing ? 'Rebalancing' : (`${runtime}Unreachable` as const)
  const message = rebalancing ? 'the workers are sharing out their work' : messageOf(error)
  const verdict: ReadyCondition = {
    ready: 'Unknown',
    reason,
    message,
    ...(isPending(circumstances) && { progress: 'working' }),
  }
  return { verdict, again: soon }
}

/** What is found on its way by itself, as after a worker has gone, is not held against it for the time of grace. */
export function outcomeOfTransientState(
  verdict: ReadyCondition,
  circumstances: Omit<ErrorContext, 'runtime'>,
): { readonly verdict: ReadyCondition; readonly again: Requeue } {
  const { message, also = [] } = verdict
  const { sinceMs, graceMs } = circumstances
  const overdue: ReadyCondition = { ready: 'Unknown', reason: 'Rebalancing', message, also }
  const kept = stillReady(circumstances)
  return {
    verdict: kept === undefined ? (sinceMs < graceMs ? verdict : overdue) : { ...kept, also },
    again: { afterMs: doubling(PASSING, sinceMs) },
  }
}

/** A pause as long as all before it. */
function doubling({ firstMs, maxMs }: PollInterval, sinceMs: number): number {
  return Math.min(maxMs, Math.max(firstMs, sinceMs))
}

/** What was ready stays so during the grace period. */
function stillReady(circumstances: Omit<ErrorContext, 'runtime'>): ReadyCondition | undefined {
  const { previous, generation, isApplied = true, sinceMs, graceMs } = circumstances
  const ready = findCondition(previous, 'Ready')
  // An older generation says nothing about this one.
  const isCurrent = isApplied && ready?.observedGeneration === generation
  if (ready?.status !== 'True' || !isCurrent || sinceMs >= graceMs) return undefined
  return { ready: 'True', reason: 'Succeeded', message: ready.message }
}

/** Whether a change of what was in force before waits for the runtime. What never was in force is not in progress. */
function isPending({ previous, generation, isApplied = true }: Omit<ErrorContext, 'runtime'>): boolean {
  const ready = findCondition(previous, 'Ready')
  if (ready === undefined) return false
  const isObserved = ready.observedGeneration === generation
  return !isApplied || !isObserved || findCondition(previous, 'Reconciling')?.status === 'True'
}
