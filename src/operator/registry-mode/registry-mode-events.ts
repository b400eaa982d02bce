import type { EventReason, ResourceEvent } from '../cluster/cluster.ts'
import type { Resource } from '../resources/resource.ts'
import { type RegistryModePlan, type RegistryModeStep, wasSynced } from './plan-registry-mode.ts'

/** A window that closes later than this reports `WindowOverdue`: it stayed open while nothing could close it. */
const OVERDUE_MS = 60_000

/** The Events that report the executed steps of a plan. */
export function registryModeEvents(
  resource: Resource<'RegistryMode'>,
  plan: RegistryModePlan,
): readonly ResourceEvent[] {
  return [changeEvent(resource, plan), ...overdueEvents(resource, plan)]
}

function changeEvent(
  resource: Resource<'RegistryMode'>,
  { steps, readyCondition, statusFields: { window } }: RegistryModePlan,
): ResourceEvent {
  const windowConditions = (readyCondition.otherConditions ?? []).filter(({ type }) => type === 'WindowOpen')
  const note = [...steps.map(noteOf), ...windowConditions.map(({ message }) => message)].join('; ')
  const event = (reason: EventReason): ResourceEvent => ({ type: 'Normal', reason, note })
  const previous = resource.status.window
  if (window !== undefined && (window.id !== previous?.id || window.phase !== previous.phase)) {
    return event(window.phase === 'Open' ? 'WindowOpened' : 'WindowClosed')
  }
  return event(wasSynced(resource) ? 'DriftCorrected' : 'ModeChanged')
}

function noteOf(step: RegistryModeStep): string {
  switch (step.do) {
    case 'put-mode':
      return `mode ${step.mode}`
    case 'put-level':
      return `level ${step.level}`
    case 'delete-mode':
      return 'mode inherited'
    case 'delete-level':
      return 'level inherited'
  }
}

function overdueEvents(
  { status }: Resource<'RegistryMode'>,
  { statusFields: { window } }: RegistryModePlan,
): readonly ResourceEvent[] {
  const { phase, closesAt, closedAt } = window ?? {}
  if (phase !== 'Closed' || status.window?.phase === 'Closed' || closesAt === undefined || closedAt === undefined)
    return []
  if (Date.parse(closedAt) - Date.parse(closesAt) < OVERDUE_MS) return []
  const note = `the window was due to close at ${closesAt}, when the operator did not run or the registry did not respond`
  return [{ type: 'Warning', reason: 'WindowOverdue', note }]
}
