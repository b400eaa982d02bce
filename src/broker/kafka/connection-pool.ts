import type { Clock } from '../../common/clock.ts'
import { backoffMs } from '../../common/retry.ts'
import { BrokerError } from '../broker-error.ts'
import type { KafkaClientConfig } from './client-config.ts'
import type { KafkaApi } from './kafka-api.ts'
import type { CallOptions, KafkaConnection, KafkaConnector } from './kafka-connection.ts'
import type { NodeAddress } from './resolve-host.ts'

/**
 * A node that has not answered a call for this time may have left the cluster, which only other nodes can say. They are asked then,
 * and again after each such time. Nothing fails for it, so it is no setting.
 */
const STALL_CHECK_MS = 2_000

export type ConnectionPoolOptions = {
  readonly connector: KafkaConnector
  readonly config: Pick<KafkaClientConfig, 'connectionSetup' | 'reconnectBackoff'>
  readonly clock: Clock
  /** Called while calls are overdue at one of the addresses. */
  readonly onStalled: () => void
}

/** When a call in flight counts as overdue, in ms of the monotonic clock. */
type CallInFlight = { readonly dueMs: number }

/** The connections to one address. */
type Endpoint = {
  readonly address: NodeAddress
  /** For calls that are answered immediately. */
  shared: Promise<KafkaConnection> | undefined
  /** Connections of long polls that have ended. */
  spare: KafkaConnection[]
  readonly open: Set<KafkaConnection>
  readonly calls: Set<CallInFlight>
  /** Connections that failed one after the other. */
  failures: number
  /** When the next connection may be tried, in ms of the monotonic clock. */
  reconnectMs: number
}

/**
 * The connections of a client: one shared connection per address, and further ones for long polls, because responses arrive in
 * order. A connection that fails delays the next one to its address (`reconnect.backoff.ms`).
 */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions
  readonly #endpoints = new Map<string, Endpoint>()
  #isWatching = false
  readonly #stop = new AbortController()

  constructor(options: ConnectionPoolOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#stop.signal.aborted
  }

  /** Uses the shared connection. */
  call<Request, Response>(
    to: NodeAddress,
    api: KafkaApi<Request, Response>,
    request: Request,
    options: CallOptions = {},
  ): Promise<Response> {
    const endpoint = this.#endpointOf(to)
    return this.#watched(endpoint, options, async () =>
      (await this.#sharedConnection(endpoint)).call(api, request, options),
    )
  }

  /** Uses a connection that no other call uses meanwhile. */
  callAlone<Request, Response>(
    to: NodeAddress,
    api: KafkaApi<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Response> {
    const endpoint = this.#endpointOf(to)
    return this.#watched(endpoint, options, async () => {
      const isStalled = this.isStalled(to)
      const connection = (isStalled ? undefined : takeOpen(endpoint.spare)) ?? (await this.#open(endpoint))
      try {
        return await connection.call(api, request, options)
      } finally {
        if (connection.isOpen) endpoint.spare.push(connection)
      }
    })
  }

  /**
   * Orders addresses by how likely they answer soon: those that owe no answer for long, then those that can be connected to, then
   * those with fewer calls in flight.
   */
  byAvailability(addresses: readonly NodeAddress[]): readonly NodeAddress[] {
    const nowMs = this.#options.clock.monotonicMs()
    const ranked = addresses.map((address) => {
      const endpoint = this.#endpoints.get(keyOf(address))
      const rank =
        endpoint === undefined ? 0 : Number(isStalled(endpoint, nowMs)) * 2 + Number(endpoint.reconnectMs > nowMs)
      return { address, rank, calls: endpoint?.calls.size ?? 0 }
    })
    return ranked.toSorted((a, b) => a.rank - b.rank || a.calls - b.calls).map(({ address }) => address)
  }

  isStalled(address: NodeAddress): boolean {
    const endpoint = this.#endpoints.get(keyOf(address))
    return endpoint !== undefined && isStalled(endpoint, this.#options.clock.monotonicMs())
  }

  /** When the address may be connected to, in ms of the monotonic clock. */
  reconnectMs(address: NodeAddress): number {
    return this.#endpoints.get(keyOf(address))?.reconnectMs ?? 0
  }

  /**
   * Ends the connections to addresses that no node has: at once when a call is overdue there, because it will not be answered,
   * else when the calls in flight have ended. Those to bootstrap servers are kept for the next time, unless they are overdue.
   */
  retain(nodes: readonly NodeAddress[], bootstrap: readonly NodeAddress[]): void {
    const ofNodes = new Set(nodes.map(keyOf))
    const used = new Set([...ofNodes, ...bootstrap.map(keyOf)])
    const nowMs = this.#options.clock.monotonicMs()
    for (const [key, endpoint] of this.#endpoints) {
      const isOver = isStalled(endpoint, nowMs) ? !ofNodes.has(key) : endpoint.calls.size === 0 && !used.has(key)
      if (!isOver) continue
      this.#endpoints.delete(key)
      void closeEndpoint(endpoint, new BrokerError('unavailable', `${key} left the cluster before it answered`))
    }
  }

  /** A connection that is being opened closes itself. */
  async close(): Promise<void> {
    this.#stop.abort(POOL_CLOSED)
    await Promise.all([...this.#endpoints.values()].map((endpoint) => closeEndpoint(endpoint, closedError())))
  }

  #endpointOf(address: NodeAddress): Endpoint {
    const key = keyOf(address)
    const known = this.#endpoints.get(key)
    if (known !== undefined) return known
    const endpoint: Endpoint = {
      address,
      shared: undefined,
      spare: [],
      open: new Set(),
      calls: new Set(),
      failures: 0,
      reconnectMs: 0,
    }
    this.#endpoints.set(key, endpoint)
    return endpoint
  }

  async #sharedConnection(endpoint: Endpoint): Promise<KafkaConnection> {
    const known = endpoint.shared
    if (known !== undefined) {
      const connection = await known
      if (connection.isOpen) return connection
      // The first caller that finds the connection closed opens a new one; the others wait for it.
      if (endpoint.shared !== known) return this.#sharedConnection(endpoint)
    }
    const opening = this.#open(endpoint)
    endpoint.shared = opening
    opening.catch(() => {
      if (endpoint.shared === opening) endpoint.shared = undefined
    })
    return opening
  }

  async #open(endpoint: Endpoint): Promise<KafkaConnection> {
    const { connector, config, clock } = this.#options
    const waitMs = endpoint.reconnectMs - clock.monotonicMs()
    if (waitMs > 0) await clock.sleep(waitMs, this.#stop.signal).catch(() => undefined)
    if (this.isClosed) throw closedError()
    const { firstMs, maxMs } = config.connectionSetup
    let connection: KafkaConnection
    try {
      connection = await connector.open(endpoint.address, Math.min(maxMs, firstMs * 2 ** endpoint.failures))
    } catch (error) {
      endpoint.reconnectMs = clock.monotonicMs() + backoffMs(config.reconnectBackoff, endpoint.failures)
      endpoint.failures += 1
      throw error
    }
    endpoint.failures = 0
    endpoint.reconnectMs = 0
    if (this.isClosed || this.#endpoints.get(keyOf(endpoint.address)) !== endpoint) {
      await connection.close()
      throw this.isClosed
        ? closedError()
        : new BrokerError('unavailable', `${keyOf(endpoint.address)} left the cluster`)
    }
    for (const one of endpoint.open) if (!one.isOpen) endpoint.open.delete(one)
    endpoint.open.add(connection)
    return connection
  }

  async #watched<Response>(
    endpoint: Endpoint,
    { waitMs = 0 }: CallOptions,
    call: () => Promise<Response>,
  ): Promise<Response> {
    if (this.isClosed) throw closedError()
    const inFlight = { dueMs: this.#options.clock.monotonicMs() + waitMs + STALL_CHECK_MS }
    endpoint.calls.add(inFlight)
    if (!this.#isWatching) void this.#watch()
    try {
      return await call()
    } catch (error) {
      // Connections that are not in use may lead nowhere, too, which a call would notice only at its own timeout.
      if (error instanceof BrokerError && error.code === 'timeout')
        for (const connection of endpoint.spare.splice(0)) void connection.close()
      throw error
    } finally {
      endpoint.calls.delete(inFlight)
    }
  }

  /** Runs while calls are in flight. */
  async #watch(): Promise<void> {
    const { clock, onStalled } = this.#options
    this.#isWatching = true
    while (!this.isClosed && [...this.#endpoints.values()].some(({ calls }) => calls.size > 0)) {
      await clock.sleep(STALL_CHECK_MS, this.#stop.signal).catch(() => undefined)
      const nowMs = clock.monotonicMs()
      if (!this.isClosed && [...this.#endpoints.values()].some((endpoint) => isStalled(endpoint, nowMs))) onStalled()
    }
    this.#isWatching = false
  }
}

/** A constant reason: without one, every abort creates an error with a stack. */
const POOL_CLOSED = new Error('the connections are closed')

export function closedError(): BrokerError {
  return new BrokerError('closed', 'the connection to Kafka is closed')
}

export function keyOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`
}

function isStalled({ calls }: Endpoint, nowMs: number): boolean {
  for (const { dueMs } of calls) if (dueMs <= nowMs) return true
  return false
}

function takeOpen(spare: KafkaConnection[]): KafkaConnection | undefined {
  for (let connection = spare.pop(); connection; connection = spare.pop()) if (connection.isOpen) return connection
  return undefined
}

async function closeEndpoint({ open }: Endpoint, reason: BrokerError): Promise<void> {
  await Promise.all([...open].map((connection) => connection.close(reason)))
}
