import { setFlagsFromString } from 'node:v8'
import { type MessagePort, Worker } from 'node:worker_threads'
import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import { entryPoint } from '../../../common/program-files.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import { traceOf } from '../../tasks/error-trace.ts'
import { heapLimits, isHeapExhausted, taskMemoryExceeded } from '../memory-limits.ts'
import type { PluginModules } from '../plugin-modules.ts'
import { diagnoseThread } from '../thread-diagnosis.ts'
import { ThreadHeartbeat } from '../thread-heartbeat.ts'
import type { TaskProcessEnd, TaskThreadCommand, TaskThreadData, TaskThreadMessage } from './task-messages.ts'

/**
 * Size of each half of an idle thread's young generation, in MB. By default it is 1. Idle tasks wait for up to half a second, in
 * which they allocate as much: what each wait needs survived two collections and became garbage of the old generation, 0.5 MB/s.
 */
const SEMI_SPACE_MB_MIN = 2

export type TaskThreadOptions = {
  readonly name: string
  /** For an embedded broker, its port is transferred to the thread. */
  readonly address: BrokerAddress
  readonly plugins: PluginModules
  readonly access: ConnectorAccess
  /** Limit of V8's heap for all tasks of the thread together, in MB. */
  readonly memoryMbMax: number
  readonly log: LogLimits
  readonly onMessage: (message: TaskThreadMessage) => void
  /** Called once, when the thread has ended or is unusable. */
  readonly onEnd: (end: TaskProcessEnd) => void
}

/** A thread that runs tasks, as seen from the main thread of its process. */
export class TaskThread {
  readonly #options: TaskThreadOptions
  readonly #heartbeat = new ThreadHeartbeat()
  readonly #worker: Worker
  #end: TaskProcessEnd | undefined
  #hasEnded = false

  constructor(options: TaskThreadOptions) {
    this.#options = options
    this.#worker = this.#start()
  }

  /** Whether the thread accepts commands. */
  get isReady(): boolean {
    return this.#heartbeat.isReady
  }

  post(message: TaskThreadCommand): void {
    this.#worker.postMessage(message)
  }

  /** To be called every `checkIntervalMs`. Returns true once when the thread is blocked for `blockedMsMax`. */
  isBlocked(blockedMsMax: number, checkIntervalMs: number): boolean {
    return this.#heartbeat.isBlocked(blockedMsMax, checkIntervalMs)
  }

  /** Reports the end of a blocked thread, with a diagnosis of what it was executing. */
  async endBlocked(forMs: number): Promise<void> {
    const diagnosis = await diagnoseThread(this.#options.name)
    this.#reportEnd({ what: `blocked its thread for more than ${forMs} ms`, ...(diagnosis && { diagnosis }) })
  }

  #start(): Worker {
    const { name, address, plugins, access, memoryMbMax, log, onMessage } = this.#options
    const workerData: TaskThreadData = { address, heartbeat: this.#heartbeat.buffer, plugins, access, log }
    const transferList: MessagePort[] = address.kind === 'thread' ? [address.port] : []
    // V8 reads this option when a thread is created, so it does not enlarge the young generation of the calling thread.
    setFlagsFromString(`--min-semi-space-size=${SEMI_SPACE_MB_MIN}`)
    const worker = new Worker(entryPoint('worker/isolation/tasks/task-thread-main'), {
      name,
      workerData,
      // Programs that a plugin starts do not inherit the options of this process.
      execArgv: [],
      resourceLimits: heapLimits(memoryMbMax),
      transferList,
    })
    worker.on('message', (message: TaskThreadMessage) => {
      if (!this.#hasEnded) onMessage(message)
    })
    worker.on('error', (error: unknown) => {
      const what = isHeapExhausted(error) ? taskMemoryExceeded(memoryMbMax) : `ended its thread: ${traceOf(error)}`
      this.#end = { what }
    })
    worker.on('exit', (code) => this.#reportEnd(this.#end ?? { what: `ended its thread with exit code ${code}` }))
    return worker
  }

  #reportEnd(end: TaskProcessEnd): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#options.onEnd(end)
  }
}
