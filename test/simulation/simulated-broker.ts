import type { Broker } from '../../src/broker/broker.ts'
import type { BackendRequest, BrokerBackend, ProduceResult } from '../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../src/broker/broker-client.ts'
import { BrokerError, type BrokerErrorCode } from '../../src/broker/broker-error.ts'
import { RETRY_BACKOFF } from '../../src/broker/client-settings.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/embedded-backend.ts'
import { type Clock, systemClock } from '../../src/common/clock.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { retry } from '../../src/common/retry.ts'
import { withTimeout } from '../../src/common/timeout.ts'
import { currentProcess } from './current-process.ts'
import { ConnectionBrokenError, ConnectionRefusedError, type Network } from './network.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Simulation } from './simulation.ts'

/** Calls that wait for other members or for records: they do not hold up the others of their client. */
const WAITING: ReadonlySet<keyof BrokerBackend> = new Set(['joinGroup', 'syncGroup', 'fetch', 'heartbeat'])
/** Calls that change something, noted in the timeline. */
const NOTED: ReadonlySet<keyof BrokerBackend> = new Set([
  'createTopic',
  'deleteTopic',
  'produce',
  'initProducer',
  'addPartitionsToTransaction',
  'commitOffsetsInTransaction',
  'endTransaction',
  'joinGroup',
  'leaveGroup',
  'commitOffsets',
  'deleteGroupOffsets',
])
/** A batch that the broker has stored. */
export type StoredBatch = {
  readonly topic: string
  readonly baseOffset: number
  readonly bytes: Uint8Array
  readonly atMs: number
  /** The process that wrote it. */
  readonly writer: string
}

/** How long a client waits for a response, in addition to the time for which the broker may hold it back. */
const REQUEST_MS_MAX = 30_000
const JOIN_LAPSE_MS = 5_000
/** It looks for expired sessions less often than the embedded broker, and holds back fetches for longer. Both only save events. */
const TICK_MS = 500
const FETCH_WAIT_FACTOR = 10
const COARSE_CLOCK: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === 100 ? TICK_MS : ms, signal),
}
/** What a broker answers without having done anything, while leaders and coordinators move. */
const TRANSIENT: readonly BrokerErrorCode[] = ['unavailable', 'timeout']
const TRANSIENT_OF_COORDINATORS: readonly BrokerErrorCode[] = [...TRANSIENT, 'coordinator_moved']
const COORDINATED: ReadonlySet<keyof BrokerBackend> = new Set([
  'initProducer',
  'hasTransactionalId',
  'addPartitionsToTransaction',
  'commitOffsetsInTransaction',
  'endTransaction',
  'joinGroup',
  'syncGroup',
  'heartbeat',
  'leaveGroup',
  'commitOffsets',
  'groupOffsets',
  'describeGroup',
  'deleteGroup',
  'deleteGroupOffsets',
])
/** Calls that the client of Kafka does not repeat by itself, while a broker cannot be reached or is not the right one. */
const NOT_REPEATED: ReadonlySet<keyof BrokerBackend> = new Set([
  'produce',
  'fetch',
  'clusterId',
  'metadata',
  'topicId',
  'topicConfigs',
  'topicConfigValues',
  'replicaSizes',
  'listGroups',
])
/** As in `KafkaCluster`. */
const REPEATED_ERRORS: ReadonlySet<string> = new Set([
  'coordinator_moved',
  'not_leader',
  'concurrent_transaction',
  'unavailable',
  'timeout',
])
const REPEATED_MS_MAX = 60_000
const BRIEFLY_REPEATED_MS_MAX = 3_000
const BRIEFLY_REPEATED: ReadonlySet<keyof BrokerBackend> = new Set(['heartbeat', 'leaveGroup'])

/**
 * A broker of the simulated machine room. It stores and coordinates as the embedded broker, whose contract tests also run on Kafka; what
 * lies between it and its clients is simulated: each call may be late, lost, answered with an error of a moving leader or coordinator,
 * or executed after its client gave it up.
 */
export class SimulatedBroker {
  readonly process: SimulatedProcess
  readonly #network: Network
  readonly #simulation: Simulation
  readonly #backend: BrokerBackend
  /** How many of 1,000 calls are answered with a transient error. */
  transientErrors = 0
  /** Called for each batch that is stored, before its writer gets the response. */
  onStored: ((batch: StoredBatch) => void) | undefined
  /** How long a request to write waits before it is executed, as on a connection that its client has given up. */
  writeDelayMs: ((writer: string) => number) | undefined

  private constructor(process: SimulatedProcess, backend: BrokerBackend) {
    this.process = process
    this.#simulation = process.simulation
    this.#backend = backend
    this.#network = process.simulation.network
  }

  static async open(simulation: Simulation): Promise<SimulatedBroker> {
    const process = simulation.process('broker')
    const opening = process.run(() => openEmbeddedBackend(':memory:', { logger: silentLogger(), clock: COARSE_CLOCK }))
    let backend: BrokerBackend | undefined
    opening.then(
      (opened) => {
        backend = opened
      },
      (error: unknown) => process.fail(error),
    )
    await simulation.run(simulation.nowMs + 1_000, () => backend !== undefined)
    return new SimulatedBroker(process, backend!)
  }

  /** The broker as the current process reaches it. */
  connect(): Broker {
    return createBrokerClient(this.#remote(), {
      logger: silentLogger(),
      address: () => Promise.reject(new Error('only in one process')),
    })
  }

  /** Reads and writes it without a network, for checks. To be called in a process. */
  get backend(): BrokerBackend {
    return this.#backend
  }

  #remote(): BrokerBackend {
    let isClosed = false
    return new Proxy(this.#backend, {
      get: (_, name: keyof BrokerBackend) => async (request: unknown) => {
        if (name === 'close') isClosed = true
        else if (isClosed) throw new BrokerError('closed', 'the client is closed')
        else return this.#call(name, request)
        return undefined
      },
    })
  }

  #call(name: keyof BrokerBackend, request: unknown): Promise<unknown> {
    if (NOT_REPEATED.has(name)) return this.#callOnce(name, request)
    // A member whose SyncGroup times out joins again.
    const longestMs = name === 'syncGroup' ? REQUEST_MS_MAX : REPEATED_MS_MAX
    const withinMs = BRIEFLY_REPEATED.has(name) ? BRIEFLY_REPEATED_MS_MAX : longestMs
    const retriable = (error: unknown) => error instanceof BrokerError && REPEATED_ERRORS.has(error.code)
    const answer = retry(() => this.#callOnce(name, request), { backoff: RETRY_BACKOFF, withinMs, retriable })
    return withTimeout(answer, longestMs + waitMs(request as WaitingRequest), () => noResponse(name))
  }

  async #callOnce(name: keyof BrokerBackend, request: unknown): Promise<unknown> {
    const caller = currentProcess()?.name ?? ''
    const answer = this.#network.call(this.process, {
      ...(NOTED.has(name) && { label: name }),
      inOrder: !WAITING.has(name),
      execute: async () => {
        const delayMs = name === 'produce' ? (this.writeDelayMs?.(caller) ?? 0) : 0
        if (delayMs > 0) await systemClock.sleep(delayMs)
        const response = await this.#execute(this.#backend, name, request)
        if (name === 'produce') this.#reportStored(request as BackendRequest<'produce'>, response, caller)
        return response
      },
    })
    const withinMs = requestMs(request as WaitingRequest)
    return await withTimeout(answer.catch(toBrokerError), withinMs, () => noResponse(name))
  }

  #reportStored({ batches }: BackendRequest<'produce'>, response: unknown, writer: string): void {
    for (const [at, { baseOffset, topic }] of (response as readonly ProduceResult[]).entries())
      if (baseOffset >= 0)
        this.onStored?.({ topic, baseOffset, bytes: batches[at]!.bytes, atMs: this.#simulation.nowMs, writer })
  }

  async #execute(backend: BrokerBackend, name: keyof BrokerBackend, request: unknown): Promise<unknown> {
    const { random } = this.#simulation
    if (this.transientErrors > 0 && random.below(1_000) < this.transientErrors)
      return refuse(name, request, random.one(COORDINATED.has(name) ? TRANSIENT_OF_COORDINATORS : TRANSIENT))
    const call = backend[name].bind(backend) as (request: unknown) => Promise<unknown>
    // The broker writes into the bytes of a batch, and the client may send them again.
    if (name === 'produce') return call(copied(request as BackendRequest<'produce'>))
    if (name === 'fetch') return call(heldBack(request as BackendRequest<'fetch'>))
    return call(request)
  }
}

function noResponse(name: string): never {
  throw new BrokerError('timeout', `no response of the broker to ${name}`)
}

function copied(request: BackendRequest<'produce'>): BackendRequest<'produce'> {
  return { ...request, batches: request.batches.map((batch) => ({ ...batch, bytes: Buffer.from(batch.bytes) })) }
}

function heldBack(request: BackendRequest<'fetch'>): BackendRequest<'fetch'> {
  return { ...request, waitMsMax: request.waitMsMax * FETCH_WAIT_FACTOR }
}

function refuse(name: keyof BrokerBackend, request: unknown, code: BrokerErrorCode): unknown {
  const error = { code: 'not_leader', message: 'NOT_LEADER_OR_FOLLOWER' } as const
  if (name === 'produce')
    return (request as BackendRequest<'produce'>).batches.map(({ topic, partition }) => ({
      topic,
      partition,
      baseOffset: -1,
      error,
    }))
  if (name === 'fetch')
    return (request as BackendRequest<'fetch'>).partitions.map(({ topic, partition }) => ({
      topic,
      partition,
      bytes: Buffer.alloc(0),
      endOffset: -1,
      startOffset: -1,
      aborted: [],
      error,
    }))
  throw new BrokerError(code, `the broker answers ${name} with ${code}`)
}

function toBrokerError(error: unknown): never {
  if (error instanceof ConnectionBrokenError || error instanceof ConnectionRefusedError)
    throw new BrokerError('unavailable', error.message)
  throw error
}

type WaitingRequest = { readonly waitMsMax?: number; readonly rebalanceTimeoutMs?: number } | undefined

/** How long a client waits for the response, as in the clients of Kafka. */
function requestMs(request: WaitingRequest): number {
  const { rebalanceTimeoutMs } = request ?? {}
  if (rebalanceTimeoutMs !== undefined) return Math.max(REQUEST_MS_MAX, rebalanceTimeoutMs + JOIN_LAPSE_MS)
  return REQUEST_MS_MAX + waitMs(request)
}

/** How long the broker may hold back the response. */
function waitMs(request: WaitingRequest): number {
  return (request?.waitMsMax ?? 0) + (request?.rebalanceTimeoutMs ?? 0)
}
