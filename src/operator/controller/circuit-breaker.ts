import { type HttpResponse, RequestError } from '../../clients/http.ts'
import type { Clock } from '../../config/clock.ts'
import { messageOf } from '../../config/errors.ts'
import type { Logger } from '../../config/logger.ts'

/** Nobody was asked: the runtime gave no answer a moment ago. Who gets this is woken when it does again. */
export class CircuitOpenError extends RequestError {
  constructor(reason: string) {
    super(0, 0, reason)
    this.name = 'Away'
  }
}

export type CircuitBreakerOptions = {
  readonly clock: Clock
  readonly logger: Logger
  /** One cheap call, by `attempt`. */
  readonly probe: () => Promise<unknown>
  /** Calls go through no more, or do again. */
  readonly onChange: () => void
  /** Ends the probes. */
  readonly signal: AbortSignal
}

/** Calls in a row without an answer that open it: one that is late, or a server that restarts, is no outage. */
const FAILURES = 5
const PROBE = { firstMs: 1_000, maxMs: 15_000 }
/** A proxy answers for one that is away. */
const NO_ANSWER: ReadonlySet<number> = new Set([502, 503, 504])

/** All calls to one runtime go through it. While that does not answer, one probe asks, however many wait. */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions
  #failures = 0
  #pauseMs = PROBE.firstMs
  /** Why it is open. */
  #reason: string | undefined

  constructor(options: CircuitBreakerOptions) {
    this.#options = options
  }

  /** Rejects with `CircuitOpenError`, and asks nobody, while it is open. */
  async execute(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
    if (this.#reason !== undefined) throw new CircuitOpenError(this.#reason)
    const answer = await this.attempt(send)
    if (!NO_ANSWER.has(answer.status)) this.#pauseMs = PROBE.firstMs
    return answer
  }

  /** Asks, open or not, and counts what comes of it. */
  async attempt(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
    try {
      const answer = await send()
      if (NO_ANSWER.has(answer.status)) this.#failed(`HTTP ${answer.status}`)
      else this.#failures = 0
      return answer
    } catch (error) {
      if (error instanceof RequestError) this.#failed(error.message)
      throw error
    }
  }

  #failed(reason: string): void {
    this.#failures += 1
    if (this.#failures < FAILURES || this.#reason !== undefined) return
    this.#reason = reason
    this.#options.logger.warn({ reason }, 'it does not answer: only probes ask it now')
    this.#options.onChange()
    this.#untilAnswered().catch((error: unknown) =>
      this.#options.logger.error({ reason: messageOf(error) }, 'probes ended'),
    )
  }

  async #untilAnswered(): Promise<void> {
    const { clock, probe, onChange, signal, logger } = this.#options
    while (this.#failures > 0) {
      await clock.sleep(this.#pauseMs, signal).catch(() => undefined)
      if (signal.aborted) return
      // Goes on growing where probes are answered and calls are not: all would be woken every second.
      this.#pauseMs = Math.min(2 * this.#pauseMs, PROBE.maxMs)
      await probe().catch(() => undefined)
    }
    this.#reason = undefined
    logger.info('it answers again')
    onChange()
  }
}
