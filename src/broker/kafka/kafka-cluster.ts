import type { Clock } from '../../common/clock.ts'
import { type RetryOptions, retry } from '../../common/retry.ts'
import { withTimeout } from '../../common/timeout.ts'
import { BrokerError, type BrokerErrorCode, isTransient } from '../broker-error.ts'
import type { KafkaClientConfig } from './client-config.ts'
import { ConnectionPool, closedError, keyOf } from './connection-pool.ts'
import { findCoordinatorApi } from './group-apis.ts'
import type { KafkaApi } from './kafka-api.ts'
import type { CallOptions, KafkaConnector } from './kafka-connection.ts'
import { type ClusterMetadata, metadataApi } from './produce-fetch-apis.ts'
import {
  canonicalNameOf,
  type NodeAddress,
  type ResolveHost,
  type ResolveName,
  resolveAll,
  resolveCanonical,
} from './resolve-host.ts'
import { type RequiredRights, ResponseErrors } from './response-errors.ts'

/** For calls that the caller repeats: no attempt begins after this time, which is Kafka's default interval of heartbeats. */
const SHORT_RETRY_MS_MAX = 3_000

/** The first pause for calls that follow the creation of a topic: its nodes become leaders a moment after they are announced. */
const LEADER_RETRY_FIRST_MS = 10

const CONTROLLER_CONNECTIONS_MAX = 3

type CoordinatorLookup = { readonly type: number; readonly key: string; readonly rights: RequiredRights }

export type RetryLimits = Pick<RetryOptions, 'backoff' | 'withinMs'> & {
  /** How long the call may take with the attempt that is in flight then. Default: `withinMs`. */
  readonly timeoutMs?: number
}

export type KafkaClusterOptions = {
  readonly connector: KafkaConnector
  readonly config: KafkaClientConfig
  readonly clock: Clock
  readonly resolveHost?: ResolveHost | undefined
  readonly nameOf?: ResolveName | undefined
}

/** The nodes of a cluster: finds the node for each call, and finds the cluster again when its nodes have changed. */
export class KafkaCluster {
  readonly config: KafkaClientConfig
  readonly #clock: Clock
  readonly #pool: ConnectionPool
  readonly #resolveHost: ResolveHost
  readonly #nameOf: ResolveName
  #nodes = new Map<number, NodeAddress>()
  /** Whether a node could not be reached, so that it may have another address now. */
  #isStale = false
  #refreshing: Promise<unknown> | undefined
  /** When metadata was first requested without an answer since the last answer, in ms of the monotonic clock. */
  #unansweredMs: number | undefined
  #controller = -1
  readonly #coordinators = new Map<string, number>()
  #controllerCalls = 0
  #closed = false

  constructor({ connector, config, clock, resolveHost = resolveAll, nameOf = canonicalNameOf }: KafkaClusterOptions) {
    this.config = config
    this.#clock = clock
    this.#resolveHost = resolveHost
    this.#nameOf = nameOf
    this.#pool = new ConnectionPool({ connector, config, clock, onStalled: () => this.#checkStalled() })
  }

  /** The limits of a call that is given none. A crashed broker takes a while to recover its log. */
  get apiLimits(): RetryLimits {
    return { backoff: this.config.retryBackoff, withinMs: this.config.apiTimeoutMs }
  }

  get shortLimits(): RetryLimits {
    const { requestTimeoutMs, retryBackoff } = this.config
    return { backoff: retryBackoff, withinMs: SHORT_RETRY_MS_MAX, timeoutMs: SHORT_RETRY_MS_MAX + requestTimeoutMs }
  }

  /** Of SyncGroup, repetitions included: after `request.timeout.ms` the member joins the group again instead. */
  get requestLimits(): RetryLimits {
    return { backoff: this.config.retryBackoff, withinMs: this.config.requestTimeoutMs }
  }

  get leaderLimits(): RetryLimits {
    const { firstMs, maxMs } = this.config.retryBackoff
    return { ...this.apiLimits, backoff: { firstMs: Math.min(firstMs, LEADER_RETRY_FIRST_MS), maxMs } }
  }

  /** Metadata of these topics, or of all. Updates the known nodes. */
  async metadata(topics: readonly string[] | undefined): Promise<ClusterMetadata> {
    const found = await this.retryTransient(() => this.#requestMetadata(topics), isNotReady)
    this.#unansweredMs = undefined
    this.#isStale = false
    this.#nodes = new Map(found.nodes.map(({ id, host, port }) => [id, { host, port }]))
    this.#controller = found.controller
    this.#pool.retain([...this.#nodes.values()], this.#bootstrapAddresses())
    return found
  }

  async onNode<Request, Response>(
    node: number,
    call: KafkaApi<Request, Response>,
    request: Request,
  ): Promise<Response> {
    return this.#onAddressOf(node, (address) => this.#pool.call(address, call, request))
  }

  async onController<Request, Response>(call: KafkaApi<Request, Response>, request: Request): Promise<Response> {
    return this.retryTransient(async () => {
      if (this.#controller < 0) await this.metadata([])
      try {
        return await this.#callController(call, request)
      } catch (error) {
        if (isMoved(error)) this.#controller = -1
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
        ? await this.onNodeLongPoll(this.#controller, call, request, {})
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

  /** A call that the broker may delay by up to `waitMs` uses a connection of its own. */
  async onNodeLongPoll<Request, Response>(
    node: number,
    call: KafkaApi<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Response> {
    return this.#onAddressOf(node, (address) => this.#pool.callAlone(address, call, request, options))
  }

  /**
   * Calls `use` with the node of the coordinator. Looks the coordinator up again if it moved or is not ready. `rights` are
   * those of the call for which it is looked up: a client that may not look it up lacks them.
   */
  async withCoordinator<T>(
    { type, key, rights }: CoordinatorLookup,
    use: (node: number) => Promise<T>,
    limits: RetryLimits = this.apiLimits,
  ): Promise<T> {
    const name = `${type}:${key}`
    return this.retryTransient(
      async () => {
        try {
          const known = this.#coordinators.get(name) ?? (await this.#lookForCoordinator({ type, key, rights }))
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

  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.close()
  }

  /** Retries errors that are expected to disappear soon. */
  async retryTransient<T>(
    attempt: () => Promise<T>,
    isRetriable: (error: unknown) => boolean = isMoved,
    { backoff, withinMs, timeoutMs = withinMs }: RetryLimits = this.apiLimits,
  ): Promise<T> {
    const retriable = (error: unknown) => !this.#closed && isRetriable(error)
    return this.#within(timeoutMs, retry(attempt, { backoff, withinMs, clock: this.#clock, retriable }))
  }

  #within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
    const late = () => {
      throw new BrokerError('timeout', `no response of the brokers within ${timeoutMs} ms`)
    }
    return withTimeout(work, timeoutMs, late, this.#clock)
  }

  async #requestMetadata(topics: readonly string[] | undefined): Promise<ClusterMetadata> {
    const nowMs = this.#clock.monotonicMs()
    this.#unansweredMs ??= nowMs
    const { rebootstraps, triggerMs } = this.config.recovery
    // KIP-1102: the known nodes may belong to another cluster by now.
    if (rebootstraps && nowMs - this.#unansweredMs >= triggerMs) this.#rebootstrap()
    const found = await this.#onFirst(metadataApi, topics)
    if (!found.isRebootstrapRequired) return found
    if (!rebootstraps)
      throw new BrokerError('unavailable', 'the broker requires that the bootstrap servers are used again')
    this.#rebootstrap()
    return this.#onFirst(metadataApi, topics)
  }

  /** Forgets the known nodes, so that the next call uses the bootstrap servers. */
  #rebootstrap(): void {
    this.#nodes = new Map()
    this.#controller = -1
    this.#coordinators.clear()
    this.#unansweredMs = undefined
  }

  async #onFirst<Request, Response>(call: KafkaApi<Request, Response>, request: Request): Promise<Response> {
    let failure: unknown
    for await (const address of this.#candidates()) {
      if (this.#closed) throw closedError()
      try {
        return await this.#pool.call(address, call, request)
      } catch (error) {
        failure = error
        if (!isTransient(error)) throw error
      }
    }
    throw failure ?? new BrokerError('unavailable', 'no name of bootstrap.servers resolves to an address')
  }

  /**
   * Known nodes first, then the bootstrap servers, unless `metadata.recovery.strategy` excludes them (KIP-899). Nodes that may not be
   * connected to yet are left out if there are others.
   */
  async *#candidates(): AsyncGenerator<NodeAddress> {
    const known = this.#pool.byAvailability([...this.#nodes.values()])
    const tried = new Set<string>()
    const nowMs = this.#clock.monotonicMs()
    for (const address of known.filter((one) => this.#pool.reconnectMs(one) <= nowMs)) {
      tried.add(keyOf(address))
      yield address
    }
    const seeds = known.length === 0 || this.config.recovery.rebootstraps ? await this.#seeds() : []
    const left = [...seeds, ...known].filter((address) => !tried.has(keyOf(address)))
    const ready = left.filter((one) => this.#pool.reconnectMs(one) <= this.#clock.monotonicMs())
    // The call waits for the first one that may be connected to.
    const soonest = left.toSorted((a, b) => this.#pool.reconnectMs(a) - this.#pool.reconnectMs(b)).slice(0, 1)
    yield* ready.length > 0 || tried.size > 0 ? ready : soonest
  }

  async #seeds(): Promise<readonly NodeAddress[]> {
    const servers = this.#bootstrapAddresses()
    if (this.config.dnsLookup === 'use_all_dns_ips') return servers
    return resolveCanonical(servers, (host) => this.#resolveHost(host), this.#nameOf)
  }

  #bootstrapAddresses(): readonly NodeAddress[] {
    return this.config.brokers.map(parseAddress)
  }

  /** A node that cannot be reached may have moved, which the next call finds out. */
  async #onAddressOf<T>(node: number, use: (address: NodeAddress) => Promise<T>): Promise<T> {
    const address = await this.#addressOf(node)
    try {
      return await use(address)
    } catch (error) {
      if (error instanceof BrokerError && (error.code === 'unavailable' || error.code === 'timeout'))
        this.#isStale = true
      throw error
    }
  }

  async #addressOf(node: number): Promise<NodeAddress> {
    if (!this.#nodes.has(node)) await this.metadata([])
    // The known address may still be right.
    else if (this.#isStale) await this.#refresh().catch(() => undefined)
    const address = this.#nodes.get(node)
    if (!address) throw new BrokerError('not_leader', `node ${node} is currently not in the cluster`)
    return address
  }

  #refresh(): Promise<unknown> {
    this.#refreshing ??= this.metadata([]).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Asks another node for the nodes of the cluster: calls at one that has left it end. */
  #checkStalled(): void {
    if (this.#refreshing !== undefined) return
    const others = [...this.#nodes.values(), ...this.#bootstrapAddresses()]
    if (others.some((address) => !this.#pool.isStalled(address))) this.#refresh().catch(() => undefined)
  }

  async #lookForCoordinator({ type, key, rights }: CoordinatorLookup): Promise<number> {
    const found = await this.onAnyNode(findCoordinatorApi, { key, type })
    const errors = new ResponseErrors(rights)
    errors.check(found.errorNumber, `finding the coordinator of '${key}'`, { detail: found.message })
    this.#nodes.set(found.node, { host: found.host, port: found.port })
    return found.node
  }
}

/** The node is still starting. */
function isNotReady(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'coordinator_moved'
}

function isMoved(error: unknown): boolean {
  return error instanceof BrokerError && MOVED.has(error.code)
}

const MOVED: ReadonlySet<BrokerErrorCode> = new Set([
  'coordinator_moved',
  'not_leader',
  'concurrent_transaction',
  'unavailable',
  'timeout',
])

function parseAddress(server: string): NodeAddress {
  const at = server.lastIndexOf(':')
  return { host: server.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(server.slice(at + 1)) }
}
