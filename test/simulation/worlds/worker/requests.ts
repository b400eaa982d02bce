import { RequestError } from '../../../../src/clients/http-client.ts'
import {
  type ConnectorOffset,
  type ConnectorProperties,
  createWorkerClient,
  type RequestedState,
  type WorkerClient,
} from '../../../../src/clients/worker-client.ts'
import { systemClock } from '../../../../src/common/clock.ts'
import { messageOf } from '../../../../src/common/errors.ts'
import type { SimulatedProcess } from '../../simulated-process.ts'
import type { Alteration, ExternalSystem } from './external-system.ts'
import { isPlausible, noteAcknowledged, noteAttempt, type Possible, possible } from './possible-values.ts'

/** A change that a user requests of the REST API. */
export type WorkerRequest =
  | { readonly do: 'put'; readonly connector: string; readonly config: ConnectorProperties }
  /** Of one of several users, who create the same connector, stopped. */
  | { readonly do: 'create'; readonly connector: string; readonly config: ConnectorProperties }
  /** Stops the connector, moves its position in a partition, and resumes it. */
  | { readonly do: 'alter'; readonly connector: string; readonly partition: number; readonly position: number }
  /** The same for all partitions: from the beginning. */
  | { readonly do: 'reset'; readonly connector: string }
  | {
      readonly do: 'delete' | 'pause' | 'resume' | 'stop' | 'restart' | 'restart-connector' | 'restart-task' | 'read'
      readonly connector: string
    }

/** What the requests leave open about a connector. */
type RequestedConnector = {
  readonly exists: Possible<boolean>
  readonly target: Possible<RequestedState>
  readonly config: Possible<string>
}

const ATTEMPTS = 8
const TIMEOUT_MS = 15_000
const RETRY_MS = 1_500

const TARGETS = { pause: 'PAUSED', resume: 'RUNNING', stop: 'STOPPED' } as const

/** A user who changes connectors, repeats what may have failed, and remembers which state that can lead to. */
export class WorkerUser {
  readonly #process: SimulatedProcess
  readonly #system: ExternalSystem
  readonly #connectors = new Map<string, RequestedConnector>()
  readonly #clients = new Map<string, WorkerClient>()
  /** The requests of a connector are sent one after the other. */
  readonly #queues = new Map<string, Promise<void>>()

  constructor(process: SimulatedProcess, system: ExternalSystem) {
    this.#process = process
    this.#system = system
  }

  /** The user prefers a worker, and uses the others when it does not answer. */
  request(request: WorkerRequest, urls: readonly string[]): void {
    this.#process.run(() => {
      if (request.do === 'create') {
        this.#send(request, urls).catch((error: unknown) => this.#process.fail(error))
        return
      }
      const before = this.#queues.get(request.connector) ?? Promise.resolve()
      const done = before.then(async () => {
        if (request.do === 'alter' || request.do === 'reset') await this.#alter(request, urls)
        else await this.#send(request, urls)
      })
      this.#queues.set(
        request.connector,
        done.catch((error: unknown) => this.#process.fail(error)),
      )
    })
  }

  client(url: string): WorkerClient {
    const client = this.#clients.get(url) ?? createWorkerClient({ url, timeoutMs: TIMEOUT_MS })
    this.#clients.set(url, client)
    return client
  }

  /** The names of the connectors that were ever requested. */
  get connectors(): readonly string[] {
    return [...this.#connectors.keys()]
  }

  mayExist(connector: string, exists: boolean): boolean {
    return isPlausible(this.#of(connector).exists, exists)
  }

  mayHave(connector: string, target: RequestedState, config: ConnectorProperties): boolean {
    const { target: targets, config: configs } = this.#of(connector)
    return isPlausible(targets, target) && isPlausible(configs, textOf(config))
  }

  #of(name: string): RequestedConnector {
    const known = this.#connectors.get(name) ?? {
      exists: possible(false),
      target: possible<RequestedState>('RUNNING'),
      config: possible(''),
    }
    this.#connectors.set(name, known)
    return known
  }

  async #alter(request: Extract<WorkerRequest, { do: 'alter' | 'reset' }>, urls: readonly string[]): Promise<void> {
    const { connector } = request
    if (!(await this.#send({ do: 'stop', connector }, urls))) return
    this.#system.alterations.push(...alterationsOf(request))
    await this.#send(request, urls)
    await this.#send({ do: 'resume', connector }, urls)
  }

  /** Resolves to whether it was acknowledged. */
  async #send(request: WorkerRequest, urls: readonly string[]): Promise<boolean> {
    const { simulation } = this.#process
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const url = urls[attempt % urls.length]!
      this.#note(request, 'attempt')
      try {
        await this.#call(request, this.client(url))
        this.#note(request, 'acknowledged')
        simulation.note('user', `${request.do} ${request.connector} is acknowledged by ${url}`)
        return true
      } catch (error) {
        simulation.note('user', `${request.do} ${request.connector} by ${url}: ${messageOf(error)}`)
        // The connector does not exist, or is not there yet.
        if (error instanceof RequestError && error.status === 404) return false
        if (request.do === 'create' && messageOf(error).includes('already exists')) return false
        await systemClock.sleep(RETRY_MS)
      }
    }
    return false
  }

  async #call(request: WorkerRequest, client: WorkerClient): Promise<void> {
    const { connector } = request
    if (request.do === 'put') await client.putConfig(connector, request.config)
    else if (request.do === 'create') await client.create(connector, request.config, 'STOPPED')
    else if (request.do === 'alter') await client.alterOffsets(connector, [offsetOf(request)])
    else if (request.do === 'reset') await client.resetOffsets(connector)
    else if (request.do === 'restart') await client.restart(connector, { includeTasks: true })
    else if (request.do === 'restart-connector') await client.restart(connector)
    else if (request.do === 'restart-task') await client.restartTask(connector, 0)
    else if (request.do === 'read') await readAll(connector, client)
    else await client[request.do](connector)
  }

  #note(request: WorkerRequest, what: 'attempt' | 'acknowledged'): void {
    const { exists, target, config } = this.#of(request.connector)
    const { nowMs } = this.#process.simulation
    const note = what === 'attempt' ? noteAttempt : noteAcknowledged
    switch (request.do) {
      case 'put':
        note(exists, true, nowMs)
        note(config, textOf(request.config), nowMs)
        break
      case 'create':
        // Which of the users was the first is what `Creations` checks.
        if (what === 'acknowledged') exists.acknowledged = true
        else {
          noteAttempt(exists, true, nowMs)
          noteAttempt(config, textOf(request.config), nowMs)
          noteAttempt(target, 'STOPPED', nowMs)
        }
        break
      case 'delete':
        note(exists, false, nowMs)
        // A connector that is created again runs.
        note(target, 'RUNNING', nowMs)
        break
      case 'pause':
      case 'resume':
      case 'stop':
        note(target, TARGETS[request.do], nowMs)
        break
      case 'alter':
      case 'reset':
      case 'restart':
      case 'restart-connector':
      case 'restart-task':
      case 'read':
    }
  }
}

function offsetOf({ connector, partition, position }: Extract<WorkerRequest, { do: 'alter' }>): ConnectorOffset {
  return connector === 'sink'
    ? { partition: { kafka_topic: 'rows', kafka_partition: partition }, offset: { kafka_offset: position } }
    : { partition: { partition }, offset: { row: position } }
}

function alterationsOf(request: Extract<WorkerRequest, { do: 'alter' | 'reset' }>): readonly Alteration[] {
  const { connector } = request
  if (request.do === 'alter') return [{ connector, partition: request.partition, position: request.position }]
  return [0, 1, 2].map((partition) => ({ connector, partition, position: connector === 'sink' ? 0 : -1 }))
}

/** What a console reads. */
async function readAll(connector: string, client: WorkerClient): Promise<void> {
  await client.names()
  await client.get(connector)
  await client.status(connector)
  await client.topics(connector)
  await client.offsets(connector)
}

function textOf({ name: _, ...config }: ConnectorProperties): string {
  return JSON.stringify(Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1)))
}
