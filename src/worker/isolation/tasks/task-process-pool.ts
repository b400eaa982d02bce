import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import { taskKey } from '../../model/task-key.ts'
import { countersIn } from '../../tasks/task-counters.ts'
import type { RunningTask, TaskHost, TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import { NO_MODULES, type PluginModules } from '../plugin-modules.ts'
import { PooledTask } from './pooled-task.ts'
import { ProcessLoad } from './process-load.ts'
import type { TaskPoolMessage, TaskProcessEnd } from './task-messages.ts'
import { selectProcess, selectTasksToMove } from './task-placement.ts'
import type { TaskProcess, TaskProcessOptions } from './task-process.ts'

export type TaskProcessPoolOptions = {
  readonly logger: Logger
  readonly address: () => Promise<BrokerAddress>
  readonly plugins?: PluginModules
  /** The connector classes that are allowed, and the hosts and files that connectors may use. */
  readonly access: ConnectorAccess
  readonly open: (options: TaskProcessOptions) => Pick<TaskProcess, 'post' | 'checkHeartbeat' | 'end'>
  /** Maximum number of threads, each in a process of its own. Tasks share one until it is overloaded. */
  readonly threads: number
  /** Memory limit of each thread and its process, in MB. */
  readonly memoryMbMax: number
  /** How long a task may block its thread, in ms. */
  readonly blockedMsMax: number
  /** Timeout of a task's start, in ms. */
  readonly startMsMax: number
  /** Timeout of a task's stop, in ms. */
  readonly stopMsMax: number
  /** Limits of each task. */
  readonly log: LogLimits
}

/** Tasks of which an unknown one ended their thread. They share no thread with other tasks. */
type Quarantine = { readonly keys: readonly string[] }

/** A task process and the tasks that run in it. */
type PooledProcess = {
  readonly process: ReturnType<TaskProcessPoolOptions['open']>
  /** By run id. */
  readonly tasks: Map<number, PooledTask>
  readonly load: ProcessLoad
  readonly quarantine: Quarantine | undefined
  /** Set when the thread is to end: it gets no new tasks, and its tasks move to other threads. */
  isClosing: boolean
}

const CHECK_INTERVAL_MS = 250
/** How long a thread without tasks is kept, in ms, so that a restarted task needs no new thread. */
const IDLE_TIMEOUT_MS = 10_000

/**
 * Runs tasks in threads, each in a process of its own. A thread that a task breaks is replaced: that task fails with a
 * trace that states the reason, and the other tasks are interrupted and restarted in another thread.
 */
export class TaskProcessPool implements TaskHost {
  readonly #options: TaskProcessPoolOptions
  readonly #processes = new Set<PooledProcess>()
  readonly #quarantines = new Map<string, Quarantine>()
  /** The processes to which tasks are moving, by task key. */
  readonly #destinations = new Map<string, PooledProcess>()
  readonly #ending = new Set<Promise<void>>()
  readonly #checkTimer: NodeJS.Timeout
  #lastRunId = 0
  #processCount = 0

  constructor(options: TaskProcessPoolOptions) {
    this.#options = options
    this.#checkTimer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref()
  }

  /** Starts a process before there is a task for it. It ends after 10 s if it stays unused. */
  warmUp(): void {
    if (this.#processes.size === 0) this.#endIfIdle(this.#startProcess(undefined))
  }

  start(spec: TaskSpec, report: (message: TaskMessage) => void): RunningTask {
    const key = taskKey(spec)
    const pooled = this.#selectProcess(key)
    const runId = this.#lastRunId++
    const task = new PooledTask(key, report, { counters: { ...countersIn() }, startedMs: performance.now() })
    pooled.tasks.set(runId, task)
    pooled.process.post({ do: 'start', runId, spec })
    return {
      pause: () => pooled.process.post({ do: 'set-paused', runId, paused: true }),
      resume: () => pooled.process.post({ do: 'set-paused', runId, paused: false }),
      counters: () => ({ ...task.counters }),
      stop: () => {
        task.isOver = true
        this.#quarantines.delete(key)
        this.#destinations.delete(key)
        this.#stop(pooled, runId, task)
        return task.stopped.promise
      },
      cancel: () => this.#abandonTask(pooled, task),
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#checkTimer)
    for (const pooled of this.#processes) this.#end(pooled)
    await Promise.all(this.#ending)
  }

  #selectProcess(key: string): PooledProcess {
    const quarantine = this.#quarantines.get(key)
    const candidates = this.#openProcesses(quarantine)
    const destination = this.#destinations.get(key)
    this.#destinations.delete(key)
    if (destination && candidates.includes(destination)) return destination
    const processes = candidates.map((pooled) => ({ pooled, load: pooled.load.average, tasks: pooled.tasks.size }))
    const selected = selectProcess(processes, quarantine ? 1 : this.#options.threads)
    return selected?.pooled ?? this.#startProcess(quarantine)
  }

  #openProcesses(quarantine: Quarantine | undefined): readonly PooledProcess[] {
    return [...this.#processes].filter((pooled) => pooled.quarantine === quarantine && !pooled.isClosing)
  }

  #startProcess(quarantine: Quarantine | undefined): PooledProcess {
    const { logger, address, plugins = NO_MODULES, access, open, memoryMbMax, blockedMsMax, log } = this.#options
    const process = open({
      name: `tasks-${this.#processCount++}`,
      logger,
      address,
      plugins,
      access,
      memoryMbMax,
      blockedMsMax,
      log,
      onMessage: (message) => this.#handle(pooled, message),
      onEnd: (end) => this.#ended(pooled, end),
    })
    const pooled = { process, tasks: new Map(), load: new ProcessLoad(), quarantine, isClosing: false }
    this.#processes.add(pooled)
    return pooled
  }

  #handle(pooled: PooledProcess, message: TaskPoolMessage): void {
    if (message.type === 'heartbeat') {
      if (pooled.load.add(message.load)) this.#shareLoad(pooled)
      return
    }
    if (message.type === 'counters') {
      for (const [runId, counters] of message.counters) {
        const task = pooled.tasks.get(runId)
        if (task) task.counters = counters
      }
      return
    }
    const task = pooled.tasks.get(message.runId)
    if (!task) return
    if (message.type === 'stopped') {
      pooled.tasks.delete(message.runId)
      task.markEnded()
      this.#endIfIdle(pooled)
      return
    }
    task.handleMessage(message.message)
    // A failed task may still be running code.
    if (message.message.type === 'failed') this.#stop(pooled, message.runId, task)
  }

  /** To be called at the end of a window: moves tasks of an overloaded process to a further one. */
  #shareLoad(pooled: PooledProcess): void {
    const tasks = [...pooled.tasks].map(([runId, task]) => ({ runId, task, records: task.endWindow() }))
    if (pooled.quarantine || pooled.isClosing) return
    if (this.#openProcesses(undefined).length >= this.#options.threads) return
    const movable = tasks.filter(({ task }) => task.hasStarted && !task.isOver && task.moveReason === undefined)
    const { average } = pooled.load
    const moving = selectTasksToMove(average, movable)
    if (moving.length === 0) return
    this.#options.logger.info(
      { ...average, tasks: moving.map(({ task }) => task.key) },
      'a task process is overloaded: some of its tasks move to a further one',
    )
    const destination = this.#startProcess(undefined)
    for (const { runId, task } of moving) {
      task.moveReason = 'its task process was overloaded, and another one continues it'
      this.#destinations.set(task.key, destination)
      // Without a timeout: the task is not at fault, and may complete what it is doing.
      pooled.process.post({ do: 'stop', runId })
    }
    this.#endIfIdle(destination)
  }

  #stop(pooled: PooledProcess, runId: number, task: PooledTask): void {
    task.stopByMs ??= performance.now() + this.#options.stopMsMax
    pooled.process.post({ do: 'stop', runId })
  }

  /** Ends a thread without tasks: after 10 s, or immediately when it is closing or quarantined. */
  #endIfIdle(pooled: PooledProcess): void {
    if (pooled.tasks.size > 0) return
    const close = () => {
      if (this.#processes.has(pooled) && pooled.tasks.size === 0) this.#end(pooled)
    }
    if (pooled.quarantine || pooled.isClosing) close()
    else setTimeout(close, IDLE_TIMEOUT_MS).unref()
  }

  /**
   * Gives up a task that did not stop in time. Its thread ends as soon as the other tasks have moved to other threads.
   */
  #abandonTask(pooled: PooledProcess, task: PooledTask): void {
    if (!this.#processes.has(pooled) || task.hasEnded || task.isAbandoned) return
    task.isAbandoned = true
    pooled.isClosing = true
    for (const [runId, other] of pooled.tasks) {
      if (other.isOver) continue
      other.moveReason = `${task.key} did not stop in time and ends with its thread`
      this.#stop(pooled, runId, other)
    }
    this.#endAbandoned(pooled)
  }

  /** Ends a closing thread when only tasks that do not stop are left in it. */
  #endAbandoned(pooled: PooledProcess): void {
    const tasks = [...pooled.tasks.values()]
    if (pooled.isClosing && tasks.every((task) => task.isAbandoned)) this.#end(pooled)
  }

  #check(): void {
    const nowMs = performance.now()
    for (const pooled of this.#processes) {
      pooled.process.checkHeartbeat()
      for (const [runId, task] of pooled.tasks) this.#checkTask(pooled, runId, task, nowMs)
      this.#endAbandoned(pooled)
    }
  }

  #checkTask(pooled: PooledProcess, runId: number, task: PooledTask, nowMs: number): void {
    const { startMsMax } = this.#options
    if (task.stopByMs !== undefined && nowMs > task.stopByMs) this.#abandonTask(pooled, task)
    if (task.hasStarted || task.isOver || nowMs - task.startedMs < startMsMax) return
    const trace = `task ${task.key} did not start within ${startMsMax} ms (worker.task.start.timeout.ms)`
    task.handleMessage({ type: 'failed', trace })
    this.#stop(pooled, runId, task)
  }

  #end(pooled: PooledProcess): void {
    this.#processes.delete(pooled)
    for (const task of pooled.tasks.values()) task.markEnded()
    const ended = pooled.process.end().finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  #ended(pooled: PooledProcess, { what, diagnosis }: TaskProcessEnd): void {
    this.#processes.delete(pooled)
    const tasks = [...pooled.tasks.values()]
    const running = tasks.filter(({ isOver }) => !isOver)
    // A task that should have stopped may have ended the thread as well, and is not restarted.
    const isCertain = running.length === tasks.length
    const culprit = diagnosis?.task ?? (isCertain && running.length === 1 ? running[0]?.key : undefined)
    if (culprit === undefined && isCertain) this.#isolateCulprit(running.map(({ key }) => key))
    for (const task of tasks) {
      if (!task.isOver && task.key === culprit)
        task.handleMessage({ type: 'failed', trace: failureTrace(task.key, what, diagnosis?.stack) })
      task.moveReason ??= `${culprit ?? 'another task'} ${what}`
      task.markEnded()
    }
  }

  /** Splits the tasks into two quarantines: repeated failures isolate the task that causes them. */
  #isolateCulprit(keys: readonly string[]): void {
    const half = Math.ceil(keys.length / 2)
    for (const part of [keys.slice(0, half), keys.slice(half)]) {
      const quarantine: Quarantine = { keys: part }
      for (const key of part) this.#quarantines.set(key, quarantine)
    }
  }
}

function failureTrace(key: string, what: string, stack: string | undefined): string {
  return stack === undefined ? `task ${key} ${what}` : `task ${key} ${what}; stack of its thread:\n${stack}`
}
