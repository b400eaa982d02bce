import { type Endpoint, RequestError, requestJson } from '../clients/http-client.ts'
import type { Clock } from '../common/clock.ts'
import type { Logger } from '../common/logging/logger.ts'
import { CircuitBreaker } from './controller/circuit-breaker.ts'
import { limitConcurrency } from './controller/concurrency-limit.ts'
import type { Fence } from './controller/leader-fence.ts'
import type { OperatorMetrics } from './operator-metrics.ts'
import type { RuntimeConfig, RuntimeKind } from './runtimes.ts'

export type RuntimeConnectionsOptions = {
  readonly fence: Fence
  readonly clock: Clock
  readonly logger: Logger
  readonly operatorMetrics: OperatorMetrics
  /** Called when the circuit breaker of a runtime opens or closes. */
  readonly onAvailabilityChange: (runtime: RuntimeKind, name: string) => void
}

/**
 * The connections to all runtimes. Every client of a runtime shares its circuit breaker and its limit of requests in
 * flight.
 */
export class RuntimeConnections {
  readonly #options: RuntimeConnectionsOptions
  readonly #endpoints = new Map<string, Endpoint>()

  constructor(options: RuntimeConnectionsOptions) {
    this.#options = options
  }

  endpoint(runtime: RuntimeKind, config: RuntimeConfig): Endpoint {
    const key = `${runtime} ${config.name}`
    const endpoint = this.#endpoints.get(key) ?? this.#connect(runtime, config)
    this.#endpoints.set(key, endpoint)
    return endpoint
  }

  #connect(runtime: RuntimeKind, config: RuntimeConfig): Endpoint {
    const { clock, logger, fence, onAvailabilityChange } = this.#options
    const { name, requestTimeoutMs, maxInFlight } = config
    const address = { ...config.endpoint, timeoutMs: requestTimeoutMs }
    const send = this.#fencedAndCounted(runtime, config)
    const limit = limitConcurrency(maxInFlight)
    const circuitBreaker = new CircuitBreaker({
      clock,
      logger: logger.child({ [runtime]: name }),
      probe: (attempt) =>
        requestJson(
          { ...address, through: (call, transport) => attempt(() => send(call, transport)) },
          { method: 'GET', path: '/' },
        ),
      onChange: () => onAvailabilityChange(runtime, name),
      signal: fence.signal,
    })
    return {
      ...address,
      through: (call, transport) => limit(() => circuitBreaker.execute(() => send(call, transport))),
    }
  }

  /** Sends a call while the fence allows it, and counts its outcome. */
  #fencedAndCounted(runtime: RuntimeKind, { name, requestTimeoutMs }: RuntimeConfig): NonNullable<Endpoint['through']> {
    const { fence, operatorMetrics } = this.#options
    return async (call, transport) => {
      if (call.method !== 'GET') fence.assertFor(requestTimeoutMs)
      try {
        const response = await transport({ ...call, signal: fence.signal })
        operatorMetrics.runtimeCallEnded(name, runtime, call, response.status)
        return response
      } catch (error) {
        if (error instanceof RequestError) operatorMetrics.runtimeCallEnded(name, runtime, call, error.status)
        throw error
      }
    }
  }
}
