import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'
import type { BrokerAddress } from '../../../broker/broker-address.ts'
import { POSTPONED_OPTIMIZATION } from '../../../common/code-optimization.ts'
import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { entryPoint } from '../../../common/program-files.ts'
import { withTimeout } from '../../../common/timeout.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import { traceOf } from '../../tasks/error-trace.ts'
import { withCompileCache } from '../compile-cache.ts'
import { taskMemoryExceeded } from '../memory-limits.ts'
import type { PluginModules } from '../plugin-modules.ts'
import type {
  TaskCommand,
  TaskPoolMessage,
  TaskProcessCommand,
  TaskProcessEnd,
  TaskProcessMessage,
  TaskProcessStart,
} from './task-messages.ts'
import { ProcessLog } from './task-process-log.ts'

export type TaskProcessOptions = {
  readonly name: string
  readonly logger: Logger
  /** Returns the address of the log, for one more process. */
  readonly address: () => Promise<BrokerAddress>
  readonly plugins: PluginModules
  readonly access: ConnectorAccess
  /** Memory limit of all its tasks together, in MB. */
  readonly memoryMbMax: number
  /** How long a task may block its thread, in ms. */
  readonly blockedMsMax: number
  /** Limits of each task. */
  readonly log: LogLimits
  readonly onMessage: (message: TaskPoolMessage) => void
  /** Called once, when the process has ended or is unusable. */
  readonly onEnd: (end: TaskProcessEnd) => void
}

/** After this number of checks without a message, the process as a whole is considered hung. */
const SILENT_CHECKS_MAX = 60
/** How long to wait for the remaining output of a process that has ended, in ms. */
const OUTPUT_TIMEOUT_MS = 500
/**
 * Records in transit outlive two collections of the young generation and become garbage in the old one. By default, V8 lets a
 * small heap grow by a few MB between two collections of the whole, and a sink spent a third of its CPU time on them.
 */
const COLLECTOR_OPTIONS = ['--max-semi-space-size=8', '--heap-growing-percent=150']

/**
 * A process with one thread for tasks, as seen from the worker. It is ended by SIGKILL, which plugin code cannot delay:
 * V8 cannot end a thread that loops in a built-in function or runs native code, and a thread that exhausts its heap
 * there takes the whole process with it.
 */
export class TaskProcess {
  readonly #options: TaskProcessOptions
  readonly #log: ProcessLog
  readonly #child: Promise<ChildProcess | undefined>
  #port: MessagePort | undefined
  #silentChecks = 0
  #hasEnded = false

  constructor(options: TaskProcessOptions) {
    this.#options = options
    this.#log = new ProcessLog(options)
    this.#child = this.#start().catch((error: unknown) => {
      this.#reportEnd({ what: `could not be started in a process: ${traceOf(error)}` })
      return undefined
    })
  }

  post(command: TaskCommand): void {
    void this.#child.then((child) => child && send(child, command))
  }

  /** Sends a heartbeat and ends the process when it does not respond. To be called regularly. */
  checkHeartbeat(): void {
    this.#silentChecks += 1
    void this.#child.then((child) => child && send(child, { do: 'heartbeat' }))
    this.#log.reportDropped()
    if (this.#silentChecks < SILENT_CHECKS_MAX) return
    this.#reportEnd({ what: 'ended with its process, which stopped responding' })
    void this.end()
  }

  /** Ends the process. Resolves when it has exited. */
  async end(): Promise<void> {
    this.#hasEnded = true
    const child = await this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  async #start(): Promise<ChildProcess> {
    const { name, address, plugins, access, memoryMbMax, blockedMsMax, log } = this.#options
    const brokerAddress = await address()
    const child = fork(entryPoint('worker/isolation/tasks/task-process-main'), [name], {
      execArgv: [...COLLECTOR_OPTIONS, ...POSTPONED_OPTIMIZATION],
      env: withCompileCache(process.env),
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    child.on('error', (error) => this.#reportEnd({ what: `could not be started in a process: ${traceOf(error)}` }))
    child.on('exit', (code, signal) => void this.#exited(child, code, signal))
    child.on('message', (message: TaskProcessMessage) => this.#handle(message))
    this.#log.follow(child.stdout as Readable, child.stderr as Readable)
    const options: TaskProcessStart = {
      address: brokerAddress.kind === 'thread' ? 'parent' : brokerAddress,
      plugins,
      access,
      memoryMbMax,
      blockedMsMax,
      log,
    }
    if (brokerAddress.kind === 'thread') this.#connectBroker(child, brokerAddress.port)
    send(child, { do: 'initialize', options })
    return child
  }

  /**
   * Connects the process to the embedded broker that is open in the worker: requests and responses use the IPC channel.
   */
  #connectBroker(child: ChildProcess, port: MessagePort): void {
    this.#port = port
    port.on('message', (message: unknown) => send(child, { do: 'broker', message }))
  }

  #handle(message: TaskProcessMessage): void {
    this.#silentChecks = 0
    if (message.type === 'log') this.#log.write(message.line)
    else if (!this.#hasEnded) this.#handleTaskMessage(message)
  }

  #handleTaskMessage(message: Exclude<TaskProcessMessage, { type: 'log' }>): void {
    switch (message.type) {
      case 'broker':
        this.#port?.postMessage(message.message)
        break
      case 'changed-built-ins':
        this.#reportEnd({
          what: `replaced JavaScript built-ins, which all code in its thread uses: ${message.names.join(', ')}`,
        })
        void this.end()
        break
      case 'ended':
        this.#reportEnd(message.end)
        void this.end()
        break
      default:
        this.#options.onMessage(message)
    }
  }

  async #exited(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    this.#port?.close()
    const { memoryMbMax } = this.#options
    // With a timeout, because a child process that a plugin started may keep the pipes open.
    await withTimeout(once(child, 'close'), OUTPUT_TIMEOUT_MS, () => undefined)
    if (this.#log.outputTail.includes('out of memory')) this.#reportEnd({ what: taskMemoryExceeded(memoryMbMax) })
    else this.#reportEnd({ what: `ended its process by ${signal ?? `exit code ${code}`}${this.#log.outputTail}` })
  }

  #reportEnd(end: TaskProcessEnd): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#options.onEnd(end)
  }
}

/** Errors are ignored: sending fails only when the process has exited, which the `exit` event reports. */
function send(child: ChildProcess, message: TaskProcessCommand): void {
  if (child.connected) child.send(message, () => undefined)
}
