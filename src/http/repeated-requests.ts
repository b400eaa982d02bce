import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { countWork, REQUEST_WORK } from '../common/code-optimization.ts'
import type { CompletedRequest } from './access-log.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import { newRequestId, REQUEST_ID } from './request-id.ts'
import type { CachedResponse } from './response-cache.ts'

/** A connection whose requests are read here before Node.js parses them. */
type Connection = {
  readonly socket: Socket
  /** The listener of Node.js, which parses requests. */
  readonly parse: (chunk: Buffer) => void
  /** What Node.js parses at the moment, if it can be a GET request without a body. */
  chunk: Buffer | undefined
  /** The headers of the last request that was answered from the cache. */
  headers: string
  /** Whether Node.js has parsed the last bytes of the connection as exactly one complete request, so that it expects a new one. */
  isBetween: boolean
}

type RepeatedResponse = Pick<CachedResponse, 'bytes' | 'endpoint'> & {
  /** The response up to the value of its last header, the ID of the request. */
  readonly head: string
  /** The payload, with a character for each byte. */
  readonly body: string
}

export type RepeatedRequestsOptions = {
  readonly revision: () => number
  readonly onResponse: ((request: CompletedRequest) => void) | undefined
  readonly connections: Pick<ConnectionLimits, 'answerAtOnce' | 'serverOptions'>
}

/** Maximum size of a request in bytes. */
const REQUEST_MAX = 4 * 1024
/** Maximum size of a response in bytes. A larger one may have to wait for the client to read it. */
const BODY_MAX = 16 * 1024
/** Maximum total size of requests and responses in characters. When it is exceeded, all are dropped. */
const CHARS_MAX = 4 * 1024 * 1024
const LETTER_G = 71
const LINE_FEED = 10
const LINE_END = '\r\n'
/** Headers of a response that Node.js adds itself, or that change what it adds. A response that sets one is not kept. */
const SPECIAL_HEADER = /^(?:connection|date|expect|keep-alive|trailer|transfer-encoding|upgrade)$/i

/**
 * Answers a GET request from the cache without parsing it, if an earlier request had the same bytes. For a small response,
 * Node.js spends most of the CPU time on parsing the request and on creating the request and response objects.
 *
 * It does so only if the request is all that was read at once, and the requests before it on its connection were parsed and
 * answered. Node.js parses everything else, as without this class.
 */
export class RepeatedRequests {
  readonly #options: RepeatedRequestsOptions
  /** By the text of the request. */
  readonly #responses = new Map<string, RepeatedResponse>()
  readonly #date = new DateHeader()
  readonly #servers = new WeakMap<Socket, Server>()
  /** The headers that Node.js adds after the date. */
  readonly #keepAlive: string
  #keptRevision = -1
  #chars = 0
  /** The connection whose data Node.js parses at the moment. */
  #parsing: Connection | undefined

  constructor(options: RepeatedRequestsOptions) {
    this.#options = options
    const seconds = Math.floor(options.connections.serverOptions.keepAliveTimeout / 1_000)
    this.#keepAlive = `Connection: keep-alive${LINE_END}Keep-Alive: timeout=${seconds}${LINE_END}${LINE_END}`
  }

  /** Watches the connections of a server without TLS. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#servers.set(socket, server))
  }

  /** Called when a request was answered from the cache. */
  onCached(request: IncomingMessage, response: ServerResponse, cached: CachedResponse): void {
    const { socket } = request
    const server = this.#servers.get(socket)
    if (server && request.method === 'GET') {
      this.#servers.delete(socket)
      setImmediate(() => this.#attach(server, socket))
    }
    const connection = this.#parsing
    const text = connection?.socket === socket ? connection.chunk?.toString('latin1') : undefined
    if (!connection || text === undefined || !isWholeText(text, request)) return
    connection.isBetween = true
    const headers = text.slice(text.indexOf(LINE_END))
    // Requests of a client that sends other headers each time would only fill the memory.
    if (headers === connection.headers && isRepeatable(request, response)) this.#keep(text, cached)
    connection.headers = headers
  }

  /**
   * Reads a connection from now on. Because of the listener, Node.js no longer reads it inside of its parser, which costs 1 to
   * 2 µs. So only connections that were answered from the cache are read.
   */
  #attach(server: Server, socket: Socket): void {
    const [parse, ...others] = socket.listeners('data') as Connection['parse'][]
    if (socket.destroyed || !parse || others.length > 0) return
    const connection: Connection = { socket, parse, chunk: undefined, headers: '', isBetween: false }
    socket.on('data', (chunk: Buffer) => this.#read(server, connection, chunk))
    socket.off('data', parse)
  }

  #read(server: Server, connection: Connection, chunk: Buffer): void {
    const isCandidate = canBeRequest(chunk)
    if (isCandidate && connection.isBetween && this.#respond(server, connection.socket, chunk.toString('latin1')))
      return
    connection.chunk = isCandidate ? chunk : undefined
    connection.isBetween = false
    this.#parsing = connection
    try {
      connection.parse(chunk)
    } finally {
      this.#parsing = undefined
      connection.chunk = undefined
    }
  }

  #respond(server: Server, socket: Socket, text: string): boolean {
    const startMs = performance.now()
    const { connections, revision, onResponse } = this.#options
    const response = this.#keptRevision === revision() ? this.#responses.get(text) : undefined
    if (!response) return false
    // No more is written to a client that does not read, nor after the server has stopped.
    if (socket.writableLength > 0 || !server.listening || !connections.answerAtOnce(socket)) return false
    countWork(REQUEST_WORK)
    const { head, body, endpoint, bytes } = response
    socket.write(head + newRequestId() + this.#date.line() + this.#keepAlive + body, 'latin1')
    onResponse?.({ endpoint, status: 200, ms: performance.now() - startMs, receivedBytes: 0, sentBytes: bytes })
    return true
  }

  #keep(text: string, { headers, payload, encoding, bytes, endpoint }: CachedResponse): void {
    const names = headers.filter((_, at) => at % 2 === 0).map(String)
    const isPlain = names.at(-1) === REQUEST_ID && !names.some((name) => SPECIAL_HEADER.test(name))
    const head = headOf(headers)
    if (!isPlain || bytes > BODY_MAX || Buffer.byteLength(head) !== head.length) return
    const isLatin1 = typeof payload === 'string' && encoding === 'latin1'
    const body = isLatin1 ? payload : Buffer.from(payload as string).toString('latin1')
    const chars = text.length + head.length + body.length
    const revision = this.#options.revision()
    if (revision !== this.#keptRevision || this.#chars + chars > CHARS_MAX) {
      this.#responses.clear()
      this.#keptRevision = revision
      this.#chars = 0
    }
    if (this.#responses.has(text)) return
    this.#responses.set(text, { head, body, endpoint, bytes })
    this.#chars += chars
  }
}

/** The `Date` header of the current second. */
class DateHeader {
  #line: string | undefined

  line(): string {
    if (this.#line !== undefined) return this.#line
    const now = new Date()
    setTimeout(() => {
      this.#line = undefined
    }, 1_000 - now.getMilliseconds()).unref()
    this.#line = `${LINE_END}Date: ${now.toUTCString()}${LINE_END}`
    return this.#line
  }
}

function canBeRequest(chunk: Buffer): boolean {
  return chunk.length <= REQUEST_MAX && chunk[0] === LETTER_G && chunk[chunk.length - 1] === LINE_FEED
}

/**
 * Whether the text is this GET request and nothing else. With the same request line at its start, and as many lines as the
 * request, it contains neither the end of the request before nor the start of the next one.
 */
function isWholeText(text: string, { url, rawHeaders, headers }: IncomingMessage): boolean {
  const lines = text.split(LINE_END)
  return (
    lines[0] === `GET ${url} HTTP/1.1` &&
    lines.length === rawHeaders.length / 2 + 3 &&
    text.endsWith(LINE_END + LINE_END) &&
    headers['transfer-encoding'] === undefined &&
    headers['content-length'] === undefined
  )
}

/** Whether the response to the same request has the same headers again, apart from its ID and the date. */
function isRepeatable({ headers }: IncomingMessage, { shouldKeepAlive }: ServerResponse): boolean {
  return shouldKeepAlive && [REQUEST_ID, 'expect', 'upgrade'].every((name) => headers[name] === undefined)
}

/** The status line and the headers, without the value of the last one. */
function headOf(headers: CachedResponse['headers']): string {
  const lines = ['HTTP/1.1 200 OK']
  for (let at = 0; at < headers.length - 2; at += 2) {
    for (const value of [headers[at + 1]!].flat()) lines.push(`${String(headers[at])}: ${value}`)
  }
  return `${lines.join(LINE_END)}${LINE_END}${String(headers.at(-2))}: `
}
