import type { Resource } from '../resources/resource.ts'
import type { ConnectorPlan, PlanContext } from './connector-plan.ts'
import type { DesiredConnector } from './desired.ts'
import type { ExistingConnector } from './observed.ts'

/** One Secret may be of many connectors: they start again one after the other, not at once. */
const SPREAD_MS = 30_000

/**
 * A plan for what is otherwise as it should be, with what changed Secrets ask for: a worker reads them when tasks start, so
 * after a change they are started again, once.
 */
export function withSecretRestart(
  planned: ConnectorPlan,
  { status }: Resource<'Connector'>,
  { inputsHash, missing }: DesiredConnector,
  { state }: ExistingConnector,
  { nowMs, random }: PlanContext,
): ConnectorPlan {
  const { statusFields, requeue } = planned
  if (missing.length > 0) return planned
  const wasKnown = inputsHash !== undefined && status.inputsHash !== undefined
  // A stopped connector has no tasks: those that it gets read what is there then.
  if (!wasKnown || inputsHash === status.inputsHash || state === 'STOPPED') {
    return { ...planned, statusFields: { ...statusFields, ...settledAt(inputsHash) } }
  }
  const writtenMs = status.inputsRestartTime === undefined ? undefined : Date.parse(status.inputsRestartTime)
  // A clock that was set back does not put it off for longer.
  const dueMs = Math.min(writtenMs ?? nowMs + random * SPREAD_MS, nowMs + SPREAD_MS)
  if (dueMs > nowMs) {
    const waitMs = dueMs - nowMs
    return {
      ...planned,
      statusFields: { ...statusFields, inputsRestartTime: new Date(dueMs).toISOString() },
      requeue: { afterMs: typeof requeue === 'string' ? waitMs : Math.min(requeue.afterMs, waitMs) },
    }
  }
  const message = 'a Secret that it uses has changed: restarting'
  return {
    steps: [{ do: 'restart', onlyFailed: false, includeTasks: true }],
    readyCondition: { status: 'False', reason: 'Restarting', message, progress: 'reconciling' },
    statusFields: { ...statusFields, ...settledAt(inputsHash) },
    requeue: { afterMs: 250 },
    event: 'RestartRequested',
  }
}

function settledAt(inputsHash: string | undefined): ConnectorPlan['statusFields'] {
  return { inputsHash, inputsRestartTime: undefined } as ConnectorPlan['statusFields']
}
