import { REPORTED_REASONS, type ResourceEvent } from '../cluster/cluster.ts'
import type { Condition } from '../resources/common-status.ts'
import { findCondition } from '../resources/condition.ts'

/** The Events for the difference between two lists of conditions. */
export function conditionEvents(before: readonly Condition[], after: readonly Condition[]): readonly ResourceEvent[] {
  const began = (type: string) => {
    const condition = findCondition(after, type)
    const previous = findCondition(before, type)
    const isNew = previous?.status !== condition?.status || previous?.reason !== condition?.reason
    return condition !== undefined && isNew ? condition : undefined
  }
  const events: ResourceEvent[] = []
  const ready = began('Ready')
  const reported = REPORTED_REASONS.find((reason) => reason === ready?.reason)
  if (ready !== undefined && reported !== undefined) {
    events.push({ type: 'Warning', reason: reported, note: ready.message })
  }
  const synced = began('Synced')
  if (synced?.reason === 'Drifted') events.push({ type: 'Warning', reason: 'DriftDetected', note: synced.message })
  const suspended = began('Suspended')
  if (suspended !== undefined) events.push({ type: 'Normal', reason: 'Suspended', note: suspended.message })
  return events
}
