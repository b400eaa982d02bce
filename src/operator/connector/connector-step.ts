import type { ConnectorOffset, ConnectorProperties, RequestedState } from '../../clients/worker-client.ts'
import type { ConditionReason } from '../../common/state-glossary.ts'
import type { EventReason } from '../cluster/cluster.ts'
import type { Requeue } from '../controller/controller.ts'
import type { ReadyCondition } from '../resources/condition.ts'
import type { ConnectorStatus } from '../resources/connector.ts'

export type ConnectorStep =
  | { readonly do: 'create'; readonly config: ConnectorProperties; readonly state: RequestedState }
  | { readonly do: 'put-config'; readonly config: ConnectorProperties }
  | { readonly do: 'pause' | 'resume' | 'stop' | 'reset-offsets' | 'delete' }
  | { readonly do: 'restart'; readonly onlyFailed: boolean; readonly includeTasks: boolean }
  | { readonly do: 'restart-task'; readonly task: number }
  | { readonly do: 'alter-offsets'; readonly offsets: readonly ConnectorOffset[] }

/** The next steps, and the status and the requeue that go with them. */
export type ConnectorPlan = {
  readonly steps: readonly ConnectorStep[]
  readonly readyCondition: ReadyCondition
  readonly statusFields: Partial<Omit<ConnectorStatus, 'observedGeneration' | 'conditions'>>
  readonly requeue: Requeue
  /** The state ends without an action, such as a rebalance. */
  readonly isTransient?: boolean
  /** The connector was just created and is expected to run in a moment. */
  readonly mayDeferStatus?: boolean
  /** Event to record for the steps; its note is the message of `readyCondition`. */
  readonly event?: EventReason
}

export type PlanContext = {
  readonly nowMs: number
  /** From 0 to 1; spreads restarts over time. */
  readonly random: number
  /** Requeue interval while nothing is expected to change. */
  readonly observeIntervalMs: number
  /** Requeue interval of a connector that is Ready. */
  readonly healthyResyncMs: number
}

/** How soon the effect of a step is checked. */
export const STEP_CHECK_MS = 250

/** A plan that takes these steps and reports `Reconciling`. */
export function planSteps(
  reason: ConditionReason,
  message: string,
  steps: readonly ConnectorStep[],
  statusFields: ConnectorPlan['statusFields'] = {},
): ConnectorPlan {
  return {
    steps,
    readyCondition: { status: 'False', reason, message, progress: 'reconciling' },
    statusFields,
    requeue: { afterMs: STEP_CHECK_MS },
  }
}
