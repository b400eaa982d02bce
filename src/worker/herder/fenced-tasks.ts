import type { TaskId } from '../../clients/worker-client.ts'
import type { Clock } from '../../common/clock.ts'
import { taskKey } from '../model/task-key.ts'
import type { StartedTask } from './started-task.ts'

export type FencedTasksOptions = {
  readonly clock: Clock
  /** Time after which this worker knows that it has lost its tasks: `session.timeout.ms`. */
  readonly sessionTimeoutMs: number
  /** Shows why a task waits. */
  readonly putWaiting: (id: TaskId, reason: string) => void
  readonly isWanted: (task: StartedTask) => boolean
  readonly restart: (task: StartedTask, reason: string) => void
}

/** A task that is fenced within this time after its restart is not restarted again. */
const FENCED_AGAIN_MS = 60_000

/**
 * Restarts tasks that were fenced. The coordinator fences the producer of a transaction that took longer than its timeout, for example
 * because brokers were not available, and a member of a sink's group when a late request of the task's predecessor, to join, arrives
 * after its own. So does another worker that runs the task: then this one learns within the session timeout that it has lost it.
 */
export class FencedTasks {
  readonly #options: FencedTasksOptions
  /** When a task was fenced, in ms of the monotonic clock. */
  readonly #fencedMs = new Map<string, number>()

  constructor(options: FencedTasksOptions) {
    this.#options = options
  }

  /**
   * Returns false if the task was fenced again soon after its restart: it has a competitor that no rebalance removes, and fails, as
   * every fenced task does in Kafka Connect.
   */
  restart(task: StartedTask): boolean {
    const { clock, sessionTimeoutMs } = this.#options
    const key = taskKey(task.id)
    const nowMs = clock.monotonicMs()
    const lastMs = this.#fencedMs.get(key) ?? Number.NEGATIVE_INFINITY
    this.#fencedMs.set(key, nowMs)
    if (nowMs - lastMs <= sessionTimeoutMs + FENCED_AGAIN_MS) return false
    void this.#restartLater(task)
    return true
  }

  forget(id: TaskId): void {
    this.#fencedMs.delete(taskKey(id))
  }

  async #restartLater(task: StartedTask): Promise<void> {
    const { clock, sessionTimeoutMs, putWaiting, isWanted, restart } = this.#options
    putWaiting(
      task.id,
      'the task was fenced, because a transaction took longer than its timeout, a late request of its predecessor arrived, or another ' +
        `worker runs the task: it is restarted in ${sessionTimeoutMs / 1_000} s, if it still belongs to this worker`,
    )
    await task.running?.stop()
    await clock.sleep(sessionTimeoutMs, task.stopping.signal).catch(() => undefined)
    if (isWanted(task)) restart(task, 'it was fenced')
  }
}
