import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage } from '../../tasks/task-spec.ts'

/** A task that the pool assigned to a thread. */
export class PooledTask {
  readonly key: string
  readonly stopped = Promise.withResolvers<void>()
  readonly startedMs: number
  counters: TaskCounters
  /** Set when the task was told to stop or has failed. Its messages are ignored. */
  isOver = false
  /** Set when the task did not stop in time and is no longer waited for. */
  isAbandoned = false
  hasStarted = false
  hasEnded = false
  /** Set when the worker waits no longer for its stop. */
  isCancelled = false
  /** When a requested stop times out, in ms of the own time of its process. */
  stopByMs: number | undefined
  /** Why the task has to move to another thread. */
  moveReason: string | undefined
  #recordsBefore = 0
  readonly #report: (message: TaskMessage) => void

  constructor(
    key: string,
    report: (message: TaskMessage) => void,
    { counters, startedMs }: { readonly counters: TaskCounters; readonly startedMs: number },
  ) {
    this.key = key
    this.#report = report
    this.counters = counters
    this.startedMs = startedMs
  }

  handleMessage(message: TaskMessage): void {
    if (this.isOver) return
    if (message.type === 'running' || message.type === 'paused') this.hasStarted = true
    if (message.type === 'failed' || message.type === 'interrupted') this.isOver = true
    this.#report(message)
  }

  /** Returns the number of records that it has read since the last call. */
  endWindow(): number {
    const before = this.#recordsBefore
    this.#recordsBefore = this.counters.recordsIn
    return this.#recordsBefore - before
  }

  /** Called when the task has stopped or its thread has ended. */
  markEnded(): void {
    this.hasEnded = true
    if (this.moveReason !== undefined) this.handleMessage({ type: 'interrupted', reason: this.moveReason })
    this.stopped.resolve()
  }
}
