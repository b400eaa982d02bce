import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import kafkajs, { type ISocketFactory, Kafka, logLevel } from 'kafkajs'
import { watchContent } from '../../common/file-watcher.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { TlsSource } from '../../tls/tls-material.ts'
import { BrokerError } from '../broker-error.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'
import { ProtocolReader, ProtocolWriter } from '../protocol-primitives.ts'
import type { KafkaClientConfig } from './client-config.ts'
import type { KafkaApi } from './kafka-api.ts'
import { toBrokerError } from './kafka-error.ts'

// Node does not detect these as named exports.
const { KafkaJSError, KafkaJSSASLAuthenticationError } = kafkajs

/**
 * The internals of kafkajs in use: connections with TLS, SASL and framing. The exact version is pinned, and only this
 * file uses them.
 */
type KafkajsInternals = {
  readonly clientId: string
  readonly socket: { cork(): void; uncork(): void; write(bytes: Uint8Array): void }
  readonly requestQueue: {
    readonly pending: readonly unknown[]
    scheduleCheckPendingRequests: () => void
    rejectAll(error: Error): void
    push(request: { entry: object; expectResponse: boolean; requestTimeout: number; sendRequest: () => void }): void
  }
  readonly connectionStatus: 'connected' | 'disconnecting' | 'disconnected'
  isAuthenticated(): boolean
  authenticate(): Promise<void>
  nextCorrelationId(): number
  disconnect(): Promise<void>
}
type ConnectionPool = {
  readonly pool: readonly KafkajsInternals[]
  getConnection(index: number): Promise<KafkajsInternals>
}
type KafkaNode = { connect(): Promise<void>; disconnect(): Promise<void> }
type Cluster = {
  readonly rootLogger: unknown
  readonly connectionPoolBuilder: {
    build(to?: { host: string; port: number; rack: string | null }): Promise<ConnectionPool>
  }
  readonly brokerPool: {
    createBroker(options: { logger: unknown; connectionPool: ConnectionPool; nodeId: number | null }): KafkaNode
  }
}

const KEEP_ALIVE_MS = 60_000
const COPIED_BYTES_MAX = 16 * 1024

export type NodeAddress = { readonly host: string; readonly port: number }

/** An authenticated connection. Calls are answered in order. */
export interface KafkaConnection {
  readonly isOpen: boolean
  /** `waitMs`: how long the broker may delay the response. Rejects with a `BrokerError`. */
  call<Request, Response>(
    call: KafkaApi<Request, Response>,
    request: Request,
    waitMs?: number,
    clientId?: string,
  ): Promise<Response>
  close(): Promise<void>
}

/** Opens connections to the nodes of a cluster. */
export type KafkaConnector = { open(to: NodeAddress): Promise<KafkaConnection> }

/** `tls` is read again for each connection; undefined: without TLS. */
export function createConnector(
  config: KafkaClientConfig,
  logger: Logger,
  tls: TlsSource<ConnectionOptions> | undefined,
  access: ClientAccess = UNRESTRICTED_CLIENT,
): KafkaConnector & { close(): void } {
  const certificates = tls && watchContent({ ...tls, logger })
  const kafka = new Kafka({
    ...config,
    brokers: [...config.brokers],
    enforceRequestTimeout: true,
    socketFactory: certificates ? secureSockets(certificates.current, access) : plainSockets(access),
    retry: { retries: 0 },
    logLevel: logLevel.WARN,
    // Every error is also thrown to the caller, who knows its meaning: here it is a detail.
    logCreator: () => (entry) => logger.debug({ kafkajs: entry.namespace }, entry.log.message),
  })
  const cluster = clusterOf(kafka)
  return {
    close: () => certificates?.close(),
    open: async ({ host, port }) => {
      const connectionPool = await cluster.connectionPoolBuilder.build({ host, port, rack: null })
      connectionPool.pool.forEach(pollOnlyWhenPending)
      const node = cluster.brokerPool.createBroker({ logger: cluster.rootLogger, connectionPool, nodeId: null })
      const where = `connecting to ${host}:${port}`
      try {
        await node.connect()
        const connection = await connectionPool.getConnection(0)
        return new KafkajsConnection(connection, node, `${host}:${port}`, config.requestTimeout ?? 30_000)
      } catch (error) {
        const brokeOff = connectionPool.pool.every(({ connectionStatus }) => connectionStatus !== 'connected')
        await node.disconnect().catch(() => undefined)
        throw toBrokerError(brokeOff ? brokenOff(error) : error, where)
      }
    },
  }
}

/** Like the socket factory of kafkajs, but with the current certificates instead of the initial ones. */
function secureSockets(tls: () => ConnectionOptions, access: ClientAccess): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const name = isIP(host) === 0 ? { servername: host } : {}
    const to = { host, port, ...access.connectOptions('bootstrap.servers', host, port) }
    return withOptions(connect({ ...to, ...name, ...tls() }, onConnect))
  }
}

/** A broker announces the other brokers of its cluster, so each address is checked when connecting. */
function plainSockets(access: ClientAccess): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const to = { host, port, ...access.connectOptions('bootstrap.servers', host, port) }
    return withOptions(connectPlain(to, onConnect))
  }
}

/** Without a delay, because the system would hold a request back until the response to the one before it has arrived. */
function withOptions<S extends Socket>(socket: S): S {
  return socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay()
}

/** kafkajs reports every failed login as an authentication error, also if the connection broke. */
function brokenOff(error: unknown): unknown {
  return error instanceof KafkaJSSASLAuthenticationError ? new KafkaJSError(error.message) : error
}

function clusterOf(kafka: Kafka): Cluster {
  const create = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  )
  if (!create) throw new Error("this version of kafkajs is not supported: expected the version of Weir's package.json")
  return (kafka as unknown as Record<symbol, (options: object) => Cluster>)[create]!({ allowAutoTopicCreation: false })
}

/**
 * The request queue of kafkajs polls with a timer for `throttledUntil - now` even if nothing is pending. That is
 * negative without throttling, and Node 24 prints a warning about it.
 */
function pollOnlyWhenPending({ requestQueue }: KafkajsInternals): void {
  const original = requestQueue.scheduleCheckPendingRequests
  requestQueue.scheduleCheckPendingRequests = () => {
    if (requestQueue.pending.length > 0) original.call(requestQueue)
  }
}

class KafkajsConnection implements KafkaConnection {
  readonly #connection: KafkajsInternals
  readonly #node: KafkaNode
  readonly #where: string
  readonly #timeoutMs: number

  constructor(connection: KafkajsInternals, node: KafkaNode, where: string, timeoutMs: number) {
    this.#connection = connection
    this.#node = node
    this.#where = where
    this.#timeoutMs = timeoutMs
  }

  get isOpen(): boolean {
    return this.#connection.connectionStatus === 'connected'
  }

  async call<Request, Response>(
    call: KafkaApi<Request, Response>,
    request: Request,
    waitMs = 0,
    clientId = this.#connection.clientId,
  ): Promise<Response> {
    try {
      if (!this.#connection.isAuthenticated()) await this.#connection.authenticate()
      return call.read(readerOf(call, await this.#exchange(call, request, this.#timeoutMs + waitMs, clientId)))
    } catch (error) {
      throw toBrokerError(error, `${call.name} at ${this.#where}`)
    }
  }

  async close(): Promise<void> {
    // Pending calls are rejected: kafkajs would wait for their responses or timeouts.
    this.#connection.requestQueue.rejectAll(new BrokerError('closed', 'the connection to Kafka is closed'))
    await this.#node.disconnect().catch(() => undefined)
  }

  #exchange<Request, Response>(
    call: KafkaApi<Request, Response>,
    request: Request,
    requestTimeout: number,
    clientId: string,
  ): Promise<Buffer> {
    const connection = this.#connection
    // Without this check the call would never settle.
    if (!this.isOpen) throw new BrokerError('unavailable', `the connection to ${this.#where} is closed`)
    const correlationId = connection.nextCorrelationId()
    const parts = partsOf(call, request, correlationId, clientId)
    return new Promise((resolve, reject) => {
      connection.requestQueue.push({
        entry: {
          apiKey: call.key,
          apiName: call.name,
          apiVersion: call.version,
          correlationId,
          resolve: ({ payload }: { payload: Buffer }) => resolve(payload),
          reject,
        },
        expectResponse: true,
        requestTimeout,
        sendRequest: () => {
          connection.socket.cork()
          for (const part of isSmall(parts) ? [Buffer.concat(parts)] : parts) connection.socket.write(part)
          connection.socket.uncork()
        },
      })
    })
  }
}

/** Whether it takes less time to copy the parts than to write several buffers. */
function isSmall(parts: readonly Uint8Array[]): boolean {
  let bytes = 0
  for (const part of parts) bytes += part.length
  return bytes <= COPIED_BYTES_MAX
}

function partsOf<Request, Response>(
  call: KafkaApi<Request, Response>,
  request: Request,
  correlationId: number,
  clientId: string,
): Uint8Array[] {
  const writer = new ProtocolWriter().int16(call.key).int16(call.version).int32(correlationId).string(clientId)
  if (call.isFlexible) writer.noTags()
  call.write(writer, request)
  const parts = writer.parts()
  const length = Buffer.alloc(4)
  length.writeInt32BE(parts.reduce((bytes, part) => bytes + part.length, 0))
  return [length, ...parts]
}

function readerOf<Request, Response>(call: KafkaApi<Request, Response>, payload: Buffer): ProtocolReader {
  const reader = new ProtocolReader(payload)
  if (call.isFlexible) reader.skipTags()
  return reader
}
