import { type Endpoint, RequestError, request } from './http.ts'

// What a connector worker takes and answers, as Kafka Connect 4.3 does. Members that are absent on the wire are absent here.

export type ConnectorType = 'source' | 'sink' | 'unknown'
export type ConnectorConfig = Readonly<Record<string, string>>
/** What a person asked for. */
export type TargetState = 'RUNNING' | 'PAUSED' | 'STOPPED'
/** What is. STOPPED is of connectors only. */
export type RunState = 'UNASSIGNED' | 'RUNNING' | 'PAUSED' | 'FAILED' | 'RESTARTING' | 'STOPPED' | 'DESTROYED'

export type TaskId = { readonly connector: string; readonly task: number }
export type ConnectorInfo = {
  readonly name: string
  readonly config: ConnectorConfig
  readonly tasks: readonly TaskId[]
  readonly type: ConnectorType
}

export type StatusOf = {
  readonly state: RunState
  /** `host:port` of the worker that has it. */
  readonly worker_id: string
  readonly version?: string
  /** Why it failed; a stack of causes as text. */
  readonly trace?: string
}
export type TaskStatus = StatusOf & { readonly id: number }
export type ConnectorStatus = {
  readonly name: string
  readonly connector: StatusOf
  readonly tasks: readonly TaskStatus[]
  readonly type: ConnectorType
}

/** A connector can lack its status for a moment after it was made. */
export type ExpandedConnector = { readonly info?: ConnectorInfo; readonly status?: ConnectorStatus }

export type OffsetPart = Readonly<Record<string, unknown>>
/** For a sink: partition `{kafka_topic, kafka_partition}`, offset `{kafka_offset}`. A null offset forgets the partition. */
export type ConnectorOffset = { readonly partition: OffsetPart | null; readonly offset: OffsetPart | null }

export type ConfigKey = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly default_value: string | null
  readonly importance: string
  readonly documentation: string
  readonly group: string | null
  readonly order_in_group: number
  readonly width: string
  readonly display_name: string
  readonly dependents: readonly string[]
}
export type ConfigValue = {
  readonly name: string
  readonly value: string | null
  readonly recommended_values: readonly string[]
  readonly errors: readonly string[]
  readonly visible: boolean
}
export type ConfigValidation = {
  readonly name: string
  readonly error_count: number
  readonly groups: readonly string[]
  readonly configs: readonly { readonly definition: ConfigKey | null; readonly value: ConfigValue }[]
}
export type PluginInfo = { readonly class: string; readonly type: string; readonly version?: string }
export type WorkerInfo = { readonly version: string; readonly commit: string; readonly kafka_cluster_id: string }

/**
 * Every call rejects with a `RequestError`; status 404 when there is no such connector. A worker that is just
 * rebalancing answers 409, which is retriable here; the 409 of `create` for a name that is taken is not.
 */
export interface WorkerClient {
  info(): Promise<WorkerInfo>
  /** All connectors by name, with info and status. */
  list(): Promise<Readonly<Record<string, ExpandedConnector>>>
  get(name: string): Promise<ConnectorInfo>
  status(name: string): Promise<ConnectorStatus>
  create(name: string, config: ConnectorConfig, initialState?: TargetState): Promise<ConnectorInfo>
  /** Makes or changes it. */
  putConfig(name: string, config: ConnectorConfig): Promise<ConnectorInfo>
  delete(name: string): Promise<void>
  pause(name: string): Promise<void>
  resume(name: string): Promise<void>
  stop(name: string): Promise<void>
  /** Answers the status at once, before it happened; undefined when only the connector itself was restarted. */
  restart(
    name: string,
    options?: { readonly includeTasks?: boolean; readonly onlyFailed?: boolean },
  ): Promise<ConnectorStatus | undefined>
  restartTask(name: string, task: number): Promise<void>
  topics(name: string): Promise<readonly string[]>
  offsets(name: string): Promise<readonly ConnectorOffset[]>
  /** Both only while the connector is STOPPED. They answer with a sentence that says what was done. */
  alterOffsets(name: string, offsets: readonly ConnectorOffset[]): Promise<string>
  resetOffsets(name: string): Promise<string>
  /** `plugin` is the value of `connector.class`. */
  validate(plugin: string, config: ConnectorConfig): Promise<ConfigValidation>
  plugins(options?: { readonly connectorsOnly?: boolean }): Promise<readonly PluginInfo[]>
}

export function createWorkerClient(endpoint: Endpoint): WorkerClient {
  const call = async (method: Method, path: string, rest: { body?: unknown; query?: Query } = {}) =>
    request(endpoint, { method, path, ...rest }).catch(retryRebalance)
  const info = async (method: Method, path: string, body?: unknown) =>
    (await call(method, path, { body })) as ConnectorInfo
  const message = async (method: Method, path: string, body?: unknown) =>
    ((await call(method, path, { body })) as { readonly message: string }).message

  return {
    info: async () => (await call('GET', '/')) as WorkerInfo,
    list: async () => (await call('GET', '/connectors?expand=info&expand=status')) as Record<string, ExpandedConnector>,
    get: (name) => info('GET', pathOf(name)),
    status: async (name) => (await call('GET', `${pathOf(name)}/status`)) as ConnectorStatus,
    create: (name, config, initialState) =>
      info('POST', '/connectors', { name, config, ...(initialState ? { initial_state: initialState } : {}) }),
    putConfig: (name, config) => info('PUT', `${pathOf(name)}/config`, config),
    delete: async (name) => void (await call('DELETE', pathOf(name))),
    pause: async (name) => void (await call('PUT', `${pathOf(name)}/pause`)),
    resume: async (name) => void (await call('PUT', `${pathOf(name)}/resume`)),
    stop: async (name) => void (await call('PUT', `${pathOf(name)}/stop`)),
    restart: async (name, query = {}) =>
      (await call('POST', `${pathOf(name)}/restart`, { query })) as ConnectorStatus | undefined,
    restartTask: async (name, task) => void (await call('POST', `${pathOf(name)}/tasks/${task}/restart`)),
    topics: async (name) =>
      ((await call('GET', `${pathOf(name)}/topics`)) as Record<string, { topics: string[] }>)[name]?.topics ?? [],
    offsets: async (name) => ((await call('GET', `${pathOf(name)}/offsets`)) as { offsets: ConnectorOffset[] }).offsets,
    alterOffsets: (name, offsets) => message('PATCH', `${pathOf(name)}/offsets`, { offsets }),
    resetOffsets: (name) => message('DELETE', `${pathOf(name)}/offsets`),
    validate: async (plugin, body) =>
      (await call('PUT', `/connector-plugins/${encodeURIComponent(plugin)}/config/validate`, {
        body,
      })) as ConfigValidation,
    plugins: async ({ connectorsOnly } = {}) =>
      (await call('GET', '/connector-plugins', { query: { connectorsOnly } })) as readonly PluginInfo[],
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Query = Readonly<Record<string, string | number | boolean | undefined>>

function pathOf(name: string): string {
  return `/connectors/${encodeURIComponent(name)}`
}

/** Only the text tells the two kinds of 409 apart. */
function retryRebalance(error: unknown): never {
  if (!(error instanceof RequestError) || error.status !== 409) throw error
  const retriable = !error.message.endsWith(' already exists')
  throw new RequestError(error.status, error.errorCode, error.message, { cause: error.cause, retriable })
}
