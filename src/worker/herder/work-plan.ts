import type { TaskId } from '../../clients/worker.ts'
import type { Work } from '../membership/connect-protocol.ts'
import type { RawConfig, TargetState } from '../stores/config-codec.ts'
import type { ConfigState, ConnectorConfig } from '../stores/config-state.ts'
import type { StatusKey } from '../stores/status-codec.ts'
import type { StatusState } from '../stores/status-state.ts'

/** What one worker has started, and with which configuration. Configurations are the very objects of the config state. */
export type Started = {
  readonly connectors: ReadonlyMap<string, { readonly config: RawConfig; readonly target: TargetState }>
  readonly tasks: ReadonlyMap<string, { readonly id: TaskId; readonly config: RawConfig; readonly target: TargetState }>
}

export type Step =
  | { readonly do: 'stop-connector'; readonly connector: string }
  | { readonly do: 'stop-task'; readonly id: TaskId }
  | { readonly do: 'start-connector'; readonly connector: ConnectorConfig }
  | { readonly do: 'start-task'; readonly id: TaskId; readonly config: RawConfig; readonly target: TargetState }
  | { readonly do: 'set-connector'; readonly connector: ConnectorConfig }
  | { readonly do: 'set-task'; readonly id: TaskId; readonly target: TargetState }

type Configs = Pick<ConfigState, 'connector'>

/** What the group gave a worker. */
type Assigned = { readonly work: Work; has(owned: string | TaskId): boolean }

/**
 * Everything between what a worker runs and what it should run, of these connectors only or of all. Stops come first; no
 * steps means done. Of a few connectors it costs by these: it is done for every record of the config topic.
 */
export function planWork(
  assigned: Assigned,
  configs: Configs,
  started: Started,
  only?: ReadonlySet<string>,
): readonly Step[] {
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

/** Of these connectors what is assigned, as far as it is configured: what is not is stopped. */
function workOf(names: ReadonlySet<string>, assigned: Assigned, configs: Configs): Work {
  const connectors = [...names].filter((name) => assigned.has(name))
  const tasks = [...names].flatMap((connector) =>
    (configs.connector(connector)?.tasks ?? []).map((_, task) => ({ connector, task })),
  )
  return { connectors, tasks: tasks.filter((id) => assigned.has(id)) }
}

type StartedTask = NonNullable<ReturnType<Started['tasks']['get']>>
type StartedConnector = NonNullable<ReturnType<Started['connectors']['get']>>

function keepTask({ id, config, target }: StartedTask, wanted: ReadonlySet<string>, configs: Configs): readonly Step[] {
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
  { config, target }: StartedConnector,
  wanted: ReadonlySet<string>,
  configs: Configs,
): readonly Step[] {
  const next = configs.connector(name)
  if (!wanted.has(name) || next === undefined) return [{ do: 'stop-connector', connector: name }]
  if (next.config !== config) {
    return [
      { do: 'stop-connector', connector: name },
      { do: 'start-connector', connector: next },
    ]
  }
  return next.target === target ? [] : [{ do: 'set-connector', connector: next }]
}

function begin(name: string, configs: Configs, started: Started): readonly Step[] {
  const connector = configs.connector(name)
  return connector === undefined || started.connectors.has(name) ? [] : [{ do: 'start-connector', connector }]
}

function beginTask(id: TaskId, configs: Configs, started: Started): readonly Step[] {
  const connector = configs.connector(id.connector)
  const config = connector?.tasks[id.task]
  if (connector === undefined || config === undefined || connector.target === 'STOPPED') return []
  return started.tasks.has(taskKey(id)) ? [] : [{ do: 'start-task', id, config, target: connector.target }]
}

/** All work there is: what the leader shares out. */
export function configuredWork(configs: Pick<ConfigState, 'connectors'>): Work {
  const connectors = configs.connectors()
  return {
    connectors: connectors.map(({ name }) => name),
    tasks: connectors.flatMap(({ name, tasks }) => tasks.map((_, task) => ({ connector: name, task }))),
  }
}

/** A leader's duty: status records of what is configured no more. */
export function planForgetting(configs: Configs, statuses: StatusState): readonly StatusKey[] {
  return statuses.names().flatMap((name) => {
    const connector = configs.connector(name)
    const tasks = statuses.tasks(name).map(([task]) => task)
    const gone = tasks.filter((task) => task >= (connector?.tasks.length ?? 0))
    const forgotten: StatusKey[] = gone.map((task) => ({ kind: 'task', connector: name, task }))
    if (connector !== undefined) return forgotten
    const topics = statuses.topics(name).map((topic): StatusKey => ({ kind: 'topic', connector: name, topic }))
    return [...forgotten, ...topics, { kind: 'connector', connector: name }]
  })
}

export function taskKey({ connector, task }: TaskId): string {
  return `${connector}-${task}`
}
