import { z } from 'zod'
import type { RunState } from '../common/state-glossary.ts'
import { type Endpoint, RequestError, requestChecked } from './http-client.ts'
import type { JsonTextLimits } from './limit-json-texts.ts'

// Wire types of the REST API of Kafka Connect 4.3. Members that are absent on the wire are absent here.

/**
 * The configuration key by which the operator marks the connectors that it manages. No plugin defines it; workers accept
 * it without a warning.
 */
export const OWNER_KEY = 'weir.owner'

export type ConnectorType = 'source' | 'sink' | 'unknown'
export type ConnectorProperties = Readonly<Record<string, string>>
/** The requested state. */
export type RequestedState = 'RUNNING' | 'PAUSED' | 'STOPPED'

export type TaskId = { readonly connector: string; readonly task: number }
export type ConnectorInfo = {
  readonly name: string
  readonly config: ConnectorProperties
  readonly tasks: readonly TaskId[]
  readonly type: ConnectorType
}

export type InstanceState = {
  /** The observed state. STOPPED applies to connectors only. */
  readonly state: RunState
  /** `host:port` of the worker that runs it. */
  readonly worker_id: string
  readonly version?: string
  /** The reason of a failure or of a missing start: the beginning and the end of a stack trace, of at most 32,768 bytes. */
  readonly trace?: string
}
export type TaskStateInfo = InstanceState & { readonly id: number }
export type ConnectorStateInfo = {
  readonly name: string
  readonly connector: InstanceState
  readonly tasks: readonly TaskStateInfo[]
  readonly type: ConnectorType
}

const [NO_TASKS_BEGIN, NO_TASKS_END] = ['the connector has no tasks, because ', ' generated none']

/** The trace with which Weir's worker reports that it has asked a running connector for its tasks, and that there are none. */
export function noTasksTrace(className: string): string {
  return `${NO_TASKS_BEGIN}${className}${NO_TASKS_END}`
}

/** Whether a running connector has no work. Kafka Connect does not report it: then the tasks may not be generated yet. */
export function hasNoWork({ connector: { state, trace = '' }, tasks }: ConnectorStateInfo): boolean {
  const isReported = trace.startsWith(NO_TASKS_BEGIN) && trace.endsWith(NO_TASKS_END)
  return state === 'RUNNING' && tasks.length === 0 && isReported
}

/** A connector may have no status shortly after its creation. */
export type ExpandedConnector = { readonly info?: ConnectorInfo; readonly status?: ConnectorStateInfo }

export type OffsetPart = Readonly<Record<string, unknown>>
/**
 * For a sink: partition `{kafka_topic, kafka_partition}`, offset `{kafka_offset}`. A null offset resets the partition.
 */
export type ConnectorOffset = { readonly partition: OffsetPart | null; readonly offset: OffsetPart | null }

export type ConfigKeyInfo = {
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
export type ConfigValueInfo = {
  readonly name: string
  readonly value: string | null
  readonly recommended_values: readonly string[]
  readonly errors: readonly string[]
  readonly visible: boolean
}
export type ConfigInfos = {
  readonly name: string
  readonly error_count: number
  readonly groups: readonly string[]
  readonly configs: readonly { readonly definition: ConfigKeyInfo | null; readonly value: ConfigValueInfo }[]
  /** About keys that have no effect. Only Weir has them, if the request asks for them. */
  readonly warnings?: readonly string[]
}
export type ConnectorPluginInfo = { readonly class: string; readonly type: string; readonly version?: string }
export type ServerInfo = { readonly version: string; readonly commit: string; readonly kafka_cluster_id: string }

/**
 * Every call rejects with a `RequestError`, with status 404 if the connector does not exist. A rebalancing worker
 * responds with 409, which is retriable here; the 409 of `create` for an existing name is not.
 */
export interface WorkerClient {
  info(): Promise<ServerInfo>
  /** All connectors by name, with info and status. Their traces are shortened to 1,024 bytes. */
  list(): Promise<Readonly<Record<string, ExpandedConnector>>>
  /** Of all connectors. `list` leaves out those that have no status yet, such as one that was just created. */
  names(): Promise<readonly string[]>
  get(name: string): Promise<ConnectorInfo>
  status(name: string): Promise<ConnectorStateInfo>
  create(name: string, config: ConnectorProperties, initialState?: RequestedState): Promise<ConnectorInfo>
  /** Creates or updates the connector. */
  putConfig(name: string, config: ConnectorProperties): Promise<ConnectorInfo>
  delete(name: string): Promise<void>
  pause(name: string): Promise<void>
  resume(name: string): Promise<void>
  stop(name: string): Promise<void>
  /** Resolves with the status before the restart has happened; undefined if only the connector itself is restarted. */
  restart(
    name: string,
    options?: { readonly includeTasks?: boolean; readonly onlyFailed?: boolean },
  ): Promise<ConnectorStateInfo | undefined>
  restartTask(name: string, task: number): Promise<void>
  topics(name: string): Promise<readonly string[]>
  offsets(name: string): Promise<readonly ConnectorOffset[]>
  /** Permitted only while the connector is STOPPED. Resolves with a message that describes the result. */
  alterOffsets(name: string, offsets: readonly ConnectorOffset[]): Promise<string>
  resetOffsets(name: string): Promise<string>
  /** `plugin` is the value of `connector.class`. */
  validate(plugin: string, config: ConnectorProperties): Promise<ConfigInfos>
  plugins(options?: { readonly connectorsOnly?: boolean }): Promise<readonly ConnectorPluginInfo[]>
}

// The validated members of each response; others are passed through.
const workerInfo = z.looseObject({ version: z.string(), kafka_cluster_id: z.string() })
const connectorInfo = z.looseObject({ name: z.string(), config: z.looseObject({}), tasks: z.array(z.unknown()) })
const state = z.looseObject({ state: z.string() })
const connectorStatus = z.looseObject({
  name: z.string(),
  connector: state,
  tasks: z.array(state.extend({ id: z.number() })),
})
const expanded = z.record(
  z.string(),
  z.looseObject({ info: connectorInfo.optional(), status: connectorStatus.optional() }),
)
const sentence = z.looseObject({ message: z.string() })
const activeTopics = z.record(z.string(), z.looseObject({ topics: z.array(z.string()) }))
const connectorOffsets = z.looseObject({ offsets: z.array(z.looseObject({})) })
const validation = z.looseObject({
  configs: z.array(z.looseObject({ value: z.looseObject({ name: z.string(), errors: z.array(z.string()) }) })),
})
const pluginInfos = z.array(z.looseObject({ class: z.string(), type: z.string() }))

/** Long enough for the failure at its beginning and the root cause at its end. */
const TRACE_BYTES_MAX = 32_768
const LISTED_TRACE_BYTES_MAX = 1_024
const STATUS_LIMITS: JsonTextLimits = {
  bytesMax: { trace: TRACE_BYTES_MAX, '*': 1_024 },
  totalBytesMax: 1_048_576,
}
/** The configurations in a list are compared, so they are not shortened. */
const LIST_LIMITS: JsonTextLimits = { bytesMax: { trace: LISTED_TRACE_BYTES_MAX }, totalBytesMax: 4_194_304 }
const VALIDATION_LIMITS: JsonTextLimits = { bytesMax: { '*': 8_192 }, totalBytesMax: 4_194_304 }

export function createWorkerClient(endpoint: Endpoint): WorkerClient {
  type Rest = { readonly body?: unknown; readonly query?: Query; readonly textLimits?: JsonTextLimits }
  const call = <Body>(shape: z.ZodType, method: Method, path: string, rest: Rest = {}) =>
    requestChecked<Body>(endpoint, { method, path, ...rest }, shape).catch(retryRebalance)
  const act = async (method: Method, path: string) => void (await call(z.unknown(), method, path))
  const info = (method: Method, path: string, body?: unknown) =>
    call<ConnectorInfo>(connectorInfo, method, path, { body })
  const message = async (method: Method, path: string, body?: unknown) =>
    (await call<{ readonly message: string }>(sentence, method, path, { body })).message

  return {
    info: () => call<ServerInfo>(workerInfo, 'GET', '/'),
    list: () =>
      call<Record<string, ExpandedConnector>>(expanded, 'GET', '/connectors?expand=info&expand=status', {
        textLimits: LIST_LIMITS,
      }),
    names: () => call<readonly string[]>(z.array(z.string()), 'GET', '/connectors'),
    get: (name) => info('GET', pathOf(name)),
    status: (name) =>
      call<ConnectorStateInfo>(connectorStatus, 'GET', `${pathOf(name)}/status`, { textLimits: STATUS_LIMITS }),
    create: (name, config, initialState) =>
      info('POST', '/connectors', { name, config, ...(initialState ? { initial_state: initialState } : {}) }),
    putConfig: (name, config) => info('PUT', `${pathOf(name)}/config`, config),
    delete: (name) => act('DELETE', pathOf(name)),
    pause: (name) => act('PUT', `${pathOf(name)}/pause`),
    resume: (name) => act('PUT', `${pathOf(name)}/resume`),
    stop: (name) => act('PUT', `${pathOf(name)}/stop`),
    restart: (name, query = {}) =>
      call<ConnectorStateInfo | undefined>(connectorStatus.optional(), 'POST', `${pathOf(name)}/restart`, {
        query,
        textLimits: STATUS_LIMITS,
      }),
    restartTask: (name, task) => act('POST', `${pathOf(name)}/tasks/${task}/restart`),
    topics: async (name) =>
      (await call<Record<string, { topics: string[] }>>(activeTopics, 'GET', `${pathOf(name)}/topics`))[name]?.topics ??
      [],
    offsets: async (name) =>
      (await call<{ offsets: ConnectorOffset[] }>(connectorOffsets, 'GET', `${pathOf(name)}/offsets`)).offsets,
    alterOffsets: (name, offsets) => message('PATCH', `${pathOf(name)}/offsets`, { offsets }),
    resetOffsets: (name) => message('DELETE', `${pathOf(name)}/offsets`),
    validate: (plugin, body) =>
      call<ConfigInfos>(validation, 'PUT', `/connector-plugins/${encodeURIComponent(plugin)}/config/validate`, {
        body,
        query: { warnings: true },
        textLimits: VALIDATION_LIMITS,
      }),
    plugins: ({ connectorsOnly } = {}) =>
      call<readonly ConnectorPluginInfo[]>(pluginInfos, 'GET', '/connector-plugins', { query: { connectorsOnly } }),
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Query = Readonly<Record<string, string | number | boolean | undefined>>

function pathOf(name: string): string {
  return `/connectors/${encodeURIComponent(name)}`
}

/** The two kinds of 409 differ in their message only. */
function retryRebalance(error: unknown): never {
  if (!(error instanceof RequestError) || error.status !== 409) throw error
  const retriable = !error.message.endsWith(' already exists')
  throw new RequestError(error.status, error.errorCode, error.message, { cause: error.cause, retriable })
}
