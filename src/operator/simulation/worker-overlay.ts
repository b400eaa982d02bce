import { RequestError, undefinedIfNotFound } from '../../clients/http-client.ts'
import type {
  ConnectorInfo,
  ConnectorProperties,
  ConnectorStateInfo,
  RequestedState,
  WorkerClient,
} from '../../clients/worker-client.ts'
import type { RecordChange } from './runtime-change.ts'

/** The reads of a worker on which a simulation is based. */
export type WorkerReader = Pick<WorkerClient, 'get' | 'status' | 'validate' | 'offsets'>

/** A connector in a simulation. Its tasks run: a failure is no difference between a manifest and a runtime. */
type SimulatedConnector = { config: ConnectorProperties; state: RequestedState; type: ConnectorInfo['type'] }

const WORKER_ID = 'simulation'

/** A worker in memory on top of another one, which is only read. */
export class WorkerOverlay {
  readonly #base: WorkerReader
  /** Null: deleted. */
  readonly #connectors = new Map<string, Promise<SimulatedConnector | null>>()

  constructor(base: WorkerReader) {
    this.#base = base
  }

  /** A client that passes its writes to `record`. */
  client(record: RecordChange): WorkerClient {
    const setState = async (name: string, state: RequestedState) => {
      ;(await this.#require(name)).state = state
      record({ do: 'set-state', connector: name, state })
    }
    const restart = async (name: string) => {
      await this.#require(name)
      record({ do: 'restart-connector', connector: name })
    }
    return {
      get: async (name) => infoOf(name, await this.#require(name)),
      status: async (name) => statusOf(name, await this.#require(name)),
      offsets: (name) => this.#base.offsets(name),
      validate: (plugin, config) => this.#base.validate(plugin, config),
      create: async (name, config, state = 'RUNNING') => {
        const created: SimulatedConnector = { config, state, type: 'unknown' }
        this.#connectors.set(name, Promise.resolve(created))
        record({ do: 'create-connector', connector: name, config, state })
        return infoOf(name, created)
      },
      putConfig: async (name, config) => {
        const connector = await this.#require(name)
        record({ do: 'update-connector', connector: name, before: connector.config, after: config })
        connector.config = config
        return infoOf(name, connector)
      },
      delete: async (name) => {
        await this.#require(name)
        this.#connectors.set(name, Promise.resolve(null))
        record({ do: 'delete-connector', connector: name })
      },
      pause: (name) => setState(name, 'PAUSED'),
      resume: (name) => setState(name, 'RUNNING'),
      stop: (name) => setState(name, 'STOPPED'),
      restart: async (name) => void (await restart(name)) as undefined,
      restartTask: (name) => restart(name),
      alterOffsets: async (name) => {
        record({ do: 'alter-offsets', connector: name })
        return ''
      },
      resetOffsets: async (name) => {
        record({ do: 'reset-offsets', connector: name })
        return ''
      },
      info: notSimulated('info'),
      list: notSimulated('list'),
      names: notSimulated('names'),
      topics: notSimulated('topics'),
      plugins: notSimulated('plugins'),
    }
  }

  async #require(name: string): Promise<SimulatedConnector> {
    const known = this.#connectors.get(name) ?? this.#read(name)
    this.#connectors.set(name, known)
    const connector = await known
    if (connector !== null) return connector
    throw new RequestError(404, 404, `Connector ${name} not found`)
  }

  async #read(name: string): Promise<SimulatedConnector | null> {
    const info = await undefinedIfNotFound(this.#base.get(name))
    if (info === undefined) return null
    const status = await undefinedIfNotFound(this.#base.status(name))
    const state = status?.connector.state
    const isHalted = state === 'PAUSED' || state === 'STOPPED'
    return { config: info.config, type: info.type, state: isHalted ? state : 'RUNNING' }
  }
}

/** One task stands for all: no decision of a reconciler depends on their number. */
function tasksOf({ state }: SimulatedConnector): readonly number[] {
  return state === 'STOPPED' ? [] : [0]
}

function infoOf(name: string, connector: SimulatedConnector): ConnectorInfo {
  const tasks = tasksOf(connector).map((task) => ({ connector: name, task }))
  return { name, config: connector.config, tasks, type: connector.type }
}

function statusOf(name: string, connector: SimulatedConnector): ConnectorStateInfo {
  const instance = { state: connector.state, worker_id: WORKER_ID }
  const tasks = tasksOf(connector).map((id) => ({ ...instance, id }))
  return { name, connector: instance, tasks, type: connector.type }
}

/** Operations that no reconciler uses. */
function notSimulated(name: string): () => Promise<never> {
  return () => Promise.reject(new Error(`${name} is not part of a simulation`))
}
