import { Worker } from 'node:worker_threads'
import type { Broker, StoredRecord } from '../../broker/broker.ts'
import type { BrokerAddress } from '../../broker/broker-address.ts'
import { messageOf } from '../../common/errors.ts'
import { entryPoint } from '../../common/program-files.ts'
import type { DeadLetterPosition } from '../../dead-letters/replay-marks.ts'
import { heapLimits } from '../isolation/memory-limits.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ScanRequest, ScanResult } from './dead-letter-scan.ts'

type ReadRequest = { readonly topic: string; readonly positions: readonly DeadLetterPosition[] }

export type DeadLetterThreadRequest = ({ readonly do: 'scan' } & ScanRequest) | ({ readonly do: 'read' } & ReadRequest)

export type DeadLetterThreadResult =
  | { readonly done: 'scan'; readonly result: ScanResult | undefined }
  | { readonly done: 'read'; readonly result: readonly (StoredRecord | undefined)[] }
  | { readonly done: 'failed'; readonly message: string }

const READS_MAX = 2
/** Requests that wait for one of them to end. */
const WAITING_MAX = 4
const MEMORY_MB_MAX = 256
const TIMEOUT_MS = 30_000
/** How long a thread waits for another request, such as the next page. */
const IDLE_MS = 10_000

export type DeadLetterReaderOptions = { readonly timeoutMs?: number; readonly idleMs?: number }

/**
 * Reads dead letters in threads. Anybody who can write to the topic can make its records expensive to read, such as a
 * compressed batch of millions of records: time and memory of a thread are limited, and the thread that serves REST decodes
 * no batch. A thread that failed handles no further request.
 */
export class DeadLetterReader {
  readonly #broker: Broker
  readonly #timeoutMs: number
  readonly #idleMs: number
  readonly #waiting: (() => void)[] = []
  readonly #idle = new Set<DeadLetterThread>()
  #running = 0
  #isClosed = false

  constructor(broker: Broker, { timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS }: DeadLetterReaderOptions = {}) {
    this.#broker = broker
    this.#timeoutMs = timeoutMs
    this.#idleMs = idleMs
  }

  /** Undefined if the topic does not exist. */
  async scan(request: ScanRequest): Promise<ScanResult | undefined> {
    const done = await this.#run({ do: 'scan', ...request })
    return done.done === 'scan' ? done.result : undefined
  }

  /** Whole records; undefined for one that does not exist. */
  async read(topic: string, positions: readonly DeadLetterPosition[]): Promise<readonly (StoredRecord | undefined)[]> {
    const done = await this.#run({ do: 'read', topic, positions })
    return done.done === 'read' ? done.result : []
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#idle].map((thread) => thread.end()))
  }

  async #run(request: DeadLetterThreadRequest): Promise<DeadLetterThreadResult> {
    await this.#enter()
    try {
      const thread = this.#takeIdle() ?? new DeadLetterThread(await this.#broker.address())
      const result = await thread.execute(request, this.#timeoutMs)
      if (result.done === 'failed' || this.#isClosed) await thread.end()
      else this.#keep(thread)
      if (result.done !== 'failed') return result
      throw new WorkerError(
        'dead_letters_unreadable',
        `the dead-letter topic '${request.topic}' cannot be read: ${result.message}`,
      )
    } finally {
      this.#leave()
    }
  }

  #takeIdle(): DeadLetterThread | undefined {
    const [thread] = this.#idle
    if (thread !== undefined) this.#idle.delete(thread)
    return thread
  }

  #keep(thread: DeadLetterThread): void {
    this.#idle.add(thread)
    thread.whenUnused(this.#idleMs, () => this.#idle.delete(thread))
  }

  async #enter(): Promise<void> {
    if (this.#running < READS_MAX) {
      this.#running += 1
      return
    }
    if (this.#waiting.length >= WAITING_MAX)
      throw new WorkerError('dead_letters_busy', `${WAITING_MAX} requests for dead letters wait already: try again`)
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}

/** Handles one request at a time. */
class DeadLetterThread {
  readonly #worker: Worker
  #onResult: (result: DeadLetterThreadResult) => void = () => undefined
  #onEnd: () => void = () => undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(address: BrokerAddress) {
    this.#worker = new Worker(entryPoint('worker/dead-letters/dead-letter-thread-main'), {
      name: 'dead letters',
      workerData: address,
      resourceLimits: heapLimits(MEMORY_MB_MAX),
      transferList: address.kind === 'thread' ? [address.port] : [],
    })
    this.#worker.on('message', (result: DeadLetterThreadResult) => this.#onResult(result))
    this.#worker.on('error', (error) => this.#onResult({ done: 'failed', message: messageOf(error) }))
    this.#worker.on('exit', () => {
      this.#onResult({ done: 'failed', message: 'its thread ended' })
      this.#onEnd()
    })
  }

  async execute(request: DeadLetterThreadRequest, timeoutMs: number): Promise<DeadLetterThreadResult> {
    clearTimeout(this.#idleTimer)
    const settled = Promise.withResolvers<DeadLetterThreadResult>()
    this.#onResult = settled.resolve
    const message = `not read within ${timeoutMs} ms`
    const timer = setTimeout(() => settled.resolve({ done: 'failed', message }), timeoutMs)
    this.#worker.postMessage(request)
    const result = await settled.promise
    clearTimeout(timer)
    return result
  }

  /** Ends the thread if it gets no request in `idleMs`. `onEnd` is called when it gets none any more, for any reason. */
  whenUnused(idleMs: number, onEnd: () => void): void {
    this.#onEnd = onEnd
    this.#idleTimer = setTimeout(() => {
      onEnd()
      void this.end()
    }, idleMs)
  }

  async end(): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#worker.terminate()
  }
}
