import { RequestError } from '../../src/clients/http-client.ts'
import type {
  ConnectorInfo,
  ConnectorOffset,
  ConnectorProperties,
  ConnectorStateInfo,
  RequestedState,
  WorkerClient,
} from '../../src/clients/worker-client.ts'
import type { RunState } from '../../src/common/state-glossary.ts'

export type FakeConnector = {
  config: ConnectorProperties
  state: RunState
  tasks: { state: RunState; trace?: string }[]
  trace?: string
  offsets: readonly ConnectorOffset[]
}

/** An in-memory worker with the interface of its client. Requests take effect immediately. */
export class FakeWorker implements WorkerClient {
  readonly connectors = new Map<string, FakeConnector>()
  /** All calls that change state. */
  readonly writes: string[] = []
  /** The connector classes of all validation requests. */
  readonly validations: string[] = []
  /** While set, each call throws it. */
  failure: Error | undefined
  readonly classes = new Set(['Datagen', 'FileStreamSink'])

  async info() {
    return { version: '4.3.1', commit: 'fake', kafka_cluster_id: 'fake' }
  }

  async list() {
    this.#fail()
    const names = [...this.connectors.keys()]
    return Object.fromEntries(names.map((name) => [name, { info: this.#info(name), status: this.#status(name) }]))
  }

  async names() {
    this.#fail()
    return [...this.connectors.keys()]
  }

  async get(name: string) {
    return this.#info(name)
  }

  async status(name: string) {
    return this.#status(name)
  }

  async create(name: string, config: ConnectorProperties, initialState: RequestedState = 'RUNNING') {
    await this.#assertValid(config)
    this.#write(`create ${name}`)
    if (this.connectors.has(name)) {
      throw new RequestError(409, 409, `Connector ${name} already exists`, { retriable: false })
    }
    this.connectors.set(name, { config, ...runs(initialState, config), offsets: [] })
    return this.#info(name)
  }

  async putConfig(name: string, config: ConnectorProperties) {
    await this.#assertValid(config)
    this.#write(`putConfig ${name}`)
    const before = this.connectors.get(name)
    const target = before?.state === 'PAUSED' || before?.state === 'STOPPED' ? before.state : 'RUNNING'
    this.connectors.set(name, { config, ...runs(target, config), offsets: before?.offsets ?? [] })
    return this.#info(name)
  }

  async delete(name: string) {
    this.#write(`delete ${name}`)
    this.#find(name)
    this.connectors.delete(name)
  }

  pause = (name: string) => this.#aim(name, 'PAUSED')
  resume = (name: string) => this.#aim(name, 'RUNNING')
  stop = (name: string) => this.#aim(name, 'STOPPED')

  async restart(name: string) {
    this.#write(`restart ${name}`)
    const connector = this.#find(name)
    Object.assign(connector, runs('RUNNING', connector.config))
    return this.#status(name)
  }

  async restartTask(name: string, task: number) {
    this.#write(`restartTask ${name} ${task}`)
  }

  async topics() {
    return []
  }

  async offsets(name: string) {
    return this.#find(name).offsets
  }

  async alterOffsets(name: string, offsets: readonly ConnectorOffset[]) {
    this.#write(`alterOffsets ${name}`)
    this.#assertStopped(name).offsets = offsets
    return 'altered'
  }

  async resetOffsets(name: string) {
    this.#write(`resetOffsets ${name}`)
    this.#assertStopped(name).offsets = []
    return 'reset'
  }

  async validate(plugin: string, config: ConnectorProperties) {
    this.validations.push(plugin)
    return this.#judge(plugin, config)
  }

  async #judge(plugin: string, config: ConnectorProperties) {
    this.#fail()
    if (!this.classes.has(plugin)) throw new RequestError(400, 400, `Failed to find any class named ${plugin}`)
    const errors = config['wrong'] === undefined ? [] : [`Invalid value ${config['wrong']}`]
    const value = { name: 'wrong', value: null, recommended_values: [], errors, visible: true }
    return { name: plugin, error_count: errors.length, groups: [], configs: [{ definition: null, value }] }
  }

  async plugins() {
    return [...this.classes].map((name) => ({ class: name, type: 'source' }))
  }

  /** Simulates the failure of a task. */
  failTask(name: string, task: number, trace: string): void {
    this.#find(name).tasks[task] = { state: 'FAILED', trace }
  }

  async #aim(name: string, target: RequestedState): Promise<void> {
    this.#write(`${target.toLowerCase()} ${name}`)
    const connector = this.#find(name)
    Object.assign(connector, runs(target, connector.config))
  }

  async #assertValid(config: ConnectorProperties): Promise<void> {
    const { error_count } = await this.#judge(config['connector.class'] ?? '', config)
    if (error_count === 0) return
    throw new RequestError(400, 400, `Connector configuration is invalid and contains ${error_count} error(s)`)
  }

  #assertStopped(name: string): FakeConnector {
    const connector = this.#find(name)
    if (connector.state === 'STOPPED' && connector.tasks.length === 0) return connector
    throw new RequestError(400, 400, 'Connectors must be in the STOPPED state before their offsets can be modified')
  }

  #info(name: string): ConnectorInfo {
    const { config, tasks } = this.#find(name)
    return { name, config, type: 'source', tasks: tasks.map((_, task) => ({ connector: name, task })) }
  }

  #status(name: string): ConnectorStateInfo {
    const { state, tasks, trace } = this.#find(name)
    const worker_id = '127.0.0.1:8083'
    return {
      name,
      type: 'source',
      connector: { state, worker_id, ...(trace !== undefined && { trace }) },
      tasks: tasks.map((task, id) => ({ id, worker_id, ...task })),
    }
  }

  #find(name: string): FakeConnector {
    this.#fail()
    const connector = this.connectors.get(name)
    if (connector === undefined) throw new RequestError(404, 404, `Connector ${name} not found`)
    return connector
  }

  #write(what: string): void {
    this.#fail()
    this.writes.push(what)
  }

  #fail(): void {
    if (this.failure !== undefined) throw this.failure
  }
}

function runs(target: RequestedState, config: ConnectorProperties): Pick<FakeConnector, 'state' | 'tasks'> {
  const tasks = target === 'STOPPED' ? 0 : Number(config['tasks.max'] ?? 1)
  return { state: target, tasks: Array.from({ length: tasks }, () => ({ state: target })) }
}
