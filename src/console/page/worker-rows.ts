import type { ListedLoad } from './connector-rows.ts'
import type { ExpandedConnectors } from './wire.ts'

/** `GET /ui/api/connector-metrics`: what each worker of a group knows of itself and its tasks. */
export type GroupLoads = {
  readonly workers: readonly {
    readonly worker: string
    readonly connectors: Readonly<Record<string, ListedLoad>>
    readonly process?: WorkerProcessLoad
  }[]
  /** Workers that did not respond, with the reason. */
  readonly missing?: readonly string[]
}
/** `cpu` is in cores. */
export type WorkerProcessLoad = { readonly isLeader: boolean; readonly cpu: number; readonly memoryBytes: number }

/** A worker of a group. */
export type WorkerRow = {
  readonly worker: string
  readonly connectors: number
  readonly tasks: number
  readonly failedTasks: number
  /** Undefined for workers that do not report it. */
  readonly process: WorkerProcessLoad | undefined
}

/** The workers that run something by the statuses of connectors, or that report metrics, in the order of their names. */
export function workerRows(connectors: ExpandedConnectors, metrics: GroupLoads | undefined): readonly WorkerRow[] {
  const statuses = Object.values(connectors).flatMap(({ status }) => (status ? [status] : []))
  const tasks = Map.groupBy(
    statuses.flatMap((status) => status.tasks).filter(({ state }) => state !== 'UNASSIGNED'),
    ({ worker_id: worker }) => worker,
  )
  const running = Map.groupBy(statuses, ({ connector }) => connector.worker_id)
  const processes = new Map(metrics?.workers.map(({ worker, process }) => [worker, process]))
  const names = new Set([...processes.keys(), ...running.keys(), ...tasks.keys()].filter(Boolean))
  return [...names].sort().map((worker) => ({
    worker,
    connectors: running.get(worker)?.length ?? 0,
    tasks: tasks.get(worker)?.length ?? 0,
    failedTasks: tasks.get(worker)?.filter(({ state }) => state === 'FAILED').length ?? 0,
    process: processes.get(worker),
  }))
}

/** The states of all tasks and how many have each, the most frequent first. */
export function taskStates(connectors: ExpandedConnectors): readonly (readonly [string, number])[] {
  const tasks = Object.values(connectors).flatMap(({ status }) => status?.tasks ?? [])
  const byState = Map.groupBy(tasks, ({ state }) => state)
  return [...byState].map(([state, ofState]) => [state, ofState.length] as const).sort(([, a], [, b]) => b - a)
}
