import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../config/log-rate-limiter.ts'
import type { Logger } from '../../../config/logger.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import { taskKey } from '../../model/task-key.ts'
import { countersIn } from '../../tasks/task-counters.ts'
import type { RunningTask, TaskHost, TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import { AssignedTask } from './assigned-task.ts'
import type { SupervisorMessage, ThreadEnd } from './task-messages.ts'
import { TaskProcess } from './task-process.ts'

export type ThreadPoolOptions = {
  readonly logger: Logger
  readonly address: () => Promise<BrokerAddress>
  /** URLs of plugin modules, in addition to the plugins shipped with Weir. */
  readonly plugins?: readonly string[]
  /** The connector classes that are allowed, and the hosts and files that connectors may use. */
  readonly access: ConnectorAccess
  /** Maximum number of threads, each in a process of its own. Further tasks share these threads. */
  readonly threads: number
  /** Memory limit of each thread and its process, in MB. */
  readonly memoryMbMax: number
  /** Whether a thread is started before there is a task for it. It ends after 10 s if it stays unused. */
  readonly isWarm?: boolean | undefined
  /** How long a task may block its thread, in ms. */
  readonly blockedMsMax: number
  /** Timeout of a task's start, in ms. */
  readonly startMsMax: number
  /** Timeout of a task's stop, in ms. */
  readonly stopMsMax: number
  /** Limits of each task. */
  readonly log: LogLimits
}

/** Tasks of which one ended a thread, without a diagnosis of which one. They share no thread with other tasks. */
type Quarantine = { readonly keys: readonly string[] }

type TaskThreadSlot = {
  readonly process: TaskProcess
  readonly tasks: Map<number, AssignedTask>
  readonly suspects: Quarantine | undefined
  /** Set when the thread is to end: it gets no new tasks, and its tasks move to other threads. */
  isClosing: boolean
}

const LOOK_MS = 250
/** How long a thread without tasks is kept, in ms, so that a restarted task needs no new thread. */
const IDLE_MS = 10_000

/**
 * Runs tasks in threads, each in a process of its own. A thread that a task breaks is replaced: that task fails with a
 * trace that states the reason, and the other tasks are interrupted and restarted in another thread.
 */
export class ThreadPool implements TaskHost {
  readonly #options: ThreadPoolOptions
  readonly #rooms = new Set<TaskThreadSlot>()
  readonly #suspects = new Map<string, Quarantine>()
  readonly #ending = new Set<Promise<void>>()
  readonly #looking: NodeJS.Timeout
  #slots = 0
  #names = 0

  constructor(options: ThreadPoolOptions) {
    this.#options = options
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref()
    if (options.isWarm) this.#clear(this.#open(undefined))
  }

  start(spec: TaskSpec, report: (message: TaskMessage) => void): RunningTask {
    const key = taskKey(spec)
    const room = this.#roomFor(key)
    const slot = this.#slots++
    const task = new AssignedTask(key, report, { counters: { ...countersIn() }, startedMs: performance.now() })
    room.tasks.set(slot, task)
    room.process.post({ do: 'start', slot, spec })
    return {
      pause: () => room.process.post({ do: 'set-paused', slot, paused: true }),
      resume: () => room.process.post({ do: 'set-paused', slot, paused: false }),
      counters: () => ({ ...task.counters }),
      stop: () => {
        task.isOver = true
        this.#suspects.delete(key)
        this.#stop(room, slot, task)
        return task.stopped.promise
      },
      cancel: () => this.#abandon(room, task),
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    for (const room of this.#rooms) this.#end(room)
    await Promise.all(this.#ending)
  }

  #roomFor(key: string): TaskThreadSlot {
    const suspects = this.#suspects.get(key)
    const rooms = [...this.#rooms].filter((room) => room.suspects === suspects && !room.isClosing)
    const smallest = rooms.reduce<TaskThreadSlot | undefined>(
      (best, room) => (best === undefined || room.tasks.size < best.tasks.size ? room : best),
      undefined,
    )
    const mayGrow = rooms.length < (suspects ? 1 : this.#options.threads)
    return smallest && (smallest.tasks.size === 0 || !mayGrow) ? smallest : this.#open(suspects)
  }

  #open(suspects: Quarantine | undefined): TaskThreadSlot {
    const { logger, address, plugins = [], access, memoryMbMax, blockedMsMax, log } = this.#options
    const process = new TaskProcess({
      name: `tasks-${this.#names++}`,
      logger,
      address,
      plugins,
      access,
      memoryMbMax,
      blockedMsMax,
      log,
      onMessage: (message) => this.#hear(room, message),
      onEnd: (end) => this.#ended(room, end),
    })
    const room: TaskThreadSlot = { process, tasks: new Map(), suspects, isClosing: false }
    this.#rooms.add(room)
    return room
  }

  #hear(room: TaskThreadSlot, message: Extract<SupervisorMessage, { type: 'said' | 'stopped' | 'pulse' }>): void {
    if (message.type === 'pulse') {
      for (const [slot, counters] of message.counters) {
        const task = room.tasks.get(slot)
        if (task) task.counters = counters
      }
      return
    }
    const task = room.tasks.get(message.slot)
    if (!task) return
    if (message.type === 'stopped') {
      room.tasks.delete(message.slot)
      task.leave()
      this.#clear(room)
      return
    }
    task.say(message.message)
    // A failed task may still be running code.
    if (message.message.type === 'failed') this.#stop(room, message.slot, task)
  }

  #stop(room: TaskThreadSlot, slot: number, task: AssignedTask): void {
    task.stopByMs ??= performance.now() + this.#options.stopMsMax
    room.process.post({ do: 'stop', slot })
  }

  /** Ends a thread without tasks: after 10 s, or immediately when it is closing or quarantined. */
  #clear(room: TaskThreadSlot): void {
    if (room.tasks.size > 0) return
    const close = () => {
      if (this.#rooms.has(room) && room.tasks.size === 0) this.#end(room)
    }
    if (room.suspects || room.isClosing) close()
    else setTimeout(close, IDLE_MS).unref()
  }

  /**
   * Gives up a task that did not stop in time. Its thread ends as soon as the other tasks have moved to other threads.
   */
  #abandon(room: TaskThreadSlot, task: AssignedTask): void {
    if (!this.#rooms.has(room) || task.hasLeft || task.isAbandoned) return
    task.isAbandoned = true
    room.isClosing = true
    for (const [slot, neighbour] of room.tasks) {
      if (neighbour.isOver) continue
      neighbour.moveReason = `${task.key} did not stop in time and ends with its thread`
      this.#stop(room, slot, neighbour)
    }
    this.#endAbandoned(room)
  }

  /** Ends a closing thread when only tasks that do not stop are left in it. */
  #endAbandoned(room: TaskThreadSlot): void {
    const tasks = [...room.tasks.values()]
    if (room.isClosing && tasks.every((task) => task.isAbandoned)) this.#end(room)
  }

  #look(): void {
    const nowMs = performance.now()
    for (const room of this.#rooms) {
      room.process.look()
      for (const [slot, task] of room.tasks) this.#lookAt(room, slot, task, nowMs)
      this.#endAbandoned(room)
    }
  }

  #lookAt(room: TaskThreadSlot, slot: number, task: AssignedTask, nowMs: number): void {
    const { startMsMax } = this.#options
    if (task.stopByMs !== undefined && nowMs > task.stopByMs) this.#abandon(room, task)
    if (task.hasStarted || task.isOver || nowMs - task.startedMs < startMsMax) return
    const trace = `task ${task.key} did not start within ${startMsMax} ms (worker.task.start.timeout.ms)`
    task.say({ type: 'failed', trace })
    this.#stop(room, slot, task)
  }

  #end(room: TaskThreadSlot): void {
    this.#rooms.delete(room)
    for (const task of room.tasks.values()) task.leave()
    const ended = room.process.end().finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  #ended(room: TaskThreadSlot, { what, diagnosis: testimony }: ThreadEnd): void {
    this.#rooms.delete(room)
    const tasks = [...room.tasks.values()]
    const victims = tasks.filter(({ isOver }) => !isOver)
    // A task that should have stopped may have ended the thread as well, and is not restarted.
    const isCertain = victims.length === tasks.length
    const guilty = testimony?.task ?? (isCertain && victims.length === 1 ? victims[0]?.key : undefined)
    if (guilty === undefined && isCertain) this.#suspect(victims.map(({ key }) => key))
    for (const task of tasks) {
      if (!task.isOver && task.key === guilty)
        task.say({ type: 'failed', trace: traceOf(task.key, what, testimony?.stack) })
      task.moveReason ??= `${guilty ?? 'one of its neighbours'} ${what}`
      task.leave()
    }
  }

  /** Splits the suspects into two quarantines; repeated failures isolate the task that causes them. */
  #suspect(keys: readonly string[]): void {
    const half = Math.ceil(keys.length / 2)
    for (const part of [keys.slice(0, half), keys.slice(half)]) {
      const suspects: Quarantine = { keys: part }
      for (const key of part) this.#suspects.set(key, suspects)
    }
  }
}

function traceOf(key: string, what: string, stack: string | undefined): string {
  return stack === undefined ? `task ${key} ${what}` : `task ${key} ${what}; it was here:\n${stack}`
}
