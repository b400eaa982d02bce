import type { Clock } from '../../common/clock.ts'
import { type RetryOptions, retry } from '../../common/retry.ts'
import { BrokerError } from '../broker-error.ts'
import type { KafkaClientConfig } from './client-config.ts'
import { findCoordinatorApi } from './group-apis.ts'
import { type ApiVersions, apiVersionsApi } from './identity-apis.ts'
import type { KafkaApi } from './kafka-api.ts'
import type { KafkaConnection, KafkaConnector, NodeAddress } from './kafka-connection.ts'
import { throwOnError } from './kafka-error.ts'
import { type ClusterMetadata, metadataApi } from './produce-fetch-apis.ts'

/** The default of Java clients (`default.api.timeout.ms`): a crashed broker takes a while to recover its log. */
const RETRY = { backoff: { firstMs: 50, maxMs: 1_000 }, withinMs: 60_000 }

/** For calls that the caller repeats, or that are optional. */
export const SHORT_RETRY: RetryLimits = { ...RETRY, withinMs: 3_000 }

/** For calls that follow the creation of a topic: its nodes become leaders a moment after they are announced. */
export const LEADER_RETRY: RetryLimits = { ...RETRY, backoff: { ...RETRY.backoff, firstMs: 10 } }

const CONTROLLER_CONNECTIONS_MAX = 3

export type RetryLimits = Pick<RetryOptions, 'backoff' | 'withinMs'>

/**
 * The nodes of a cluster and connections to them: one shared connection per node for calls that are answered
 * immediately, and further ones for long polls, because responses arrive in order.
 */
export class KafkaCluster {
  readonly #connector: KafkaConnector
  readonly #seeds: readonly NodeAddress[]
  readonly #clock: Clock
  #nodes = new Map<number, NodeAddress>()
  #controller = -1
  readonly #shared = new Map<string, Promise<KafkaConnection>>()
  readonly #spare = new Map<string, KafkaConnection[]>()
  readonly #busy = new Set<KafkaConnection>()
  readonly #coordinators = new Map<string, number>()
  #versions: Promise<ApiVersions> | undefined
  #controllerCalls = 0
  #closed = false

  constructor(connector: KafkaConnector, config: KafkaClientConfig, clock: Clock) {
    this.#connector = connector
    this.#clock = clock
    this.#seeds = config.brokers.map(parseAddress)
  }

  /** Metadata of these topics, or of all. Updates the known nodes. */
  async metadata(topics: readonly string[] | undefined): Promise<ClusterMetadata> {
    const found = await this.onAnyNode(metadataApi, topics)
    this.#nodes = new Map(found.nodes.map(({ id, host, port }) => [id, { host, port }]))
    this.#controller = found.controller
    return found
  }

  async onNode<Request, Response>(
    node: number,
    call: KafkaApi<Request, Response>,
    request: Request,
  ): Promise<Response> {
    return (await this.#sharedConnection(await this.#addressOf(node))).call(call, request)
  }

  async onController<Request, Response>(call: KafkaApi<Request, Response>, request: Request): Promise<Response> {
    if (this.#controller < 0) await this.metadata([])
    return this.retryTransient(async () => {
      try {
        return await this.#callController(call, request)
      } catch (error) {
        if (isMoved(error)) await this.metadata([])
        throw error
      }
    })
  }

  /**
   * The controller responds to a request only when its change is committed. A few concurrent requests use separate connections,
   * so that they do not wait for each other; long polls reuse these connections.
   */
  async #callController<Request, Response>(call: KafkaApi<Request, Response>, request: Request): Promise<Response> {
    const others = this.#controllerCalls++
    try {
      return others > 0 && others < CONTROLLER_CONNECTIONS_MAX
        ? await this.onNodeLongPoll(this.#controller, call, request, 0)
        : await this.onNode(this.#controller, call, request)
    } finally {
      this.#controllerCalls -= 1
    }
  }

  /** Calls every live node, in order of the node ids; each response is a promise of its own. */
  async onEveryNode<Request, Response>(
    call: KafkaApi<Request, Response>,
    request: Request,
  ): Promise<readonly Promise<Response>[]> {
    const { nodes } = await this.metadata([])
    return nodes.map(({ id }) => this.onNode(id, call, request))
  }

  /**
   * A call that the broker may delay by up to `waitMs` uses a connection of its own. `clientId` overrides the default.
   */
  async onNodeLongPoll<Request, Response>(
    node: number,
    call: KafkaApi<Request, Response>,
    request: Request,
    waitMs: number,
    clientId?: string,
  ): Promise<Response> {
    const address = await this.#addressOf(node)
    const key = keyOf(address)
    const connection = this.#takeSpare(key) ?? (await this.#connector.open(address))
    this.#busy.add(connection)
    try {
      if (this.#closed) throw closedError()
      return await connection.call(call, request, waitMs, clientId)
    } finally {
      this.#busy.delete(connection)
      if (this.#closed || !connection.isOpen) await connection.close()
      else this.#spare.set(key, [...(this.#spare.get(key) ?? []), connection])
    }
  }

  /** Calls `use` with the node of the coordinator. Looks the coordinator up again if it moved or is not ready. */
  async withCoordinator<T>(
    type: number,
    key: string,
    use: (node: number) => Promise<T>,
    limits: RetryLimits = RETRY,
  ): Promise<T> {
    const name = `${type}:${key}`
    return this.retryTransient(
      async () => {
        try {
          const known = this.#coordinators.get(name) ?? (await this.#lookForCoordinator(type, key))
          this.#coordinators.set(name, known)
          return await use(known)
        } catch (error) {
          if (isMoved(error)) this.#coordinators.delete(name)
          throw error
        }
      },
      isMoved,
      limits,
    )
  }

  /** Calls the first node that responds: known nodes first, then the bootstrap servers. */
  onAnyNode<Request, Response>(call: KafkaApi<Request, Response>, request: Request): Promise<Response> {
    return this.retryTransient(() => this.#onFirst(call, request), isNotReady)
  }

  /** Whether the cluster supports this version of an API. */
  async supports({ key, version }: KafkaApi<never, unknown>): Promise<boolean> {
    this.#versions ??= this.onAnyNode(apiVersionsApi, undefined).catch((error: unknown) => {
      this.#versions = undefined
      throw error
    })
    const known = (await this.#versions).get(key)
    return known !== undefined && known.min <= version && version <= known.max
  }

  async #onFirst<Request, Response>(call: KafkaApi<Request, Response>, request: Request): Promise<Response> {
    let failure: unknown
    for (const address of [...this.#nodes.values(), ...this.#seeds]) {
      if (this.#closed) throw closedError()
      try {
        return await (await this.#sharedConnection(address)).call(call, request)
      } catch (error) {
        failure = error
        if (!(error instanceof BrokerError) || !error.retriable) throw error
      }
    }
    throw failure
  }

  async close(): Promise<void> {
    this.#closed = true
    const shared = await Promise.allSettled(this.#shared.values())
    const open = shared.flatMap((connection) => (connection.status === 'fulfilled' ? [connection.value] : []))
    await Promise.all(
      [...open, ...[...this.#spare.values()].flat(), ...this.#busy].map((connection) => connection.close()),
    )
  }

  #takeSpare(key: string): KafkaConnection | undefined {
    const spare = this.#spare.get(key) ?? []
    for (let connection = spare.pop(); connection; connection = spare.pop()) if (connection.isOpen) return connection
    return undefined
  }

  async #addressOf(node: number): Promise<NodeAddress> {
    if (!this.#nodes.has(node)) await this.metadata([])
    const address = this.#nodes.get(node)
    if (!address) throw new BrokerError('not_leader', `node ${node} is currently not in the cluster`)
    return address
  }

  async #sharedConnection(address: NodeAddress): Promise<KafkaConnection> {
    if (this.#closed) throw closedError()
    const key = keyOf(address)
    const known = this.#shared.get(key)
    if (known) {
      const connection = await known
      if (connection.isOpen) return connection
      // The first caller that finds the connection closed opens a new one; the others wait for it.
      if (this.#shared.get(key) !== known) return this.#sharedConnection(address)
    }
    const opening = this.#connector.open(address)
    this.#shared.set(key, opening)
    opening.catch(() => {
      if (this.#shared.get(key) === opening) this.#shared.delete(key)
    })
    return opening
  }

  async #lookForCoordinator(type: number, key: string): Promise<number> {
    const found = await this.onAnyNode(findCoordinatorApi, { key, type })
    throwOnError(found.errorNumber, `finding the coordinator of '${key}'`, found.message)
    if (!this.#nodes.has(found.node)) await this.metadata([])
    return found.node
  }

  /** Retries errors that are expected to disappear soon. */
  retryTransient<T>(
    attempt: () => Promise<T>,
    isRetriable: (error: unknown) => boolean = isMoved,
    limits: RetryLimits = RETRY,
  ): Promise<T> {
    return retry(attempt, { ...limits, clock: this.#clock, retriable: (error) => !this.#closed && isRetriable(error) })
  }
}

/** The node is still starting. */
function isNotReady(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'coordinator_moved'
}

function isMoved(error: unknown): boolean {
  return (
    error instanceof BrokerError &&
    (error.code === 'coordinator_moved' ||
      error.code === 'not_leader' ||
      error.code === 'concurrent_transaction' ||
      error.code === 'unavailable')
  )
}

function closedError(): BrokerError {
  return new BrokerError('closed', 'the connection to Kafka is closed')
}

function keyOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`
}

function parseAddress(server: string): NodeAddress {
  const at = server.lastIndexOf(':')
  return { host: server.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(server.slice(at + 1)) }
}
