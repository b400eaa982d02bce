import { countersIn, type TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskCommand, TaskProcessMessage } from './task-messages.ts'
import type { LocalTask, TaskRunner } from './task-runner.ts'

const COUNTERS_INTERVAL_MS = 250

/** The counters of one task, and those that were sent last, as JSON. */
type ReportedCounters = { readonly live: TaskCounters; sent: string }

/** Executes the commands of the worker in a task process. */
export class TaskExecutor {
  readonly #runner: TaskRunner
  readonly #send: (message: TaskProcessMessage) => void
  /** By run id, as the counters. */
  readonly #tasks = new Map<number, LocalTask>()
  readonly #counters = new Map<number, ReportedCounters>()

  constructor(runner: TaskRunner, send: (message: TaskProcessMessage) => void) {
    this.#runner = runner
    this.#send = send
    setInterval(() => this.#sendCounters(), COUNTERS_INTERVAL_MS)
  }

  async execute(command: TaskCommand): Promise<void> {
    const { runId } = command
    switch (command.do) {
      case 'start': {
        const live = countersIn()
        this.#counters.set(runId, { live, sent: '' })
        const report: Parameters<TaskRunner['start']>[2] = (message) =>
          this.#send({ type: 'task-message', runId, message })
        this.#tasks.set(runId, this.#runner.start(command.spec, live, report))
        break
      }
      case 'set-paused':
        this.#tasks.get(runId)?.setPaused(command.paused)
        break
      case 'stop':
        await this.#tasks.get(runId)?.stop()
        this.#tasks.delete(runId)
        this.#sendCounters()
        this.#counters.delete(runId)
        this.#send({ type: 'stopped', runId })
    }
  }

  /** Sends the counters that have changed. */
  #sendCounters(): void {
    const counters = [...this.#counters].flatMap(([runId, entry]) => {
      const now = JSON.stringify(entry.live)
      if (now === entry.sent) return []
      entry.sent = now
      return [[runId, { ...entry.live }] as const]
    })
    if (counters.length > 0) this.#send({ type: 'counters', counters })
  }
}
