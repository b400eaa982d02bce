import { type ReceivedRequest, type SimulatedResponse, withErrors } from './simulated-http.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Simulation } from './simulation.ts'

type Target = 'RUNNING' | 'PAUSED' | 'STOPPED'
type Properties = Readonly<Record<string, string>>
type Task = { state: string; trace?: string }

export type SimulatedConnector = {
  readonly name: string
  config: Properties
  target: Target
  state: string
  tasks: Task[]
  /** Raised with each offsets operation and with each start of the tasks. */
  offsets: readonly unknown[]
}

/** A request that changed something, or was rejected. */
export type ConnectWrite = {
  readonly by: string
  readonly method: string
  /** `create`, `config`, `delete`, `pause`, `resume`, `stop`, `restart`, `offsets`. */
  readonly operation: string
  readonly name: string
  readonly query: URLSearchParams
  readonly status: number
  /** Its sender has given it up. */
  readonly isLate: boolean
  /** As it was before. */
  readonly before?: Readonly<SimulatedConnector>
}

export const CONNECT_HOST = 'connect:8083'
const WORKER_ID = 'connect:8083'
/** How long the parts of a connector take to get to their state. */
const START_MS = 3_000

class RestError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * The REST API of a Connect cluster: connectors and tasks get to their states after a while, and while the cluster
 * rebalances requests are answered with 409. Its state outlives everything, as it is in topics.
 */
export class SimulatedConnect {
  readonly process: SimulatedProcess
  readonly #simulation: Simulation
  readonly #connectors = new Map<string, SimulatedConnector>()
  readonly #onWrite: (write: ConnectWrite) => void
  #rebalancesUntilMs = 0

  constructor(simulation: Simulation, onWrite: (write: ConnectWrite) => void) {
    this.#simulation = simulation
    this.#onWrite = onWrite
    this.process = simulation.process('connect')
    const respond = withErrors(simulation, 'connect', (request) => this.#respond(request))
    this.process.run(() => simulation.http.serve(CONNECT_HOST, respond))
  }

  get connectors(): ReadonlyMap<string, Readonly<SimulatedConnector>> {
    return this.#connectors
  }

  /** A client other than Weir creates a connector, or changes it. */
  put(name: string, config: Properties): void {
    const before = this.#connectors.get(name)
    this.#simulation.note('user', `puts ${JSON.stringify(config)} to connector ${name} directly`)
    this.#put(name, config, before?.target ?? 'RUNNING')
  }

  /** A client other than Weir deletes a connector. */
  remove(name: string): void {
    if (this.#connectors.delete(name)) this.#simulation.note('user', `deletes connector ${name} directly`)
  }

  fail(name: string, task: number): void {
    const connector = this.#connectors.get(name)
    if (connector === undefined || connector.state !== 'RUNNING') return
    const failed = connector.tasks[task]
    if (failed === undefined) return
    this.#simulation.note('connect', `task ${task} of ${name} fails`)
    Object.assign(failed, { state: 'FAILED', trace: 'java.lang.IllegalStateException: simulated' })
  }

  rebalance(ms: number): void {
    this.#rebalancesUntilMs = Math.max(this.#rebalancesUntilMs, this.#simulation.nowMs + ms)
    this.#simulation.note('connect', `rebalances for ${ms} ms`)
  }

  #respond(request: ReceivedRequest): SimulatedResponse {
    try {
      return this.#handle(request)
    } catch (error) {
      if (!(error instanceof RestError)) throw error
      const { status, message } = error
      return json(status, { error_code: status, message })
    }
  }

  #handle(request: ReceivedRequest): SimulatedResponse {
    const { method, url, from } = request
    const [collection = '', name = '', operation = '', ...rest] = url.pathname
      .split('/')
      .slice(1)
      .map(decodeURIComponent)
    if (collection === '') return json(200, { version: '4.3.1', commit: 'simulated', kafka_cluster_id: 'simulated' })
    if (collection === 'connector-plugins') return this.#validate(request)
    if (method === 'GET') return this.#read(url, name, operation)
    const body = request.body === '' ? {} : (JSON.parse(request.body) as Readonly<Record<string, unknown>>)
    const target = name === '' ? String(body['name']) : name
    const write = {
      by: from.name,
      method,
      operation: operationOf(name, operation),
      name: target,
      query: url.searchParams,
    }
    const known = this.#connectors.get(target)
    const before = known && { ...known, tasks: [...known.tasks] }
    const report = (status: number) => {
      this.#simulation.note('connect', `${write.operation} ${target} by ${write.by}: ${status}`)
      this.#onWrite({ ...write, status, isLate: request.isLate, ...(before && { before }) })
    }
    try {
      this.#assertBalanced()
      const response = this.#write(write.operation, target, body, { url, rest })
      report(response.status)
      return response
    } catch (error) {
      if (error instanceof RestError) report(error.status)
      throw error
    }
  }

  #read(url: URL, name: string, operation: string): SimulatedResponse {
    if (name === '') {
      const names = [...this.#connectors.keys()]
      if (!url.searchParams.has('expand')) return json(200, names)
      const entries = names.map((each) => [each, { info: this.#info(each), status: this.#status(each) }] as const)
      return json(200, Object.fromEntries(entries))
    }
    if (operation === 'status') return json(200, this.#status(name))
    if (operation === 'offsets') return json(200, { offsets: this.#find(name).offsets })
    if (operation === 'topics') return json(200, { [name]: { topics: [] } })
    this.#assertBalanced()
    return json(200, this.#info(name))
  }

  #write(
    operation: string,
    name: string,
    body: Readonly<Record<string, unknown>>,
    { url, rest }: { readonly url: URL; readonly rest: readonly string[] },
  ): SimulatedResponse {
    switch (operation) {
      case 'create': {
        if (this.#connectors.has(name)) throw new RestError(409, `Connector ${name} already exists`)
        const { config, initial_state: state = 'RUNNING' } = body as { config: Properties; initial_state?: Target }
        this.#put(name, config, state)
        return json(201, this.#info(name))
      }
      case 'config':
        this.#put(name, body as Properties, this.#connectors.get(name)?.target ?? 'RUNNING')
        return json(200, this.#info(name))
      case 'delete':
        this.#find(name)
        this.#connectors.delete(name)
        return { status: 204, body: '' }
      case 'pause':
      case 'resume':
      case 'stop':
        this.#aim(this.#find(name), ({ pause: 'PAUSED', resume: 'RUNNING', stop: 'STOPPED' } as const)[operation])
        return { status: 202, body: '' }
      case 'restart': {
        const connector = this.#find(name)
        const isFailedOnly = url.searchParams.get('onlyFailed') === 'true'
        const only = rest.length > 0 ? Number(rest[0]) : undefined
        this.#restart(connector, isFailedOnly, only)
        return only === undefined ? json(202, this.#status(name)) : { status: 204, body: '' }
      }
      case 'offsets': {
        const connector = this.#find(name)
        if (connector.state !== 'STOPPED' || connector.tasks.length > 0)
          throw new RestError(400, 'Connectors must be in the STOPPED state before their offsets can be modified')
        connector.offsets = (body['offsets'] as readonly unknown[] | undefined) ?? []
        return json(200, { message: 'The offsets for this connector have been altered successfully' })
      }
      default:
        throw new RestError(405, `no operation ${operation}`)
    }
  }

  #validate({ url, method }: ReceivedRequest): SimulatedResponse {
    if (method === 'GET') return json(200, [{ class: 'Datagen', type: 'source' }])
    const name = decodeURIComponent(url.pathname.split('/')[2] ?? '')
    return json(200, { name, error_count: 0, groups: [], configs: [] })
  }

  #put(name: string, config: Properties, target: Target): void {
    const before = this.#connectors.get(name)
    const state = before?.state ?? 'UNASSIGNED'
    const connector = { name, config, target, state, tasks: before?.tasks ?? [], offsets: before?.offsets ?? [] }
    this.#connectors.set(name, connector)
    this.#aim(connector, target)
  }

  /** The connector and its tasks get to the target after a while. */
  #aim(connector: SimulatedConnector, target: Target): void {
    connector.target = target
    this.#later(connector, () => {
      if (connector.target !== target) return
      if (connector.state !== 'FAILED' || target !== 'PAUSED') connector.state = target
      const count = target === 'STOPPED' ? 0 : Number(connector.config['tasks.max'] ?? 1)
      // Tasks appear a moment after their connector.
      this.#later(connector, () => {
        if (connector.target !== target) return
        connector.tasks = Array.from({ length: count }, () => ({ state: target }))
      })
    })
  }

  #restart(connector: SimulatedConnector, isFailedOnly: boolean, only: number | undefined): void {
    const isMeant = (task: Task, id: number) =>
      (only === undefined || id === only) && (!isFailedOnly || task.state === 'FAILED')
    for (const [id, task] of connector.tasks.entries()) {
      if (connector.target !== 'RUNNING' || !isMeant(task, id)) continue
      connector.tasks[id] = { state: 'RESTARTING' }
      this.#later(connector, () => {
        if (connector.tasks[id]?.state === 'RESTARTING') connector.tasks[id] = { state: connector.target }
      })
    }
  }

  #later(connector: SimulatedConnector, run: () => void): void {
    const { random } = this.#simulation
    this.#simulation.schedule(this.process, random.below(START_MS), () => {
      if (this.#connectors.get(connector.name) === connector) run()
    })
  }

  #info(name: string): unknown {
    const { config, tasks } = this.#find(name)
    const ids = tasks.map((_, task) => ({ connector: name, task }))
    return { name, config: { ...config, name }, type: 'source', tasks: ids }
  }

  #status(name: string): unknown {
    const { state, tasks } = this.#find(name)
    return {
      name,
      type: 'source',
      connector: { state, worker_id: WORKER_ID },
      tasks: tasks.map((task, id) => ({ id, worker_id: WORKER_ID, ...task })),
    }
  }

  #find(name: string): SimulatedConnector {
    const connector = this.#connectors.get(name)
    if (connector === undefined) throw new RestError(404, `Connector ${name} not found`)
    return connector
  }

  #assertBalanced(): void {
    if (this.#simulation.nowMs >= this.#rebalancesUntilMs) return
    const message =
      'Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.'
    throw new RestError(409, message)
  }
}

function operationOf(name: string, operation: string): string {
  if (name === '') return 'create'
  if (operation === '') return 'delete'
  return operation === 'tasks' ? 'restart' : operation
}

function json(status: number, body: unknown): SimulatedResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
