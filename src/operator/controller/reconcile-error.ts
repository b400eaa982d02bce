import type { ConditionReason } from '../../common/state-glossary.ts'
import type { ObservedCondition } from '../resources/condition.ts'
import type { PollInterval } from './requeue-delays.ts'

/** A key of a connector's configuration that its validation rejects. */
export type InvalidKey = { readonly key: string; readonly message: string }

type ReconcileErrorOptions = {
  readonly requeueAfterMs?: number
  readonly pollInterval?: PollInterval
  readonly invalidKeys?: readonly InvalidKey[]
}

/** Ends a reconcile with a reason for the condition `Ready`. */
abstract class ReconcileError extends Error {
  readonly reason: ConditionReason
  /** Set where the cause may be resolved elsewhere, without a change of the resource. */
  readonly requeueAfterMs: number | undefined
  /** Used instead of `requeueAfterMs` for a cause that may last long. */
  readonly pollInterval: PollInterval | undefined
  readonly invalidKeys: readonly InvalidKey[]
  /** The other conditions that the reconcile had observed before it failed. */
  otherConditions: readonly ObservedCondition[] = []

  constructor(reason: ConditionReason, message: string, options: ReconcileErrorOptions = {}) {
    super(message)
    this.invalidKeys = options.invalidKeys ?? []
    this.reason = reason
    this.requeueAfterMs = options.requeueAfterMs
    this.pollInterval = options.pollInterval
  }
}

/** A user has to change something: the resource becomes `Stalled`. */
export class TerminalError extends ReconcileError {
  override readonly name = 'TerminalError'
}

/** Something else has to happen first: the resource stays `Reconciling`. */
export class DependencyNotReady extends ReconcileError {
  override readonly name = 'DependencyNotReady'
}

/** Runs `run` and adds conditions to the `TerminalError` or `DependencyNotReady` that it throws. */
export async function withConditionsOnError<T>(
  conditionsFor: (error: ReconcileError) => readonly ObservedCondition[],
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ReconcileError) error.otherConditions = conditionsFor(error)
    throw error
  }
}

/**
 * A runtime failed before the declared state was applied to it. The readiness grace period does not apply: a
 * configuration that the runtime does not have must never be reported as Ready.
 */
export class NotAppliedError extends Error {
  override readonly name = 'NotAppliedError'
  override readonly cause: Error

  constructor(cause: Error) {
    super(cause.message, { cause })
    this.cause = cause
  }
}

/** The error of the runtime behind a `NotAppliedError`; any other error itself. */
export function causeOf(error: unknown): unknown {
  return error instanceof NotAppliedError ? error.cause : error
}
