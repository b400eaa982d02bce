import type { EventReason, ResourceEvent } from '../cluster/cluster.ts'
import type { Condition } from '../resources/common-status.ts'
import { findCondition } from '../resources/condition.ts'

/** Reasons of `Ready` that are reported as Events when they begin. */
const REPORTED_REASONS: ReadonlySet<string> = new Set<EventReason>([
  'AutoRestartExhausted',
  'Incompatible',
  'ReferencePending',
  'ReferenceCycle',
  'Conflict',
  'NotAllowed',
  'WorkerUnreachable',
  'RegistryUnreachable',
  'DeletionBlocked',
])

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
  if (ready !== undefined && REPORTED_REASONS.has(ready.reason)) {
    events.push({ type: 'Warning', reason: ready.reason as EventReason, note: ready.message })
  }
  const synced = began('Synced')
  if (synced?.reason === 'Drifted') events.push({ type: 'Warning', reason: 'DriftDetected', note: synced.message })
  const suspended = began('Suspended')
  if (suspended !== undefined) events.push({ type: 'Normal', reason: 'Suspended', note: suspended.message })
  return events
}
