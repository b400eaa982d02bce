import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { type Clock, systemClock } from '../../common/clock.ts'
import { watchContent } from '../../common/file-watcher.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { MessageSplitter } from '../../common/message-splitter.ts'
import { withTimeout } from '../../common/timeout.ts'
import type { TlsSource } from '../../tls/tls-material.ts'
import { BrokerError } from '../broker-error.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'
import { ProtocolReader, ProtocolWriter } from '../protocol-primitives.ts'
import { checkVersions, describeMissing, usableVersion } from './api-requirements.ts'
import type { KafkaClientConfig } from './client-config.ts'
import { type ApiVersions, apiVersionsApi } from './identity-apis.ts'
import type { KafkaApi } from './kafka-api.ts'
import { toBrokerError } from './kafka-error.ts'
import { login } from './kafkajs-login.ts'
import { type NodeAddress, type ResolveHost, resolveAll } from './resolve-host.ts'
import { ResponseErrors } from './response-errors.ts'

const KEEP_ALIVE_MS = 60_000
const COPIED_BYTES_MAX = 16 * 1024
/** A server that does not speak the protocol may appear to announce any length. */
const RESPONSE_BYTES_MAX = 1024 ** 3
const LENGTH_BYTES = 4
const CORRELATION_ID_BYTES = 4
const CORRELATION_IDS = 2 ** 31
/** Fraction of the lifetime of a session after which it is renewed, as in Java. A token is renewed earlier: see `token-cache.ts`. */
const RENEWAL_FRACTION = 0.85
/** Kafka rejects a login within a second of the previous one, as after a session whose token has nearly expired. */
const RENEWAL_INTERVAL_MS = 1_100
/** A constant reason: without one, every abort creates an error with a stack. */
const EXPIRY_CHANGED = new Error('the connection expires at another time')

/** What the caller may change of a call. */
export type CallOptions = {
  /** How long the broker may delay the response. Default: 0. */
  readonly waitMs?: number
  /** Limit of the wait for the response. Default: `request.timeout.ms` and `waitMs`. */
  readonly timeoutMs?: number
  readonly clientId?: string
}

/** An authenticated connection. Calls are answered in order. */
export interface KafkaConnection {
  readonly isOpen: boolean
  /** Rejects with a `BrokerError`. */
  call<Request, Response>(call: KafkaApi<Request, Response>, request: Request, options?: CallOptions): Promise<Response>
  /** Rejects the calls in flight with `reason`. */
  close(reason?: BrokerError): Promise<void>
}

/**
 * Opens connections to the nodes of a cluster. `setupTimeoutMs` limits the connection to each address of the name, and its TLS
 * handshake.
 */
export type KafkaConnector = { open(to: NodeAddress, setupTimeoutMs: number): Promise<KafkaConnection> }

export type ConnectorOptions = {
  readonly logger: Logger
  /** Read again for each connection; undefined: without TLS. */
  readonly tls: TlsSource<ConnectionOptions> | undefined
  readonly access?: ClientAccess
  readonly clock?: Clock
  readonly resolveHost?: ResolveHost | undefined
}

export function createConnector(
  config: KafkaClientConfig,
  { logger, tls, access = UNRESTRICTED_CLIENT, clock = systemClock, resolveHost = resolveAll }: ConnectorOptions,
): KafkaConnector & { close(): void } {
  const certificates = tls && watchContent({ ...tls, logger })
  const warned = new Set<string>()
  const check = (broker: string, versions: ApiVersions) => {
    for (const { without, message } of checkVersions(broker, versions)) {
      if (!warned.has(without)) logger.warn(message)
      warned.add(without)
    }
  }
  return {
    close: () => certificates?.close(),
    open: async (to, setupTimeoutMs) => {
      const where = `connecting to ${to.host}:${to.port}`
      let connection: SocketConnection | undefined
      try {
        const { lookup, port = to.port } = access.connectOptions('bootstrap.servers', to.host, to.port)
        const socket = await connectToAny(
          { host: to.host, port },
          {
            addresses: await resolveHost(to.host, lookup),
            timeoutMs: setupTimeoutMs,
            tls: certificates?.current(),
            clock,
          },
        )
        connection = new SocketConnection(socket, to, config, clock)
        // The server of another protocol closes the connection, or never responds.
        const versions = await connection.call(apiVersionsApi, undefined)
        await connection.authenticate()
        check(`${to.host}:${to.port}`, versions)
        connection.versions = versions
        return connection
      } catch (error) {
        await connection?.close()
        throw toBrokerError(error, where)
      }
    },
  }
}

type ConnectOptions = {
  readonly addresses: readonly string[]
  readonly timeoutMs: number
  readonly tls: ConnectionOptions | undefined
  readonly clock: Clock
}

/** Connects to the first address of a name that accepts the connection. */
async function connectToAny(to: NodeAddress, { addresses, ...options }: ConnectOptions): Promise<Socket> {
  let failure: unknown
  for (const address of addresses) {
    try {
      return await connectTo(to, address, options)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

async function connectTo(
  { host, port }: NodeAddress,
  address: string,
  { timeoutMs, tls, clock }: Omit<ConnectOptions, 'addresses'>,
): Promise<Socket> {
  const to = { host: address, port }
  // The certificate is that of the name.
  const name = isIP(host) === 0 ? { servername: host } : {}
  const socket = tls === undefined ? connectPlain(to) : connect({ ...to, ...name, ...tls })
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  socket.once(tls === undefined ? 'connect' : 'secureConnect', () => resolve(socket))
  socket.once('error', reject)
  socket.once('close', () => reject(closedByServer()))
  // Without a delay, because the system would hold a request back until the response to the one before it has arrived.
  socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay()
  return withTimeout(
    promise,
    timeoutMs,
    () => {
      socket.destroy()
      throw new BrokerError('timeout', `${address}:${port}: no connection within ${timeoutMs} ms`)
    },
    clock,
  )
}

type PendingCall = {
  readonly name: string
  readonly timeoutMs: number
  /** When the call times out, in ms of the monotonic clock. */
  readonly untilMs: number
  readonly resolve: (body: Buffer) => void
  readonly reject: (error: unknown) => void
}

class SocketConnection implements KafkaConnection {
  readonly #socket: Socket
  readonly #node: NodeAddress
  readonly #where: string
  readonly #config: KafkaClientConfig
  readonly #pending = new Map<number, PendingCall>()
  #lastId = 0
  /** Set when the connection has ended: every later call fails with it. */
  #failure: unknown
  readonly #responses: MessageSplitter
  #authenticating: Promise<void> | undefined
  #authenticatedUntilMs = Number.POSITIVE_INFINITY
  /** Of the server; undefined until they are known. */
  versions: ApiVersions | undefined
  readonly #clock: Clock
  #lastUseMs: number
  /** When `#expire` is called next, in ms of the monotonic clock. One timer serves all calls. */
  #expiryMs = Number.POSITIVE_INFINITY
  #expiry = new AbortController()

  constructor(socket: Socket, node: NodeAddress, config: KafkaClientConfig, clock: Clock) {
    this.#socket = socket
    this.#node = node
    this.#where = `${node.host}:${node.port}`
    const invalid = () => new BrokerError('unavailable', `the response of ${this.#where} is not one of Kafka`)
    this.#responses = new MessageSplitter({ min: CORRELATION_ID_BYTES, max: RESPONSE_BYTES_MAX }, invalid)
    this.#config = config
    this.#clock = clock
    this.#lastUseMs = clock.monotonicMs()
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', (error) => this.#fail(error))
    for (const event of ['end', 'close']) socket.on(event, () => this.#fail(closedByServer()))
  }

  get isOpen(): boolean {
    return this.#failure === undefined
  }

  async call<Request, Response>(
    { newer, ...base }: KafkaApi<Request, Response>,
    request: Request,
    {
      waitMs = 0,
      timeoutMs = this.#config.requestTimeoutMs + waitMs,
      clientId = this.#config.clientId,
    }: CallOptions = {},
  ): Promise<Response> {
    const call = newer !== undefined && this.#has(newer) ? newer : base
    const version = this.#versionOf(call)
    try {
      if (this.#clock.monotonicMs() >= this.#authenticatedUntilMs) await this.authenticate()
      const writer = new ProtocolWriter().int16(call.key).int16(version).int32(this.#nextId()).string(clientId)
      if (call.isFlexible) writer.noTags()
      call.write(writer, request, version)
      const reader = new ProtocolReader(await this.#send(call.name, this.#lastId, writer.parts(), timeoutMs))
      if (call.isFlexible && !call.hasFixedResponseHeader) reader.skipTags()
      return call.read(reader, new ResponseErrors(call.rights(request)), version)
    } catch (error) {
      throw toBrokerError(error, `${call.name} at ${this.#where}`)
    }
  }

  #has(api: KafkaApi<never, unknown>): boolean {
    return this.versions !== undefined && usableVersion(api, this.versions) !== undefined
  }

  #versionOf(api: KafkaApi<never, unknown>): number {
    if (this.versions === undefined) return api.version
    const version = usableVersion(api, this.versions)
    if (version !== undefined) return version
    // The server would close the connection.
    throw new BrokerError('unsupported', `the broker ${this.#where}: ${describeMissing(api, this.versions)}`)
  }

  /** Calls that begin during the login wait for it. */
  async authenticate(): Promise<void> {
    const { sasl, clientId } = this.#config
    if (sasl === undefined) return
    this.#authenticating ??= login(
      {
        ...this.#node,
        send: ({ key, version, name }, body) => {
          const header = new ProtocolWriter().int16(key).int16(version).int32(this.#nextId()).string(clientId)
          return this.#send(name, this.#lastId, [...header.parts(), body], this.#config.requestTimeoutMs)
        },
      },
      sasl,
    )
      .then((lifetimeMs) => {
        this.#authenticatedUntilMs =
          lifetimeMs === 0
            ? Number.POSITIVE_INFINITY
            : this.#clock.monotonicMs() + Math.max(lifetimeMs * RENEWAL_FRACTION, RENEWAL_INTERVAL_MS)
      })
      .finally(() => {
        this.#authenticating = undefined
      })
    await this.#authenticating
  }

  async close(reason = new BrokerError('closed', 'the connection to Kafka is closed')): Promise<void> {
    this.#fail(reason)
  }

  #nextId(): number {
    this.#lastId = (this.#lastId + 1) % CORRELATION_IDS
    return this.#lastId
  }

  /** Later responses wait for one that does not arrive, so the connection is closed then. */
  #send(name: string, id: number, parts: readonly Uint8Array[], timeoutMs: number): Promise<Buffer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const untilMs = this.#clock.monotonicMs() + timeoutMs
    this.#pending.set(id, { name, timeoutMs, untilMs, resolve, reject })
    this.#expireAt(untilMs)
    const bytes = parts.reduce((sum, part) => sum + part.length, 0)
    const length = Buffer.allocUnsafe(LENGTH_BYTES)
    length.writeInt32BE(bytes)
    // It takes less time to copy a few bytes than to write several buffers.
    if (bytes <= COPIED_BYTES_MAX) this.#socket.write(Buffer.concat([length, ...parts]))
    else {
      this.#socket.cork()
      for (const part of [length, ...parts]) this.#socket.write(part)
      this.#socket.uncork()
    }
    return promise
  }

  #receive(chunk: Buffer): void {
    try {
      for (const response of this.#responses.push(chunk)) this.#settle(response)
    } catch (error) {
      this.#fail(error)
    }
  }

  #settle(response: Buffer): void {
    const id = response.readInt32BE(0)
    const call = this.#pending.get(id)
    this.#pending.delete(id)
    if (this.#pending.size === 0) {
      this.#lastUseMs = this.#clock.monotonicMs()
      this.#expireAt(this.#lastUseMs + this.#config.connectionIdleMs)
    }
    call?.resolve(response.subarray(CORRELATION_ID_BYTES))
  }

  #expireAt(ms: number): void {
    if (ms >= this.#expiryMs) return
    this.#expiry.abort(EXPIRY_CHANGED)
    this.#expiry = new AbortController()
    this.#expiryMs = ms
    this.#clock.sleep(Math.ceil(ms - this.#clock.monotonicMs()), this.#expiry.signal).then(
      () => this.#expire(),
      () => undefined,
    )
  }

  /** Closes the connection when a call has timed out, or when it was not used for `connections.max.idle.ms`. */
  #expire(): void {
    this.#expiryMs = Number.POSITIVE_INFINITY
    const nowMs = this.#clock.monotonicMs()
    const calls = [...this.#pending.values()]
    const late = calls.find(({ untilMs }) => untilMs <= nowMs)
    const idleMs = this.#lastUseMs + this.#config.connectionIdleMs
    if (late !== undefined)
      this.#fail(new BrokerError('timeout', `${late.name} at ${this.#where}: no response within ${late.timeoutMs} ms`))
    else if (calls.length > 0) this.#expireAt(Math.min(...calls.map(({ untilMs }) => untilMs)))
    else if (idleMs > nowMs) this.#expireAt(idleMs)
    else
      this.#fail(new BrokerError('unavailable', `the connection to ${this.#where} was closed because it was not used`))
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
    this.#expiryMs = Number.NEGATIVE_INFINITY
    this.#expiry.abort(EXPIRY_CHANGED)
    this.#responses.clear()
    this.#socket.destroy()
  }
}

/** As if the server had reset the connection, which is how others end one. */
function closedByServer(): Error {
  return Object.assign(new Error('the server closed the connection'), { code: 'ECONNRESET' })
}
