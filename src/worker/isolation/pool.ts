import type { BrokerAddress } from '../../broker/home.ts'
import type { Logger } from '../../config/logger.ts'
import { taskKey } from '../plan.ts'
import { countersIn, countersMemory } from '../tasks/task-counters.ts'
import type { RunningTask, TaskHost, TaskMessage, TaskSpec } from '../tasks/task-spec.ts'
import type { FromThread } from './messages.ts'
import { TaskThread, type ThreadEnd } from './task-thread.ts'

export type PoolOptions = {
  readonly logger: Logger
  readonly address: () => Promise<BrokerAddress>
  /** Modules of plugins that tasks may use beside the shipped ones, as URLs. */
  readonly plugins?: readonly string[]
  /** How many threads are made before tasks share one. */
  readonly threads: number
  /** For V8's heap of each thread. */
  readonly memoryMbMax: number
  /** Whether a thread is made before there is a task for it; when it is not used it is let go again. */
  readonly isWarm?: boolean | undefined
  /** How long a task may keep its thread from everything else. */
  readonly blockedMsMax: number
}

type Placed = {
  readonly key: string
  readonly report: (message: TaskMessage) => void
  readonly stopped: PromiseWithResolvers<void>
  /** What it says is of no interest any more: it was told to stop, has failed, or nobody waits for it. */
  isOver: boolean
  isAbandoned: boolean
}

/** Tasks one of which ended a thread, and nobody knows which. They stay among themselves. */
type Suspects = { readonly keys: readonly string[] }

type Room = {
  readonly thread: TaskThread
  readonly tasks: Map<number, Placed>
  readonly suspects: Suspects | undefined
}

const LOOK_MS = 250
/** How long a thread without tasks is kept: a task that is started again finds it warm. */
const IDLE_MS = 10_000

/**
 * Runs tasks in threads. A thread that a task ruins is replaced: the guilty task fails with a trace that says so, the
 * others are interrupted and come back in another thread.
 */
export class ThreadPool implements TaskHost {
  readonly #options: PoolOptions
  readonly #rooms = new Set<Room>()
  readonly #suspects = new Map<string, Suspects>()
  readonly #looking: NodeJS.Timeout
  #slots = 0
  #names = 0

  constructor(options: PoolOptions) {
    this.#options = options
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref()
    if (options.isWarm) this.#clear(this.#open(undefined))
  }

  start(spec: TaskSpec, report: (message: TaskMessage) => void): RunningTask {
    const key = taskKey(spec)
    const room = this.#roomFor(key)
    const slot = this.#slots++
    const memory = countersMemory()
    const counters = countersIn(memory)
    const placed: Placed = { key, report, stopped: Promise.withResolvers(), isOver: false, isAbandoned: false }
    room.tasks.set(slot, placed)
    room.thread.post({ do: 'start', slot, spec, counters: memory })
    return {
      pause: () => room.thread.post({ do: 'set-paused', slot, paused: true }),
      resume: () => room.thread.post({ do: 'set-paused', slot, paused: false }),
      counters: () => ({ ...counters }),
      stop: () => {
        placed.isOver = true
        this.#suspects.delete(key)
        room.thread.post({ do: 'stop', slot })
        return placed.stopped.promise
      },
      abandon: () => {
        placed.isAbandoned = true
        this.#clear(room)
      },
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    await Promise.all([...this.#rooms].map(({ thread }) => thread.end()))
    this.#rooms.clear()
  }

  #roomFor(key: string): Room {
    const suspects = this.#suspects.get(key)
    const rooms = [...this.#rooms].filter((room) => room.suspects === suspects)
    const smallest = rooms.reduce<Room | undefined>(
      (best, room) => (best === undefined || room.tasks.size < best.tasks.size ? room : best),
      undefined,
    )
    const mayGrow = rooms.length < (suspects ? 1 : this.#options.threads)
    return smallest && (smallest.tasks.size === 0 || !mayGrow) ? smallest : this.#open(suspects)
  }

  #open(suspects: Suspects | undefined): Room {
    const { logger, address, plugins = [], memoryMbMax } = this.#options
    const tasks = new Map<number, Placed>()
    const thread = new TaskThread({
      name: `tasks-${this.#names++}`,
      logger,
      address,
      plugins,
      memoryMbMax,
      onMessage: (message) => this.#hear(room, message),
      onEnd: (end) => this.#ended(room, end),
    })
    const room: Room = { thread, tasks, suspects }
    this.#rooms.add(room)
    return room
  }

  #hear(room: Room, message: Exclude<FromThread, { type: 'log' }>): void {
    const placed = room.tasks.get(message.slot)
    if (!placed) return
    if (message.type === 'stopped') {
      room.tasks.delete(message.slot)
      placed.stopped.resolve()
      this.#clear(room)
    } else if (!placed.isOver) {
      placed.isOver = message.message.type === 'failed'
      placed.report(message.message)
    }
  }

  /** A room without anybody of interest is given up: at once when somebody is in it still, else after a while. */
  #clear(room: Room): void {
    const left = [...room.tasks.values()]
    if (left.some(({ isAbandoned }) => !isAbandoned)) return
    const close = () => {
      if (!this.#rooms.has(room) || [...room.tasks.values()].some(({ isAbandoned }) => !isAbandoned)) return
      this.#rooms.delete(room)
      for (const { stopped } of room.tasks.values()) stopped.resolve()
      void room.thread.end()
    }
    if (left.length > 0 || room.suspects) close()
    else setTimeout(close, IDLE_MS).unref()
  }

  #look(): void {
    const { blockedMsMax } = this.#options
    for (const { thread } of this.#rooms) {
      if (thread.look() === Math.ceil(blockedMsMax / LOOK_MS)) void thread.endBlocked(blockedMsMax)
    }
  }

  #ended(room: Room, { what, testimony }: ThreadEnd): void {
    this.#rooms.delete(room)
    for (const { stopped } of room.tasks.values()) stopped.resolve()
    const victims = [...room.tasks.values()].filter(({ isOver }) => !isOver)
    const guilty = testimony?.task ?? (victims.length === 1 ? victims[0]?.key : undefined)
    if (guilty === undefined) this.#suspect(victims.map(({ key }) => key))
    for (const { key, report } of victims) {
      if (key === guilty) report({ type: 'failed', trace: traceOf(key, what, testimony?.stack) })
      else report({ type: 'interrupted', reason: `${guilty ?? 'one of its neighbours'} ${what}` })
    }
  }

  /** Half and half, so that the guilty one is alone in the end. */
  #suspect(keys: readonly string[]): void {
    const half = Math.ceil(keys.length / 2)
    for (const part of [keys.slice(0, half), keys.slice(half)]) {
      const suspects: Suspects = { keys: part }
      for (const key of part) this.#suspects.set(key, suspects)
    }
  }
}

function traceOf(key: string, what: string, stack: string | undefined): string {
  return stack === undefined ? `task ${key} ${what}` : `task ${key} ${what}; it was here:\n${stack}`
}
