import { extname } from 'node:path'
import { type MessagePort, Worker } from 'node:worker_threads'
import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../config/log-rate-limiter.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import { traceOf } from '../../tasks/error-trace.ts'
import { diagnoseThread } from '../thread-diagnosis.ts'
import type { ThreadCommand, ThreadData, ThreadEnd, ThreadMessage } from './task-messages.ts'

export type TaskThreadOptions = {
  readonly name: string
  /** For an embedded broker, its port is transferred to the thread. */
  readonly address: BrokerAddress
  readonly plugins: readonly string[]
  readonly access: ConnectorAccess
  /** Limit of V8's heap for all tasks of the thread together, in MB. */
  readonly memoryMbMax: number
  readonly log: LogLimits
  readonly onMessage: (message: ThreadMessage) => void
  /** Called once, when the thread has ended or is unusable. */
  readonly onEnd: (end: ThreadEnd) => void
}

/** A thread that runs tasks, as seen from the supervisor of its process. */
export class TaskThread {
  readonly #options: TaskThreadOptions
  readonly #beat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  readonly #counter = new Int32Array(this.#beat)
  readonly #worker: Worker
  #lastBeat = 0
  #missed = 0
  #end: ThreadEnd | undefined
  #isOver = false

  constructor(options: TaskThreadOptions) {
    this.#options = options
    this.#worker = this.#start()
  }

  /** Whether the thread accepts commands. */
  get isReady(): boolean {
    return Atomics.load(this.#counter, 0) > 0
  }

  post(message: ThreadCommand): void {
    this.#worker.postMessage(message)
  }

  /** Returns for how many consecutive checks the thread has made no progress. */
  look(): number {
    const beat = Atomics.load(this.#counter, 0)
    // A thread without a first beat is still starting.
    this.#missed = beat === this.#lastBeat && beat > 0 ? this.#missed + 1 : 0
    this.#lastBeat = beat
    return this.#missed
  }

  /** Reports the end of a blocked thread, with a diagnosis of what it was executing. */
  async endBlocked(forMs: number): Promise<void> {
    const testimony = await diagnoseThread(this.#options.name)
    this.#over({ what: `blocked its thread for more than ${forMs} ms`, ...(testimony && { diagnosis: testimony }) })
  }

  #start(): Worker {
    const { name, address, plugins, access, memoryMbMax, log, onMessage } = this.#options
    const workerData: ThreadData = { address, beat: this.#beat, plugins, access, log }
    const transferList: MessagePort[] = address.kind === 'thread' ? [address.port] : []
    const worker = new Worker(new URL(`./task-thread-entry${extname(import.meta.filename)}`, import.meta.url), {
      name,
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
      transferList,
    })
    worker.on('message', (message: ThreadMessage) => {
      if (!this.#isOver) onMessage(message)
    })
    worker.on('error', (error: unknown) => {
      const isMemory = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
      this.#end = {
        what: isMemory ? exhaustedMemory(memoryMbMax) : `ended its thread: ${traceOf(error)}`,
      }
    })
    worker.on('exit', (code) => this.#over(this.#end ?? { what: `ended its thread with exit code ${code}` }))
    return worker
  }

  #over(end: ThreadEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.onEnd(end)
  }
}

export function exhaustedMemory(mbMax: number): string {
  return `exhausted the memory of its thread, which is ${mbMax} MB (worker.thread.memory.mb)`
}
