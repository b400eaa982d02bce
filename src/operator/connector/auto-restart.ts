import { truncateBytes } from '../../common/truncate-text.ts'
import type { ReadyCondition } from '../resources/condition.ts'
import type { ConnectorStatus } from '../resources/connector.ts'
import { durationMs } from '../resources/field-schemas.ts'
import type { Resource } from '../resources/resource.ts'
import { type ExistingConnector, rootCauseIn } from './observed-connector.ts'

/** Leaves room in the message of a condition for what follows. */
const REASON_BYTES_MAX = 1_024

type Restarts = NonNullable<ConnectorStatus['autoRestart']>

export type AutoRestartPlan = {
  readonly restart: boolean
  /** The counters to store in the status; undefined: none. */
  readonly restarts: Restarts | undefined
  readonly readyCondition: ReadyCondition
  readonly afterMs: number | undefined
}

/** The attempts for this generation. A new generation starts at 0. */
function attemptsOf({ status, metadata }: Resource<'Connector'>): Restarts {
  const { autoRestart } = status
  const generation = autoRestart?.observedGeneration ?? status.observedGeneration
  return autoRestart !== undefined && generation === metadata.generation
    ? autoRestart
    : { count: 0, observedGeneration: metadata.generation }
}

/** Decides about a failed connector or failed tasks: wait, restart them, or report `Stalled`. */
export function planAutoRestart(
  resource: Resource<'Connector'>,
  observed: ExistingConnector,
  nowMs: number,
  random: number,
): AutoRestartPlan {
  const { enabled, maxRestarts, initialBackoff, maxBackoff } = resource.spec.autoRestart
  const known = attemptsOf(resource)
  const { reason, what } = failureOf(observed)
  const stuck = (why: ReadyCondition['reason'], message: string, restarts: Restarts | undefined): AutoRestartPlan => ({
    restart: false,
    restarts,
    readyCondition: { status: 'False', reason: why, message, progress: 'stalled' },
    afterMs: undefined,
  })
  if (resource.spec.state !== 'Running')
    return stuck(reason, `${what}; restarted once spec.state is Running`, undefined)
  if (!enabled) return stuck(reason, what, undefined)
  if (maxRestarts !== undefined && known.count >= maxRestarts) {
    const message = `${what}; it was restarted ${known.count} times, the limit`
    return stuck('AutoRestartExhausted', message, { ...known, exhausted: true })
  }
  // A restart time too far in the future means that the clock was set back: wait for the longest backoff at most.
  const longestMs = durationMs(maxBackoff)
  const pauseMs =
    Math.min(durationMs(initialBackoff) * 2 ** Math.min(known.count, 30), longestMs) * (0.8 + random * 0.4)
  const writtenMs = known.nextRestartTime === undefined ? nowMs + pauseMs : Date.parse(known.nextRestartTime)
  const dueMs = Math.min(writtenMs, nowMs + longestMs * 1.2)
  const waits = dueMs > nowMs
  const { nextRestartTime: _, ...past } = known
  const next = new Date(dueMs).toISOString()
  const message = waits
    ? `${what}; restart ${known.count + 1} at ${next.slice(11, 19)} UTC`
    : `${what}; restarting it now`
  return {
    restart: !waits,
    restarts: waits
      ? { ...past, nextRestartTime: next }
      : {
          count: known.count + 1,
          observedGeneration: resource.metadata.generation,
          lastRestartTime: new Date(nowMs).toISOString(),
          lastRestartReason: what,
        },
    readyCondition: { status: 'False', reason, message, progress: 'reconciling' },
    afterMs: waits ? dueMs - nowMs : 1_000,
  }
}

/** The counters, cleared when the connector has been healthy for `resetAfter` since its last restart. */
export function autoRestartWhenHealthy({ spec, status }: Resource<'Connector'>, nowMs: number): Restarts | undefined {
  const restarts = status.autoRestart
  if (restarts?.lastRestartTime === undefined) return undefined
  const healthyMs = nowMs - Date.parse(restarts.lastRestartTime)
  const { nextRestartTime: _, ...past } = restarts
  return healthyMs > durationMs(spec.autoRestart.resetAfter) ? undefined : past
}

function failureOf(observed: ExistingConnector): {
  readonly reason: 'ConnectorFailed' | 'TaskFailed'
  readonly what: string
} {
  const failed = observed.tasks.filter(({ state }) => state === 'FAILED')
  const [first] = failed
  const isConnector = observed.state === 'FAILED' || first === undefined
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : ''
  const subject = isConnector ? 'the connector failed' : `task ${first.id} failed${more}`
  const { trace = 'no reason given' } = isConnector ? observed : first
  return {
    reason: isConnector ? 'ConnectorFailed' : 'TaskFailed',
    what: truncateBytes(`${subject}: ${rootCauseIn(trace)}`, REASON_BYTES_MAX),
  }
}
