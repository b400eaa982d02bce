import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage } from '../../tasks/task-spec.ts'

/** A task in a thread, as the pool knows it. */
export class AssignedTask {
  readonly key: string
  readonly stopped = Promise.withResolvers<void>()
  readonly startedMs: number
  counters: TaskCounters
  /** What it says is of no interest any more: it was told to stop, or has failed. */
  isOver = false
  /** It did not stop in time; nobody waits for it any more. */
  isAbandoned = false
  hasStarted = false
  hasLeft = false
  /** When a stop that it was told has taken too long. */
  stopByMs: number | undefined
  /** Why it has to go to another thread. */
  moveReason: string | undefined
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

  say(message: TaskMessage): void {
    if (this.isOver) return
    if (message.type === 'running' || message.type === 'paused') this.hasStarted = true
    if (message.type === 'failed' || message.type === 'interrupted') this.isOver = true
    this.#report(message)
  }

  /** It is in its thread no more: it has stopped, or its thread has ended. */
  leave(): void {
    this.hasLeft = true
    if (this.moveReason !== undefined) this.say({ type: 'interrupted', reason: this.moveReason })
    this.stopped.resolve()
  }
}
