import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import type { JavaModule } from '../../../java/java-module.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import { parseTaskKey, taskKey } from '../../model/task-key.ts'
import { countersIn } from '../../tasks/task-counters.ts'
import type { RunningTask, TaskHost, TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import type { TopicPolicies } from '../../topic-access/topic-policies.ts'
import type { ProcessEnd } from '../isolated-process.ts'
import { PooledTask } from './pooled-task.ts'
import { ProcessLoad } from './process-load.ts'
import type { TaskPoolMessage } from './task-messages.ts'
import { selectProcess, selectTasksToMove } from './task-placement.ts'
import type { TaskProcess, TaskProcessOptions } from './task-process.ts'

export type TaskProcessPoolOptions = {
  readonly logger: Logger
  readonly address: () => Promise<BrokerAddress>
  readonly java?: readonly JavaModule[]
  /** The URLs of the installed modules whose code a task runs in its process; none for shipped and Java plugins only. */
  readonly modulesOf: (spec: TaskSpec) => readonly string[]
  /** The connector classes that are allowed, and the hosts and files that connectors may use. */
  readonly access: ConnectorAccess
  readonly topics: Pick<TopicPolicies, 'current' | 'onChange'>
  readonly open: (options: TaskProcessOptions) => Pick<TaskProcess, 'ownMs' | 'post' | 'end'>
  /** Maximum number of processes that the tasks of a group share. They share one until it is overloaded. */
  readonly threads: number
  /** Memory limit of each process, in MB. */
  readonly memoryMbMax: number
  /** How long a task may block its process, in ms of its own time. */
  readonly blockedMsMax: number
  /** Timeout of a task's start, in ms; undefined: none. */
  readonly startMsMax: number | undefined
  /** How long a task may take to stop, in ms of the own time of its process. */
  readonly stopMsMax: number
  /** Limits of each task. */
  readonly log: LogLimits
}

/** Tasks of which an unknown one ended their process. They share no process with other tasks. */
type Quarantine = { readonly keys: readonly string[] }

/**
 * Tasks that may share a process. All tasks that run shipped code only are one group. A connector with code of an installed module
 * is a group of its own: that code can do anything in its process, and harms no other connector there.
 */
type Group = { readonly key: string; readonly modules: readonly string[] }

const SHARED: Group = { key: '', modules: [] }

/** A task process and the tasks that run in it. */
type PooledProcess = {
  readonly process: ReturnType<TaskProcessPoolOptions['open']>
  /** By run id. */
  readonly tasks: Map<number, PooledTask>
  readonly load: ProcessLoad
  readonly group: Group
  readonly quarantine: Quarantine | undefined
  /** Set when the process is to end: it gets no new tasks, and its tasks move to other processes. */
  isClosing: boolean
}

const CHECK_INTERVAL_MS = 250
/** How long a process without tasks is kept, in ms, so that a restarted task needs no new process. */
const IDLE_TIMEOUT_MS = 10_000

/**
 * Runs tasks in processes. A process that a task breaks is replaced: that task fails with a trace that states the reason, and the
 * other tasks of the process are interrupted and restarted in another one.
 */
export class TaskProcessPool implements TaskHost {
  readonly #options: TaskProcessPoolOptions
  readonly #processes = new Set<PooledProcess>()
  readonly #quarantines = new Map<string, Quarantine>()
  /** The processes to which tasks are moving, by task key. */
  readonly #destinations = new Map<string, PooledProcess>()
  readonly #ending = new Set<Promise<void>>()
  readonly #checkTimer: NodeJS.Timeout
  readonly #stopFollowing: () => void
  #lastRunId = 0
  #processCount = 0

  constructor(options: TaskProcessPoolOptions) {
    this.#options = options
    this.#checkTimer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref()
    this.#stopFollowing = options.topics.onChange((policy) => {
      for (const { process } of this.#processes) process.post({ do: 'set-topic-policy', policy })
    })
  }

  /** Starts a process before there is a task for it. It ends after 10 s if it stays unused. */
  warmUp(): void {
    if (this.#processes.size === 0) this.#endIfIdle(this.#startProcess(SHARED, undefined))
  }

  start(spec: TaskSpec, report: (message: TaskMessage) => void): RunningTask {
    const key = taskKey(spec)
    const pooled = this.#selectProcess(key, this.#groupOf(spec))
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
      // It may still stop by itself: on a busy machine, its process had less time than the worker has waited.
      cancel: () => {
        task.isCancelled = true
      },
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#checkTimer)
    this.#stopFollowing()
    for (const pooled of this.#processes) this.#end(pooled)
    await Promise.all(this.#ending)
  }

  #groupOf(spec: TaskSpec): Group {
    const modules = this.#options.modulesOf(spec)
    return modules.length === 0 ? SHARED : { key: JSON.stringify([spec.connector, ...modules]), modules }
  }

  #selectProcess(key: string, group: Group): PooledProcess {
    const quarantine = this.#quarantines.get(key)
    const candidates = this.#openProcesses(group, quarantine)
    const destination = this.#destinations.get(key)
    this.#destinations.delete(key)
    if (destination && candidates.includes(destination)) return destination
    const processes = candidates.map((pooled) => ({ pooled, load: pooled.load.average, tasks: pooled.tasks.size }))
    const selected = selectProcess(processes, quarantine ? 1 : this.#options.threads)
    return selected?.pooled ?? this.#startProcess(group, quarantine)
  }

  #openProcesses(group: Group, quarantine: Quarantine | undefined): readonly PooledProcess[] {
    return [...this.#processes].filter(
      (pooled) =>
        pooled.group.key === group.key &&
        pooled.quarantine === quarantine &&
        !pooled.isClosing &&
        !hasCancelledTask(pooled),
    )
  }

  #startProcess(group: Group, quarantine: Quarantine | undefined): PooledProcess {
    const { logger, address, java = [], access, topics, open, memoryMbMax, blockedMsMax, log } = this.#options
    const process = open({
      name: `tasks-${this.#processCount++}`,
      logger,
      owner: () => ownerOf(pooled),
      address,
      plugins: { urls: group.modules, java },
      access,
      topicPolicy: topics.current,
      memoryMbMax,
      blockedMsMax,
      log,
      onMessage: (message) => this.#handle(pooled, message),
      onEnd: (end) => this.#ended(pooled, end),
    })
    const pooled: PooledProcess = {
      process,
      tasks: new Map(),
      load: new ProcessLoad(),
      group,
      quarantine,
      isClosing: false,
    }
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
    if (this.#openProcesses(pooled.group, undefined).length >= this.#options.threads) return
    const movable = tasks.filter(({ task }) => task.hasStarted && !task.isOver && task.moveReason === undefined)
    const { average } = pooled.load
    const moving = selectTasksToMove(average, movable)
    if (moving.length === 0) return
    this.#options.logger.info(
      { ...average, tasks: moving.map(({ task }) => task.key) },
      'a task process is overloaded: some of its tasks move to a further one',
    )
    const destination = this.#startProcess(pooled.group, undefined)
    for (const { runId, task } of moving) {
      task.moveReason = 'its task process was overloaded, and another one continues it'
      this.#destinations.set(task.key, destination)
      // Without a timeout: the task is not at fault, and may complete what it is doing.
      pooled.process.post({ do: 'stop', runId })
    }
    this.#endIfIdle(destination)
  }

  #stop(pooled: PooledProcess, runId: number, task: PooledTask): void {
    task.stopByMs ??= pooled.process.ownMs + this.#options.stopMsMax
    pooled.process.post({ do: 'stop', runId })
  }

  /** Ends a process without tasks: after 10 s, or immediately when it is closing or quarantined. */
  #endIfIdle(pooled: PooledProcess): void {
    if (pooled.tasks.size > 0) return
    const close = () => {
      if (this.#processes.has(pooled) && pooled.tasks.size === 0) this.#end(pooled)
    }
    if (pooled.quarantine || pooled.isClosing) close()
    else setTimeout(close, IDLE_TIMEOUT_MS).unref()
  }

  /**
   * Gives up a task that did not stop in time. Its process ends as soon as the other tasks have moved to other processes.
   */
  #abandonTask(pooled: PooledProcess, task: PooledTask): void {
    if (!this.#processes.has(pooled) || task.hasEnded || task.isAbandoned) return
    task.isAbandoned = true
    pooled.isClosing = true
    for (const [runId, other] of pooled.tasks) {
      if (other.isOver) continue
      other.moveReason = `${task.key} did not stop in time and ends with its process`
      this.#stop(pooled, runId, other)
    }
    this.#endAbandoned(pooled)
  }

  /** Ends a closing process when only tasks that do not stop are left in it. */
  #endAbandoned(pooled: PooledProcess): void {
    const tasks = [...pooled.tasks.values()]
    if (pooled.isClosing && tasks.every((task) => task.isAbandoned)) this.#end(pooled)
  }

  #check(): void {
    const nowMs = performance.now()
    for (const pooled of this.#processes) {
      for (const [runId, task] of pooled.tasks) this.#checkTask(pooled, runId, task, nowMs)
      this.#endAbandoned(pooled)
    }
  }

  #checkTask(pooled: PooledProcess, runId: number, task: PooledTask, nowMs: number): void {
    const { startMsMax } = this.#options
    if (task.stopByMs !== undefined && pooled.process.ownMs > task.stopByMs) this.#abandonTask(pooled, task)
    if (startMsMax === undefined || task.hasStarted || task.isOver || nowMs - task.startedMs < startMsMax) return
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

  #ended(pooled: PooledProcess, { cause, what, key, stack }: ProcessEnd): void {
    this.#processes.delete(pooled)
    const tasks = [...pooled.tasks.values()]
    const running = tasks.filter(({ isOver }) => !isOver)
    // A task that should have stopped may have ended the process as well, and is not restarted.
    const isCertain = running.length === tasks.length
    const culprit =
      cause === 'lost' ? undefined : (key ?? (isCertain && running.length === 1 ? running[0]?.key : undefined))
    if (culprit === undefined && isCertain && cause !== 'lost') this.#isolateCulprit(running.map(({ key }) => key))
    for (const task of tasks) {
      if (!task.isOver && task.key === culprit)
        task.handleMessage({ type: 'failed', trace: failureTrace(task.key, what, stack) })
      task.moveReason ??= `${culprit ?? (cause === 'lost' ? 'its process' : 'another task')} ${what}`
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

function hasCancelledTask({ tasks }: PooledProcess): boolean {
  return [...tasks.values()].some(({ isCancelled }) => isCancelled)
}

function failureTrace(key: string, what: string, stack: string | undefined): string {
  return stack === undefined ? `task ${key} ${what}` : `task ${key} ${what}; stack of its thread:\n${stack}`
}

/** The fields that name the only connector of a process, or its only task. */
function ownerOf({ tasks }: PooledProcess): object {
  const ids = [...tasks.values()].map(({ key }) => parseTaskKey(key))
  const [first] = ids
  if (first === undefined || ids.some(({ connector }) => connector !== first.connector)) return {}
  return ids.length === 1 ? first : { connector: first.connector }
}
