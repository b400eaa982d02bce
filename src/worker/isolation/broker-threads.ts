import { parentPort, Worker, workerData } from 'node:worker_threads'
import type { Broker } from '../../broker/broker.ts'
import type { BrokerAddress } from '../../broker/broker-address.ts'
import { openBroker } from '../../broker/open-broker.ts'
import { messageOf } from '../../common/errors.ts'
import { silentLogger } from '../../common/logging/logger.ts'
import { Semaphore } from '../../common/semaphore.ts'

export type BrokerThreadsOptions<Data> = {
  /** The module that calls `serveBrokerThread`. */
  readonly entry: URL
  readonly name: string
  /** What the threads get besides the broker. */
  readonly data: Data
  /** The error of a request that finds too many others. */
  readonly full: (waitingMax: number) => Error
  readonly timeoutMs?: number
  readonly idleMs?: number
}

/** The outcome of a request to a thread: its result, or why it failed. */
export type ThreadResult<Result> = { readonly result: Result } | { readonly failed: string }

type ThreadData<Data> = { readonly address: BrokerAddress; readonly data: Data }

const READS_MAX = 2
/** Requests that wait for one of them to end. */
const WAITING_MAX = 4
const MEMORY_MB_MAX = 256
/** How long a request may wait for responses of brokers. */
const TIMEOUT_MS = 30_000
/** A thread checks its own, lower limits between records: only a single record that takes too long reaches this one. */
const CPU_MS_MAX = 15_000
const CPU_CHECK_MS = 500
/** How long a thread waits for another request, such as the next page. */
const IDLE_MS = 10_000

/**
 * Threads that read topics. Anybody who can write to a topic can make its records expensive to read, such as a compressed batch of
 * millions of records: CPU time and memory of a thread are limited, and the thread that serves REST decodes no batch. A thread that
 * failed handles no further request.
 */
export class BrokerThreads<Data, Request, Result> {
  readonly #broker: Broker
  readonly #options: BrokerThreadsOptions<Data>
  readonly #reads: Semaphore
  readonly #idle = new Set<BrokerThread<Data, Request, Result>>()
  #isClosed = false

  constructor(broker: Broker, options: BrokerThreadsOptions<Data>) {
    this.#broker = broker
    this.#options = options
    this.#reads = new Semaphore(READS_MAX, { waitingMax: WAITING_MAX, full: () => options.full(WAITING_MAX) })
  }

  /** Rejects only when too many requests wait. */
  run(request: Request): Promise<ThreadResult<Result>> {
    return this.#reads.run(async () => {
      const thread = this.#takeIdle() ?? new BrokerThread(await this.#broker.address(), this.#options)
      const done = await thread.execute(request, this.#options.timeoutMs ?? TIMEOUT_MS)
      if ('failed' in done || this.#isClosed) await thread.end()
      else this.#keep(thread)
      return done
    })
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#idle].map((thread) => thread.end()))
  }

  #takeIdle(): BrokerThread<Data, Request, Result> | undefined {
    const [thread] = this.#idle
    if (thread !== undefined) this.#idle.delete(thread)
    return thread
  }

  #keep(thread: BrokerThread<Data, Request, Result>): void {
    this.#idle.add(thread)
    thread.whenUnused(this.#options.idleMs ?? IDLE_MS, () => this.#idle.delete(thread))
  }
}

/** Handles one request at a time. */
class BrokerThread<Data, Request, Result> {
  readonly #worker: Worker
  #onDone: (done: ThreadResult<Result>) => void = () => undefined
  #onEnd: () => void = () => undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(address: BrokerAddress, { entry, name, data }: BrokerThreadsOptions<Data>) {
    this.#worker = new Worker(entry, {
      name,
      workerData: { address, data } satisfies ThreadData<Data>,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
      transferList: address.kind === 'thread' ? [address.port] : [],
    })
    this.#worker.on('message', (done: ThreadResult<Result>) => this.#onDone(done))
    this.#worker.on('error', (error) => this.#onDone({ failed: messageOf(error) }))
    this.#worker.on('exit', () => {
      this.#onDone({ failed: 'its thread ended' })
      this.#onEnd()
    })
  }

  async execute(request: Request, timeoutMs: number): Promise<ThreadResult<Result>> {
    clearTimeout(this.#idleTimer)
    const settled = Promise.withResolvers<ThreadResult<Result>>()
    this.#onDone = settled.resolve
    const timer = setTimeout(() => settled.resolve({ failed: `not read within ${timeoutMs} ms` }), timeoutMs)
    const watch = this.#watchCpu(() => settled.resolve({ failed: `it needs more than ${CPU_MS_MAX} ms of CPU time` }))
    this.#worker.postMessage(request)
    const done = await settled.promise
    clearTimeout(timer)
    clearInterval(watch)
    return done
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

  #watchCpu(onExceeded: () => void): NodeJS.Timeout {
    let startMs: number | undefined
    const check = async () => {
      const { user, system } = await this.#worker.cpuUsage()
      const usedMs = (user + system) / 1_000
      startMs ??= usedMs
      if (usedMs - startMs > CPU_MS_MAX) onExceeded()
    }
    // A thread that has ended has no CPU usage; its end is reported.
    const checkSafely = () => void check().catch(() => undefined)
    checkSafely()
    return setInterval(checkSafely, CPU_CHECK_MS).unref()
  }
}

/** Called in a thread: executes the requests of `BrokerThreads`. */
export function serveBrokerThread<Data, Request, Result>(
  execute: (broker: Broker, request: Request, data: Data) => Promise<Result>,
): void {
  const { address, data } = workerData as ThreadData<Data>
  let opened: Promise<Broker> | undefined
  const respond = async (request: Request): Promise<ThreadResult<Result>> => {
    try {
      opened ??= openBroker(address, { logger: silentLogger() })
      return { result: await execute(await opened, request, data) }
    } catch (error) {
      return { failed: messageOf(error) }
    }
  }
  parentPort?.on('message', async (request: Request) => parentPort?.postMessage(await respond(request)))
}
