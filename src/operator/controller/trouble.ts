import { RequestError } from '../../clients/http.ts'
import { ClusterError } from '../../clients/kubernetes/cluster-error.ts'
import { messageOf } from '../../config/failure.ts'
import { conditionOf, type Finding, type Reason, type Verdict } from '../resources/condition.ts'
import type { Condition } from '../resources/status.ts'
import type { Again } from './controller.ts'

export type Pauses = { readonly firstMs: number; readonly maxMs: number }

export type WrongKey = { readonly key: string; readonly message: string }

type TroubleOptions = {
  readonly againMs?: number
  readonly pauses?: Pauses
  readonly wrongKeys?: readonly WrongKey[]
}

/** Why a pass ends before its time. */
abstract class Trouble extends Error {
  readonly reason: Reason
  /** Look again then, for what can also heal elsewhere. */
  readonly againMs: number | undefined
  /** Or with pauses that grow with the time that it has lasted. */
  readonly pauses: Pauses | undefined
  /** The keys of a connector's configuration that are wrong, each with why. */
  readonly wrongKeys: readonly WrongKey[]
  /** What was found out until then. */
  also: readonly Finding[] = []

  constructor(reason: Reason, message: string, options: TroubleOptions = {}) {
    super(message)
    this.wrongKeys = options.wrongKeys ?? []
    this.reason = reason
    this.againMs = options.againMs
    this.pauses = options.pauses
  }
}

/** What a person has to put right: the pass ends, `Stalled` says why. It is looked at again when something changes. */
export class Stalled extends Trouble {
  override readonly name = 'Stalled'
}

/** What has to happen elsewhere first; the pass ends and `Reconciling` says what it waits for. */
export class Waiting extends Trouble {
  override readonly name = 'Waiting'
}

/** Runs what may end the pass, which then tells more than its reason: what was found out before, or what it means. */
export async function telling<T>(
  findings: (trouble: Trouble) => readonly Finding[],
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Trouble) error.also = findings(error)
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

export type Circumstances = {
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
const REBALANCE: Pauses = { firstMs: 1_000, maxMs: 15_000 }
const PASSING: Pauses = { firstMs: 2_000, maxMs: 30_000 }
const STALLED_AGAIN_MS = 30_000

/** What a failed pass means for the resource, and when to look again. Undefined for what is nobody's fault but ours. */
export function judge(
  error: unknown,
  circumstances: Circumstances,
): { readonly verdict: Verdict; readonly again: Again } | undefined {
  if (error instanceof Stalled) {
    const { reason, message, also, againMs = STALLED_AGAIN_MS } = error
    return { verdict: { ready: 'False', reason, message, progress: 'stuck', also }, again: { afterMs: againMs } }
  }
  if (error instanceof Waiting) {
    const { reason, message, also, againMs, pauses } = error
    const afterMs = pauses === undefined ? againMs : doubling(pauses, circumstances.sinceMs)
    const again: Again = afterMs === undefined ? 'when changed' : { afterMs }
    return { verdict: { ready: 'False', reason, message, progress: 'working', also }, again }
  }
  if (error instanceof NotAppliedError) return judge(error.cause, { ...circumstances, isApplied: false })
  if (error instanceof ClusterError) return judgeCluster(error, circumstances)
  return error instanceof RequestError ? judgeRequest(error, circumstances) : undefined
}

/** It is not the runtime's fault: neither is it blamed, nor is anything known of how the resource is doing there. */
function judgeCluster({ code, message }: ClusterError, circumstances: Circumstances) {
  const again: Again = 'after backoff'
  if (code === 'forbidden') {
    return { verdict: { ready: 'Unknown', reason: 'Forbidden', message, progress: 'stuck' } as const, again }
  }
  const kept = code === 'unreachable' ? stillReady(circumstances) : undefined
  const verdict = kept ?? ({ ready: 'Unknown', reason: 'InternalError', message, progress: 'working' } as const)
  return { verdict, again }
}

function judgeRequest(error: RequestError, circumstances: Circumstances) {
  const { runtime } = circumstances
  const again: Again = 'after backoff'
  if (error.status === 401 || error.status === 403) {
    const message = `the ${runtime.toLowerCase()} does not let the operator in: ${error.message}`
    return { verdict: { ready: 'Unknown', reason: 'Unauthorized', message, progress: 'stuck' } as const, again }
  }
  if (!error.retriable) {
    const message = `the ${runtime.toLowerCase()} refused: ${error.message}`
    return { verdict: { ready: 'False', reason: 'ConfigInvalid', message, progress: 'stuck' } as const, again }
  }
  const rebalancing = error.status === 409
  const soon: Again = rebalancing ? { afterMs: doubling(REBALANCE, circumstances.sinceMs) } : again
  const kept = stillReady(circumstances)
  if (kept !== undefined) return { verdict: kept, again: soon }
  const reason = rebalancing ? 'Rebalancing' : (`${runtime}Unreachable` as const)
  const message = rebalancing ? 'the workers are sharing out their work' : messageOf(error)
  const verdict: Verdict = {
    ready: 'Unknown',
    reason,
    message,
    ...(isPending(circumstances) && { progress: 'working' }),
  }
  return { verdict, again: soon }
}

/** What is found on its way by itself, as after a worker has gone, is not held against it for the time of grace. */
export function bridge(
  verdict: Verdict,
  circumstances: Omit<Circumstances, 'runtime'>,
): { readonly verdict: Verdict; readonly again: Again } {
  const { message, also = [] } = verdict
  const { sinceMs, graceMs } = circumstances
  const overdue: Verdict = { ready: 'Unknown', reason: 'Rebalancing', message, also }
  const kept = stillReady(circumstances)
  return {
    verdict: kept === undefined ? (sinceMs < graceMs ? verdict : overdue) : { ...kept, also },
    again: { afterMs: doubling(PASSING, sinceMs) },
  }
}

/** A pause as long as all before it. */
function doubling({ firstMs, maxMs }: Pauses, sinceMs: number): number {
  return Math.min(maxMs, Math.max(firstMs, sinceMs))
}

/** What was ready stays so during the grace period. */
function stillReady(circumstances: Omit<Circumstances, 'runtime'>): Verdict | undefined {
  const { previous, generation, isApplied = true, sinceMs, graceMs } = circumstances
  const ready = conditionOf(previous, 'Ready')
  // An older generation says nothing about this one.
  const isCurrent = isApplied && ready?.observedGeneration === generation
  if (ready?.status !== 'True' || !isCurrent || sinceMs >= graceMs) return undefined
  return { ready: 'True', reason: 'Succeeded', message: ready.message }
}

/** Whether a change of what was in force before waits for the runtime. What never was in force is not in progress. */
function isPending({ previous, generation, isApplied = true }: Omit<Circumstances, 'runtime'>): boolean {
  const ready = conditionOf(previous, 'Ready')
  if (ready === undefined) return false
  const isObserved = ready.observedGeneration === generation
  return !isApplied || !isObserved || conditionOf(previous, 'Reconciling')?.status === 'True'
}
