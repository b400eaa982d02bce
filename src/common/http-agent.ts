import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { ConnectionOptions, SecureContextOptions } from 'node:tls'
import type { buildConnector, Dispatcher } from 'undici'

/** TLS of connections that a program makes, in addition to the CA certificates of the machine. */
export type ClientTls = Pick<
  ConnectionOptions,
  keyof SecureContextOptions | 'checkServerIdentity' | 'rejectUnauthorized' | 'servername'
>

/** Options for a connection to a host. Throws if the connection is denied. */
export type ConnectOptions = (host: string, port: number) => { readonly lookup?: LookupFunction }

export type HttpAgentOptions = {
  readonly tls?: ClientTls | undefined
  /** `http://`, `https://` or `socks5://`, with user and password if the proxy needs them. */
  readonly proxyUrl?: string | undefined
  /** Limit of establishing a connection, TLS included. Default: only the signal of the request ends it. */
  readonly connectTimeoutMs?: number
  /** Limit of connections to one host. Default: as many as there are requests at the same time. */
  readonly connectionsMax?: number
  /** Asked for each connection, so that the address which is connected to is the one that was checked. */
  readonly connectOptions?: ConnectOptions | undefined
}

export type OutgoingRequest = {
  readonly method: string
  /** With user and password: BASIC credentials, unless the headers have others. */
  readonly url: URL
  /** Replaces path and query of the URL, sent as they are. */
  readonly path?: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body?: string | Buffer | undefined
  /**
   * Whether it is the request of another client, which decides itself whether to repeat a write: the latest version, deleted twice, is two
   * versions.
   */
  readonly isForwarded?: boolean
  /** Ends the request and its response. Required, because nothing else limits their time. */
  readonly signal: AbortSignal
}

/** The body must be read to its end or destroyed. */
export type IncomingResponse = {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/** Without a hint of the server, below the idle timeouts of common servers. */
const KEEP_ALIVE_MS = 20_000
/** Default limit of a response that is read at once: half of what a string can have. */
const TEXT_BYTES_MAX = 256 * 1024 * 1024
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const IDEMPOTENT: ReadonlySet<string> = new Set([...SAFE, 'PUT', 'DELETE'])

/**
 * Sends HTTP requests and keeps the connections alive. Redirects are not followed, so credentials reach only the host that
 * they are for.
 */
export class HttpAgent {
  readonly #options: HttpAgentOptions
  #tls: ClientTls | undefined
  #dispatcher: Promise<Dispatcher> | undefined

  constructor(options: HttpAgentOptions = {}) {
    this.#options = options
    this.#tls = options.tls
  }

  /** Resolves when the response begins. Rejects with the error of the system, or with the reason of the signal. */
  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    try {
      return await this.#send(request)
    } catch (error) {
      // The server closed a connection just when it was reused.
      if (request.signal.aborted || !isRepeatable(request) || !isStale(error)) throw error
      return this.#send(request)
    }
  }

  /** Uses other certificates for new connections. The earlier ones end with their requests. */
  setTls(tls: ClientTls | undefined): void {
    if (tls === this.#tls) return
    this.#tls = tls
    void this.#dispatcher?.then((dispatcher) => dispatcher.close())
    this.#dispatcher = undefined
  }

  /** Ends all connections and their requests. */
  close(): void {
    void this.#dispatcher?.then((dispatcher) => dispatcher.destroy())
    this.#dispatcher = undefined
  }

  async #send({ method, url, path, headers, body, signal }: OutgoingRequest): Promise<IncomingResponse> {
    this.#dispatcher ??= createDispatcher(this.#options, this.#tls)
    const dispatcher = await this.#dispatcher
    const response = await dispatcher.request({
      method: method as Dispatcher.HttpMethod,
      origin: url.origin,
      path: path ?? `${url.pathname}${url.search}`,
      headers: { ...basicCredentials(url), ...headers },
      ...(body !== undefined && { body }),
      signal,
    })
    // Whoever reads the body receives its error, too; an error of a body that nobody reads must not end the program.
    response.body.on('error', () => undefined)
    return { status: response.statusCode, headers: response.headers, body: response.body }
  }
}

/** Whether a request may be sent again that may have had its effect. */
export function isRepeatable({ method, isForwarded = false }: OutgoingRequest): boolean {
  return (isForwarded ? SAFE : IDEMPOTENT).has(method)
}

/** Whether the server closed a connection that it had already used for a response, or may have. */
function isStale(error: unknown): boolean {
  const { code, socket } = error as { readonly code?: unknown; readonly socket?: { readonly bytesRead?: number } }
  return code === 'ECONNRESET' || code === 'EPIPE' || (code === 'UND_ERR_SOCKET' && (socket?.bytesRead ?? 0) > 0)
}

function basicCredentials({ username, password }: URL): { readonly authorization?: string } {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

/** Reads a body that has at most `bytesMax` bytes; otherwise rejects and ends the response. */
export async function readText(
  { body }: { readonly body: AsyncIterable<Buffer> },
  bytesMax = TEXT_BYTES_MAX,
): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`the response has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  // undici reuses a connection after a turn of the event loop; a request before that would open another one.
  await setImmediate()
  return Buffer.concat(chunks).toString()
}

const DEFAULT = {}
const sharedAgents = new WeakMap<object, WeakMap<object, HttpAgent>>()

/** One agent for all who use the same objects as options, so that they share connections. */
export function sharedHttpAgent({ tls, connectOptions }: Pick<HttpAgentOptions, 'tls' | 'connectOptions'>): HttpAgent {
  const byTls = sharedAgents.get(connectOptions ?? DEFAULT) ?? new WeakMap<object, HttpAgent>()
  const agent = byTls.get(tls ?? DEFAULT) ?? new HttpAgent({ tls, connectOptions })
  sharedAgents.set(connectOptions ?? DEFAULT, byTls.set(tls ?? DEFAULT, agent))
  return agent
}

/** undici needs 100 ms and 20 MB, so it is loaded with the first request. */
async function createDispatcher(options: HttpAgentOptions, tls: ClientTls | undefined): Promise<Dispatcher> {
  const { connectionsMax, connectTimeoutMs = 0, proxyUrl, connectOptions } = options
  const { Agent, buildConnector, ProxyAgent } = await import('undici')
  const limits = {
    allowH2: false,
    // The signal of the request limits its time.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    ...(connectionsMax !== undefined && { connections: connectionsMax }),
  }
  const connect = { ...tls, allowH2: false, timeout: connectTimeoutMs } as buildConnector.BuildOptions
  if (proxyUrl !== undefined)
    return new ProxyAgent({
      ...limits,
      uri: proxyUrl,
      connectTimeout: connectTimeoutMs,
      ...(tls && { requestTls: tls as buildConnector.BuildOptions }),
    })
  if (connectOptions === undefined) return new Agent({ ...limits, connect })
  return new Agent({
    ...limits,
    connect(to, callback) {
      try {
        const port = Number(to.port || (to.protocol === 'https:' ? 443 : 80))
        buildConnector({ ...connect, ...connectOptions(to.hostname, port) } as buildConnector.BuildOptions)(
          to,
          callback,
        )
      } catch (error) {
        callback(error as Error, null)
      }
    },
  })
}
