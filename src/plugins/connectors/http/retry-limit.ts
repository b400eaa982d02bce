import { RetriableError, type RetryDelays, retryDelayMs } from '../../../sdk/index.ts'

export type RetryLimitSettings = { readonly max: number; readonly backoff: RetryDelays }

/** Limits the consecutive attempts of a batch in which no record was settled. */
export class RetryLimit {
  readonly #settings: RetryLimitSettings
  readonly #random: (() => number) | undefined
  #failures = 0

  constructor(settings: RetryLimitSettings, random?: () => number) {
    this.#settings = settings
    this.#random = random
  }

  /** To be called when records were settled. */
  reset(): void {
    this.#failures = 0
  }

  /** Throws a permanent error if there is one or the limit is reached, else a `RetriableError` with the delay. */
  throwErrors(errors: readonly Error[], { isStopped }: { readonly isStopped: boolean }): never {
    const fatal = errors.find((error) => !(error instanceof RetriableError))
    if (fatal !== undefined) throw fatal
    const waits = (errors as readonly RetriableError[]).map((error) => error.retryAfterMs ?? 0)
    const first = errors[0]!
    if (this.#failures >= this.#settings.max && !isStopped) {
      throw new Error(
        `${first.message}; gave up after ${this.#failures} retries (max.retries). No record is lost: ` +
          'restart the task when the server is available',
        { cause: first },
      )
    }
    const waitMs = Math.max(retryDelayMs(this.#settings.backoff, this.#failures++, this.#random), ...waits)
    throw new RetriableError(first.message, { cause: first, retryAfterMs: waitMs })
  }
}
