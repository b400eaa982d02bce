import type { ConditionReason } from '../../common/state-glossary.ts'
import { truncateBytes } from '../../common/truncate-text.ts'
import type { Condition } from './common-status.ts'

/**
 * The condition `Ready` and what follows from it. `reconciling`: the resource gets Ready without a user
 * (`Reconciling`); `stalled`: a user has to change something (`Stalled`); neither: healthy, or the runtime does not
 * answer.
 */
export type ReadyCondition = {
  readonly status: Condition['status']
  readonly reason: ConditionReason
  readonly message: string
  readonly progress?: 'reconciling' | 'stalled'
  /** Conditions specific to the kind, such as `Synced` or `Latest`. */
  readonly otherConditions?: readonly ObservedCondition[]
}

export type ObservedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/** A status with several conditions must stay small: each list of resources contains it. */
const MESSAGE_BYTES_MAX = 4_096

/**
 * Builds the list of conditions. `Ready` is always present, `Reconciling` and `Stalled` only when True and never
 * together. A condition whose status did not change keeps its transition time.
 */
export function buildConditions(
  readyCondition: ReadyCondition,
  previous: readonly Condition[],
  generation: number,
  nowMs: number,
): readonly Condition[] {
  const { status: ready, reason, message, progress, otherConditions = [] } = readyCondition
  const findings: ObservedCondition[] = [{ type: 'Ready', status: ready, reason, message }, ...otherConditions]
  if (progress === 'reconciling') findings.push({ type: 'Reconciling', status: 'True', reason, message })
  if (progress === 'stalled') findings.push({ type: 'Stalled', status: 'True', reason, message })
  return findings.map((finding) => {
    const before = previous.find(({ type }) => type === finding.type)
    const unchanged = before !== undefined && before.status === finding.status
    return {
      ...finding,
      message: truncateBytes(finding.message, MESSAGE_BYTES_MAX),
      observedGeneration: generation,
      lastTransitionTime: unchanged ? before.lastTransitionTime : new Date(nowMs).toISOString(),
    }
  })
}

/** Whether the resource is Ready in this generation. */
export function isReady(
  status: { readonly observedGeneration: number; readonly conditions: readonly Condition[] },
  generation: number,
): boolean {
  return status.observedGeneration === generation && findCondition(status.conditions, 'Ready')?.status === 'True'
}

export function findCondition(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type)
}
