import type { ConfigRecord } from '../stores/config-codec.ts'
import type { StatusState } from '../stores/status-state.ts'

/** A request to restart a connector with its tasks, or only what has failed, as the config topic stores it. */
export type RestartRequest = Extract<ConfigRecord, { kind: 'restart' }>

export type RestartPlan = { readonly connector: boolean; readonly tasks: readonly number[] }

/** Whether a request restarts the connector, and which of its tasks. Their stored statuses decide. */
export function planRestart(
  statuses: Pick<StatusState, 'connector' | 'tasks'>,
  { connector, includeTasks, onlyFailed }: RestartRequest,
): RestartPlan {
  const isAffected = (status: { readonly state: string } | undefined) => !onlyFailed || status?.state === 'FAILED'
  const tasks = includeTasks ? statuses.tasks(connector).filter(([, status]) => isAffected(status)) : []
  return { connector: isAffected(statuses.connector(connector)), tasks: tasks.map(([task]) => task) }
}
