import { messageOf } from '../../common/errors.ts'
import { traceOf } from './error-trace.ts'
import type { TaskMessage } from './task-spec.ts'

/** The status of a running task: with the error, while the plugin's code is retried. Each reason is reported once in succession. */
export class RetryStatus {
  readonly #report: (message: TaskMessage) => void
  #error: unknown
  #reason: string | undefined
  readonly #isPaused: () => boolean

  constructor(report: (message: TaskMessage) => void, isPaused: () => boolean) {
    this.#report = report
    this.#isPaused = isPaused
  }

  /** Reports the present state, also when the task was paused or resumed. A task that retries still has its reason afterwards. */
  reportState(): void {
    if (this.#isPaused()) this.#report({ type: 'paused' })
    else if (this.#reason === undefined) this.#report({ type: 'running' })
    else this.#report({ type: 'running', retryTrace: traceOf(this.#error) })
  }

  /** Receives each error that is followed by a retry, and undefined when the plugin's code succeeds or is not retried any more. */
  setError(error: unknown): void {
    const reason = error === undefined ? undefined : messageOf(error)
    const hasChanged = reason !== this.#reason
    this.#error = error
    this.#reason = reason
    if (hasChanged && !this.#isPaused()) this.reportState()
  }
}
