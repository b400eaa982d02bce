import type { Resource } from '../resources/resource.ts'
import type { ConnectorPlan, PlanContext } from './connector-step.ts'
import type { DesiredConnector } from './desired-connector.ts'
import type { ExistingConnector } from './observed-connector.ts'

/** Spreads the restarts of connectors that use the same Secret. */
const SPREAD_MS = 30_000

/**
 * Adds a restart to the plan of a healthy connector when its Secrets have changed: a worker reads Secrets only when
 * tasks start.
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
  // A stopped connector has no tasks; new tasks read the current Secrets.
  if (!wasKnown || inputsHash === status.inputsHash || state === 'STOPPED') {
    return { ...planned, statusFields: { ...statusFields, ...settledAt(inputsHash) } }
  }
  const writtenMs = status.inputsRestartTime === undefined ? undefined : Date.parse(status.inputsRestartTime)
  // A clock that was set back does not delay the restart further.
  const dueMs = Math.min(writtenMs ?? nowMs + random * SPREAD_MS, nowMs + SPREAD_MS)
  if (dueMs > nowMs) {
    const waitMs = dueMs - nowMs
    return {
      ...planned,
      statusFields: { ...statusFields, inputsRestartTime: new Date(dueMs).toISOString() },
      requeue: { afterMs: typeof requeue === 'string' ? waitMs : Math.min(requeue.afterMs, waitMs) },
    }
  }
  const message = 'restarting because a Secret has changed'
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
