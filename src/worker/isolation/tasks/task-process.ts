import type { MessagePort } from 'node:worker_threads'
import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { entryPoint } from '../../../common/program-files.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import { traceOf } from '../../tasks/error-trace.ts'
import type { TopicAccessPolicy } from '../../topic-access/topic-access-policy.ts'
import { IsolatedProcess, type ProcessEnd } from '../isolated-process.ts'
import { taskMemoryExceeded } from '../memory-limits.ts'
import type { PluginModules } from '../plugin-modules.ts'
import { ProcessLog } from '../process-log.ts'
import type {
  TaskCommand,
  TaskPoolMessage,
  TaskProcessCommand,
  TaskProcessMessage,
  TaskProcessStart,
  TopicPolicyCommand,
} from './task-messages.ts'

export type TaskProcessOptions = {
  readonly name: string
  readonly logger: Logger
  /** The fields of the only connector or task in the process, for its output. */
  readonly owner: () => object
  /** Returns the address of the log, for one more process. */
  readonly address: () => Promise<BrokerAddress>
  readonly plugins: PluginModules
  readonly access: ConnectorAccess
  /** What restricts topics and groups when the process has started; it is told of later changes. */
  readonly topicPolicy: () => TopicAccessPolicy
  /** Memory limit of all its tasks together, in MB. */
  readonly memoryMbMax: number
  /** How long a task may block the process, in ms of its own time. */
  readonly blockedMsMax: number
  /** Limits of each task. */
  readonly log: LogLimits
  readonly onMessage: (message: TaskPoolMessage) => void
  /** Called once, when the process has ended or is unusable. */
  readonly onEnd: (end: ProcessEnd) => void
}

/** Young objects are records in transit. */
const SEMI_SPACE_MB = 8
/** The modules were loaded before, when the worker started. */
const LOAD_MS_MAX = 120_000

/** A process that runs tasks, as seen from the worker. */
export class TaskProcess {
  readonly #options: TaskProcessOptions
  readonly #log: ProcessLog
  readonly #process: Promise<IsolatedProcess | undefined>
  #started: IsolatedProcess | undefined
  #port: MessagePort | undefined

  constructor(options: TaskProcessOptions) {
    this.#options = options
    const { name, logger, owner, log } = options
    this.#log = new ProcessLog({ logger, fields: () => ({ process: name, ...owner() }), subject: 'a task', log })
    this.#process = this.#start().catch((error: unknown) => {
      options.onEnd({ cause: 'exit', what: `could not be started in a process: ${traceOf(error)}` })
      return undefined
    })
  }

  /** The time that it had since its start, in ms. */
  get ownMs(): number {
    return this.#started?.ownMs ?? 0
  }

  post(command: TaskCommand | TopicPolicyCommand): void {
    void this.#process.then((process) => process?.post(command satisfies TaskProcessCommand))
  }

  /** Ends the process. Resolves when it has exited. */
  async end(): Promise<void> {
    const process = await this.#process
    await process?.end()
    this.#port?.close()
  }

  async #start(): Promise<IsolatedProcess> {
    const { name, address, plugins, access, topicPolicy, memoryMbMax, blockedMsMax, log, onMessage, onEnd } =
      this.#options
    const brokerAddress = await address()
    const process = new IsolatedProcess({
      entry: entryPoint('worker/isolation/tasks/task-process-main'),
      args: [name],
      semiSpaceMb: SEMI_SPACE_MB,
      memoryMbMax,
      memoryExceeded: taskMemoryExceeded(memoryMbMax),
      blockedMsMax,
      loadMsMax: LOAD_MS_MAX,
      log: this.#log,
      onMessage: (message) => this.#handle(message as TaskProcessMessage),
      onHeartbeat: (load) => onMessage({ type: 'heartbeat', load }),
      onEnd: (end) => {
        this.#port?.close()
        onEnd(end)
      },
    })
    this.#started = process
    const options: TaskProcessStart = {
      address: brokerAddress.kind === 'thread' ? 'parent' : brokerAddress,
      plugins,
      access,
      topicPolicy: topicPolicy(),
      log,
    }
    if (brokerAddress.kind === 'thread') this.#connectBroker(process, brokerAddress.port)
    process.post({ do: 'initialize', options } satisfies TaskProcessCommand)
    return process
  }

  /** Connects the process to the embedded broker that is open in the worker: requests and responses use the IPC channel. */
  #connectBroker(process: IsolatedProcess, port: MessagePort): void {
    this.#port = port
    port.on('message', (message: unknown) => process.post({ do: 'broker', message } satisfies TaskProcessCommand))
  }

  #handle(message: TaskProcessMessage): void {
    if (message.type === 'log') this.#log.write(message.line)
    else if (message.type === 'broker') this.#port?.postMessage(message.message)
    else this.#options.onMessage(message)
  }
}
