import { type Endpoint, RequestError, requestJson } from '../clients/http-client.ts'
import { ResponseBudget } from '../clients/response-budget.ts'
import type { Clock } from '../common/clock.ts'
import type { Logger } from '../common/logging/logger.ts'
import { Semaphore } from '../common/semaphore.ts'
import { CircuitBreaker } from './controller/circuit-breaker.ts'
import { type Fence, writeFenced } from './controller/leader-fence.ts'
import type { OperatorMetrics } from './operator-metrics.ts'
import type { RuntimeConfig, RuntimeEndpoint, RuntimeKind } from './runtimes.ts'

export type RuntimeConnectionsOptions = {
  readonly fence: Fence
  readonly clock: Clock
  readonly logger: Logger
  readonly operatorMetrics: OperatorMetrics
  /** Called when the circuit breaker of a runtime opens or closes. */
  readonly onAvailabilityChange: (runtime: RuntimeKind, name: string) => void
}

/** A response beyond these limits fails, and the runtime counts as not responding. */
const RESPONSE_BYTES_MAX = 64 * 1_048_576
const RESPONSES_BYTES_MAX = 128 * 1_048_576

/** The limits of all runtimes together. */
export function createResponseBudget(): ResponseBudget {
  return new ResponseBudget({ bytesMax: RESPONSE_BYTES_MAX, totalBytesMax: RESPONSES_BYTES_MAX })
}

/**
 * The connections to all runtimes. Every client of a runtime shares its circuit breaker and its limit of requests in
 * flight.
 */
export class RuntimeConnections {
  readonly #options: RuntimeConnectionsOptions
  readonly #endpoints = new Map<string, RuntimeEndpoint>()
  readonly #responseBudget = createResponseBudget()

  constructor(options: RuntimeConnectionsOptions) {
    this.#options = options
  }

  endpoint(runtime: RuntimeKind, config: RuntimeConfig): RuntimeEndpoint {
    const key = `${runtime} ${config.name}`
    const endpoint = this.#endpoints.get(key) ?? this.#connect(runtime, config)
    this.#endpoints.set(key, endpoint)
    return endpoint
  }

  #connect(runtime: RuntimeKind, config: RuntimeConfig): RuntimeEndpoint {
    const { clock, logger, fence, onAvailabilityChange } = this.#options
    const { name, requestTimeoutMs, maxInFlight } = config
    const address = { ...config.endpoint, timeoutMs: requestTimeoutMs, responseBudget: this.#responseBudget }
    const send = this.#fencedAndCounted(runtime, config)
    const inFlight = new Semaphore(maxInFlight)
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
      through: (call, transport) => inFlight.run(() => circuitBreaker.execute(() => send(call, transport))),
    }
  }

  /** Sends a call while the fence allows it, and counts its outcome. */
  #fencedAndCounted(runtime: RuntimeKind, { name, requestTimeoutMs }: RuntimeConfig): NonNullable<Endpoint['through']> {
    const { fence, operatorMetrics } = this.#options
    return async (call, transport) => {
      const exchange = () => transport({ ...call, signal: fence.signal })
      try {
        const response = await (call.method === 'GET' ? exchange() : writeFenced(fence, requestTimeoutMs, exchange))
        operatorMetrics.runtimeCallEnded(name, runtime, call, response.status)
        return response
      } catch (error) {
        if (error instanceof RequestError) operatorMetrics.runtimeCallEnded(name, runtime, call, error.status)
        throw error
      }
    }
  }
}
