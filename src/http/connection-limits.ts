import type { Server as HttpServer, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { CountLimit } from './limit-metrics.ts'
import type { HttpLimits } from './limit-settings.ts'

type Connection = {
  readonly key: string
  readonly socket: Socket
  readonly address: string
  /** Created once, because a function for each response costs a twentieth of a small response. */
  readonly onResponseEnd: () => void
  /** The socket that responses are written to: the same, or its TLS socket. */
  responseSocket: Socket | undefined
  isTimed: boolean
  isBusy: boolean
  /** Number of its last idle period; undefined while it has a complete request. */
  idlePeriod: number | undefined
  isPaused: boolean
  /** Requests that arrived before the previous one was answered. */
  readonly pipelined: (() => void)[]
}

/** A connection with this many pending requests is not read any further than the data that has been received. */
const PIPELINED_MAX = 16

const SWEEP_MS = 2_000
const RESPONSES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
}

/**
 * The connections of a server. At the maximum, the connection that has been without a complete request for the longest
 * time is closed, so that idle clients do not lock out others.
 */
export class ConnectionLimits {
  readonly #limits: HttpLimits
  readonly #limited: CountLimit
  readonly #all = new Map<string, Connection>()
  /** By the socket of a request: the same, or its TLS socket. */
  readonly #bySocket = new WeakMap<Socket, Connection>()
  readonly #byAddress = new Map<string, number>()
  /** A counter, not a set of idle connections, which V8 would copy every few requests. */
  #idlePeriods = 0
  readonly #sweep: NodeJS.Timeout

  constructor(limits: HttpLimits, limited: CountLimit) {
    this.#limits = limits
    this.#limited = limited
    this.#sweep = setInterval(() => this.#watchResponses(), SWEEP_MS).unref()
  }

  /** Server options of every listener. */
  get serverOptions() {
    const { headerTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = this.#limits
    return {
      headersTimeout: headerTimeoutMs,
      requestTimeout: Math.max(requestTimeoutMs, headerTimeoutMs),
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, headerTimeoutMs),
      // Without it, the end of the body that a GET request does not have takes a tenth of a small response.
      optimizeEmptyRequests: true,
    }
  }

  watch(server: HttpServer): void {
    server.on('connection', (socket: Socket) => this.#accept(socket))
    server.on('timeout', (socket: Socket) => this.#end(socket))
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#respondToError(error, socket))
  }

  /**
   * Processes a pipelined request after the previous ones are answered, so that a client that sends thousands of
   * requests at once does not block others.
   */
  serve(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const connection = this.#connectionOf(request.socket)
    if (!connection) {
      handle(request, response)
      return
    }
    // `close` is emitted once, so `once` is not needed.
    response.on('close', connection.onResponseEnd)
    if (connection.isBusy) {
      connection.pipelined.push(() => this.#start(connection, request, response, handle))
      if (connection.pipelined.length >= PIPELINED_MAX) this.#pause(connection, request.socket)
    } else this.#start(connection, request, response, handle)
  }

  #start(connection: Connection, request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const { headers, socket } = request
    connection.isBusy = true
    connection.responseSocket = socket
    // A request without a body is complete here; for others, `onBodyRead` is called.
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    if (!hasBody) connection.idlePeriod = undefined
    handle(request, response)
  }

  #onResponseEnd(connection: Connection): void {
    connection.isBusy = false
    connection.isTimed = false
    const next = connection.pipelined.shift()
    if (next) {
      connection.isBusy = true
      setImmediate(next)
    } else connection.idlePeriod ??= ++this.#idlePeriods
    if (connection.isPaused && connection.pipelined.length < PIPELINED_MAX) {
      connection.isPaused = false
      connection.responseSocket?.resume()
    }
  }

  #pause(connection: Connection, socket: Socket): void {
    connection.isPaused = true
    socket.pause()
  }

  onBodyRead({ socket }: IncomingMessage): void {
    const connection = this.#connectionOf(socket)
    if (connection) connection.idlePeriod = undefined
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  #connectionOf(socket: Socket): Connection | undefined {
    const known = this.#bySocket.get(socket)
    if (known) return known
    const accepted = this.#all.get(keyOf(socket))
    if (accepted === undefined) return undefined
    this.#bySocket.set(socket, accepted)
    // Node.js resumes the socket of each request that it has read, also while requests before it are pending.
    socket.on('resume', () => {
      if (accepted.isPaused) socket.pause()
    })
    return accepted
  }

  #accept(socket: Socket): void {
    const { connectionsMax, connectionsPerAddressMax } = this.#limits
    const address = socket.remoteAddress ?? ''
    const ofAddress = this.#byAddress.get(address) ?? 0
    if (connectionsPerAddressMax > 0 && ofAddress >= connectionsPerAddressMax) {
      this.#limited('connections_per_address')
      return void socket.destroy()
    }
    if (this.#all.size >= connectionsMax && !this.#evict()) {
      this.#limited('connections')
      return void socket.destroy()
    }
    const key = keyOf(socket)
    const connection: Connection = {
      key,
      socket,
      address,
      onResponseEnd: () => this.#onResponseEnd(connection),
      responseSocket: undefined,
      isTimed: false,
      isBusy: false,
      idlePeriod: ++this.#idlePeriods,
      isPaused: false,
      pipelined: [],
    }
    this.#all.set(key, connection)
    this.#byAddress.set(address, ofAddress + 1)
    socket.once('close', () => this.#forget(connection))
  }

  #evict(): boolean {
    let oldest: Connection | undefined
    for (const connection of this.#all.values()) {
      const { idlePeriod = Number.POSITIVE_INFINITY } = connection
      if (idlePeriod < (oldest?.idlePeriod ?? Number.POSITIVE_INFINITY)) oldest = connection
    }
    if (!oldest) return false
    this.#limited('connection_evicted')
    this.#forget(oldest)
    oldest.socket.destroy()
    return true
  }

  #forget(connection: Connection): void {
    if (this.#all.get(connection.key) !== connection) return
    this.#all.delete(connection.key)
    const left = (this.#byAddress.get(connection.address) ?? 1) - 1
    if (left > 0) this.#byAddress.set(connection.address, left)
    else this.#byAddress.delete(connection.address)
  }

  /** The timer of a socket detects that a client does not read; it runs only while data is left to write. */
  #watchResponses(): void {
    for (const connection of this.#all.values()) {
      const { responseSocket, isTimed, idlePeriod } = connection
      if (!responseSocket || idlePeriod !== undefined) continue
      const isWriting = responseSocket.writableLength > 0
      if (isWriting === isTimed) continue
      connection.isTimed = isWriting
      responseSocket.setTimeout(isWriting ? this.#limits.responseStallTimeoutMs : 0)
    }
  }

  /** The connection was idle too long, or the client did not read the response. */
  #end(socket: Socket): void {
    if (this.#connectionOf(socket)?.isTimed) this.#limited('response_stalled')
    socket.destroy()
  }

  /** The same responses as those of Node without a listener. */
  #respondToError({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
    if (code === 'ECONNRESET') return void socket.destroy()
    this.#limited(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'malformed_request')
    if (socket.writable && socket.bytesWritten === 0) {
      socket.write(`HTTP/1.1 ${RESPONSES[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
    }
    socket.destroySoon()
  }
}

/** A client may use one port for connections to several listeners. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
