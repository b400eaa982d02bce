import { type HttpResponse, RequestError } from '../../clients/http-client.ts'
import type { Clock } from '../../common/clock.ts'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logging/logger.ts'

/**
 * The runtime was not called, because its last calls failed. Every resource of the runtime is requeued when it answers
 * again.
 */
export class CircuitOpenError extends RequestError {
  constructor(reason: string) {
    super(0, 0, reason)
    this.name = 'CircuitOpenError'
  }
}

type Attempt = (send: () => Promise<HttpResponse>) => Promise<HttpResponse>

export type CircuitBreakerOptions = {
  readonly clock: Clock
  readonly logger: Logger
  /** Makes one cheap call through `attempt`, which counts its outcome. */
  readonly probe: (attempt: Attempt) => Promise<unknown>
  /** Called when the circuit opens and when it closes. */
  readonly onChange: () => void
  /** Ends the probes. */
  readonly signal: AbortSignal
}

/** Consecutive failures that open the circuit. Fewer are a slow response or a restart, not an outage. */
const FAILURES = 5
const PROBE = { firstMs: 1_000, maxMs: 15_000 }
/** A proxy sends these for a server that is unavailable. */
const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504])

/** Guards the calls to one runtime. While the runtime does not respond, calls fail at once and one probe polls it. */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions
  #failures = 0
  #pauseMs = PROBE.firstMs
  /** Why the circuit is open; undefined while it is closed. */
  #reason: string | undefined

  constructor(options: CircuitBreakerOptions) {
    this.#options = options
  }

  /** Rejects with `CircuitOpenError`, without calling `send`, while the circuit is open. */
  async execute(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
    if (this.#reason !== undefined) throw new CircuitOpenError(this.#reason)
    const response = await this.#attempt(send)
    if (!UNAVAILABLE.has(response.status)) this.#pauseMs = PROBE.firstMs
    return response
  }

  /** Calls `send` whether the circuit is open or not, and counts the outcome. */
  async #attempt(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
    try {
      const response = await send()
      if (UNAVAILABLE.has(response.status)) this.#failed(`HTTP ${response.status}`)
      else this.#failures = 0
      return response
    } catch (error) {
      if (error instanceof RequestError) this.#failed(error.message)
      throw error
    }
  }

  #failed(reason: string): void {
    this.#failures += 1
    if (this.#failures < FAILURES || this.#reason !== undefined) return
    this.#reason = reason
    this.#options.logger.warn({ reason }, 'the runtime does not respond: calls fail until a probe succeeds')
    this.#options.onChange()
    this.#probeUntilAnswered().catch((error: unknown) =>
      this.#options.logger.error({ reason: messageOf(error) }, 'the probe loop of the circuit breaker failed'),
    )
  }

  async #probeUntilAnswered(): Promise<void> {
    const { clock, probe, onChange, signal, logger } = this.#options
    while (this.#failures > 0) {
      await clock.sleep(this.#pauseMs, signal).catch(() => undefined)
      if (signal.aborted) return
      // The pause keeps growing where probes succeed and calls fail, or every resource would be requeued each second.
      this.#pauseMs = Math.min(2 * this.#pauseMs, PROBE.maxMs)
      await probe((send) => this.#attempt(send)).catch(() => undefined)
    }
    this.#reason = undefined
    logger.info('the runtime responds again')
    onChange()
  }
}
