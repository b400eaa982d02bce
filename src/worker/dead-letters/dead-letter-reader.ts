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

export type DeadLetterThreadData = {
  readonly address: BrokerAddress
  readonly request: ({ readonly do: 'scan' } & ScanRequest) | ({ readonly do: 'read' } & ReadRequest)
}

export type DeadLetterThreadResult =
  | { readonly done: 'scan'; readonly result: ScanResult | undefined }
  | { readonly done: 'read'; readonly result: readonly (StoredRecord | undefined)[] }
  | { readonly done: 'failed'; readonly message: string }

const READS_MAX = 2
/** Requests that wait for one of them to end. */
const WAITING_MAX = 4
const MEMORY_MB_MAX = 256
const TIMEOUT_MS = 30_000

/**
 * Reads dead letters in a thread that is started for each request. Anybody who can write to the topic can make its records
 * expensive to read, such as a compressed batch of millions of records: time and memory of the thread are limited, and the
 * thread that serves REST decodes no batch.
 */
export class DeadLetterReader {
  readonly #broker: Broker
  readonly #timeoutMs: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(broker: Broker, timeoutMs = TIMEOUT_MS) {
    this.#broker = broker
    this.#timeoutMs = timeoutMs
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

  async #run(request: DeadLetterThreadData['request']): Promise<DeadLetterThreadResult> {
    await this.#enter()
    try {
      const result = await this.#runThread({ address: await this.#broker.address(), request })
      if (result.done !== 'failed') return result
      throw unreadable(request.topic, result.message)
    } finally {
      this.#leave()
    }
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

  async #runThread(workerData: DeadLetterThreadData): Promise<DeadLetterThreadResult> {
    const { address, request } = workerData
    const thread = new Worker(entryPoint('worker/dead-letters/dead-letter-thread-main'), {
      name: 'dead letters',
      workerData,
      resourceLimits: heapLimits(MEMORY_MB_MAX),
      transferList: address.kind === 'thread' ? [address.port] : [],
    })
    const settled = Promise.withResolvers<DeadLetterThreadResult>()
    const timer = setTimeout(
      () => settled.reject(unreadable(request.topic, `not read within ${this.#timeoutMs} ms`)),
      this.#timeoutMs,
    )
    thread.once('message', settled.resolve)
    thread.once('error', (error) => settled.reject(unreadable(request.topic, messageOf(error))))
    thread.once('exit', () => settled.reject(unreadable(request.topic, 'its thread ended')))
    try {
      return await settled.promise
    } finally {
      clearTimeout(timer)
      await thread.terminate()
    }
  }
}

function unreadable(topic: string, reason: string): WorkerError {
  return new WorkerError('dead_letters_unreadable', `the dead-letter topic '${topic}' cannot be read: ${reason}`)
}
