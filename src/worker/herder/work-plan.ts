import type { TaskId } from '../../clients/worker-client.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConnectorsAndTasks } from '../membership/connect-protocol.ts'
import { taskKey } from '../model/task-key.ts'
import type { StoredTargetState } from '../stores/config-codec.ts'
import type { ConfigState, ConnectorState } from '../stores/config-state.ts'
import type { StatusKey, StatusSubject } from '../stores/status-codec.ts'
import type { StatusState } from '../stores/status-state.ts'

/** The work that this worker has started. Configurations are identical objects to those of the config state. */
export type StartedWork = {
  readonly connectors: ReadonlyMap<string, Pick<ConnectorState, 'config' | 'target' | 'targetRevision'>>
  readonly tasks: ReadonlyMap<
    string,
    { readonly id: TaskId; readonly config: RawConfig; readonly target: StoredTargetState }
  >
}

export type WorkStep =
  | { readonly do: 'stop-connector'; readonly connector: string }
  | { readonly do: 'stop-task'; readonly id: TaskId }
  | { readonly do: 'start-connector'; readonly connector: ConnectorState }
  | { readonly do: 'start-task'; readonly id: TaskId; readonly config: RawConfig; readonly target: StoredTargetState }
  | { readonly do: 'set-connector'; readonly connector: ConnectorState }
  | { readonly do: 'set-task'; readonly id: TaskId; readonly target: StoredTargetState }

export function isStop(step: WorkStep): boolean {
  return step.do === 'stop-task' || step.do === 'stop-connector'
}

type Configs = Pick<ConfigState, 'connector'>

/** The assignment of this worker. */
type Assigned = { readonly work: ConnectorsAndTasks; has(owned: string | TaskId): boolean }

/**
 * Returns the steps from the work that runs on a worker to the work that should run, for the connectors in `only` or
 * for all. Stops come first; an empty list means nothing is left to do. With `only`, the cost depends on those
 * connectors alone: each config record calls it.
 */
export function planWork(
  assigned: Assigned,
  configs: Configs,
  started: StartedWork,
  only?: ReadonlySet<string>,
): readonly WorkStep[] {
  const { connectors, tasks } = only === undefined ? assigned.work : workOf(only, assigned, configs)
  const wanted = new Set(connectors)
  const wantedTasks = new Set(tasks.map(taskKey))
  const runningTasks = [...started.tasks.values()].filter(({ id }) => only?.has(id.connector) ?? true)
  const running = [...(only ?? started.connectors.keys())].flatMap((name) => {
    const connector = started.connectors.get(name)
    return connector === undefined ? [] : [[name, connector] as const]
  })
  return [
    ...runningTasks.flatMap((task) => keepTask(task, wantedTasks, configs)),
    ...running.flatMap(([name, connector]) => keepConnector(name, connector, wanted, configs)),
    ...connectors.flatMap((name) => begin(name, configs, started)),
    ...tasks.flatMap((id) => beginTask(id, configs, started)),
  ]
}

/** The part of these connectors that is assigned and configured. */
function workOf(names: ReadonlySet<string>, assigned: Assigned, configs: Configs): ConnectorsAndTasks {
  const connectors = [...names].filter((name) => assigned.has(name))
  const tasks = [...names].flatMap((connector) =>
    (configs.connector(connector)?.tasks ?? []).map((_, task) => ({ connector, task })),
  )
  return { connectors, tasks: tasks.filter((id) => assigned.has(id)) }
}

type StartedTask = NonNullable<ReturnType<StartedWork['tasks']['get']>>
type StartedConnector = NonNullable<ReturnType<StartedWork['connectors']['get']>>

function keepTask(
  { id, config, target }: StartedTask,
  wanted: ReadonlySet<string>,
  configs: Configs,
): readonly WorkStep[] {
  const connector = configs.connector(id.connector)
  const next = connector?.tasks[id.task]
  if (!wanted.has(taskKey(id)) || connector === undefined || next === undefined || connector.target === 'STOPPED') {
    return [{ do: 'stop-task', id }]
  }
  if (next !== config)
    return [
      { do: 'stop-task', id },
      { do: 'start-task', id, config: next, target: connector.target },
    ]
  return connector.target === target ? [] : [{ do: 'set-task', id, target: connector.target }]
}

function keepConnector(
  name: string,
  { config, target, targetRevision }: StartedConnector,
  wanted: ReadonlySet<string>,
  configs: Configs,
): readonly WorkStep[] {
  const next = configs.connector(name)
  if (!wanted.has(name) || next === undefined) return [{ do: 'stop-connector', connector: name }]
  if (next.config !== config) {
    return [
      { do: 'stop-connector', connector: name },
      { do: 'start-connector', connector: next },
    ]
  }
  // Its tasks may have been removed meanwhile: this worker may read at once that it was stopped and resumed.
  if (next.target === target && next.targetRevision === targetRevision) return []
  return [{ do: 'set-connector', connector: next }]
}

function begin(name: string, configs: Configs, started: StartedWork): readonly WorkStep[] {
  const connector = configs.connector(name)
  return connector === undefined || started.connectors.has(name) ? [] : [{ do: 'start-connector', connector }]
}

function beginTask(id: TaskId, configs: Configs, started: StartedWork): readonly WorkStep[] {
  const connector = configs.connector(id.connector)
  const config = connector?.tasks[id.task]
  if (connector === undefined || config === undefined || connector.target === 'STOPPED') return []
  return started.tasks.has(taskKey(id)) ? [] : [{ do: 'start-task', id, config, target: connector.target }]
}

/** Whether a task is configured like this, and not stopped. */
export function isConfiguredTask(configs: Configs, { connector, task }: TaskId, config: RawConfig): boolean {
  const configured = configs.connector(connector)
  return configured?.tasks[task] === config && configured.target !== 'STOPPED'
}

/** All configured connectors and tasks, which the leader assigns to workers. */
export function configuredWork(configs: Pick<ConfigState, 'connectors'>): ConnectorsAndTasks {
  const connectors = configs.connectors()
  return {
    connectors: connectors.map(({ name }) => name),
    tasks: connectors.flatMap(({ name, tasks }) => tasks.map((_, task) => ({ connector: name, task }))),
  }
}

/** Whether the connector or task of a status no longer exists. */
export function isObsoleteStatus(configs: Configs, status: StatusSubject): boolean {
  const connector = configs.connector(status.connector)
  return connector === undefined || (status.kind === 'task' && status.task >= connector.tasks.length)
}

/** Keys of the status records whose connector or task no longer exists. The leader deletes them. */
export function findObsoleteStatuses(
  configs: Configs,
  statuses: StatusState,
  names: readonly string[] = statuses.names(),
): readonly StatusKey[] {
  return names.flatMap((name) => {
    const tasks = statuses.tasks(name).map(([task]) => ({ kind: 'task', connector: name, task }) as const)
    const taskKeys = tasks.filter((key) => isObsoleteStatus(configs, key))
    if (configs.connector(name) !== undefined) return taskKeys
    const topics = statuses.topics(name).map((topic): StatusKey => ({ kind: 'topic', connector: name, topic }))
    return [...taskKeys, ...topics, { kind: 'connector', connector: name }]
  })
}
