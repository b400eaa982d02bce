import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { SecureContextOptions } from 'node:tls'
import type { Dispatcher } from 'undici'
import { isNotAllowed, type NetworkAccess } from '../../../sdk/index.ts'

export type TransportTls = SecureContextOptions & {
  readonly checkServerIdentity?: () => undefined
  readonly rejectUnauthorized?: boolean
}

/** Options of a transport. A task uses one transport for all requests, so that they share connections. */
export type TransportOptions = {
  /** Trusted CAs and client certificate, if the system's defaults are not sufficient. */
  readonly tls?: TransportTls | undefined
  /** Access to the network, subject to the network policy. */
  readonly network: NetworkAccess
  /** Proxy URL: `http://user:password@host:port`. */
  readonly proxyUrl?: string | undefined
  /** Timeouts for establishing a connection, and for receiving the complete response. */
  readonly connectTimeoutMs: number
  readonly requestTimeoutMs: number
  /** Maximum size of a response body. A longer body is truncated or rejected, according to `whenLonger`. */
  readonly responseBytesMax: number
  readonly whenLonger: 'cut' | 'refuse'
}

/** Without a hint of the server, below the idle timeouts of common servers. */
const KEEP_ALIVE_MS = 20_000

export type TransportRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal: AbortSignal
}

export type TransportResponse = {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** No response, or an incomplete one. A retry may succeed. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError'
}

/** The response is larger than `responseBytesMax`. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError'
}

export type Transport = {
  /**
   * Resolves for every response status. Rejects with a `NoResponseError`, a `ResponseTooLargeError`, or the signal's
   * reason.
   */
  send(call: TransportRequest): Promise<TransportResponse>
  close(): void
}

/**
 * A connector imports libraries and the SDK only, so this is its own client on undici; the programs have theirs in
 * `src/common/http-agent.ts`.
 */
export function createTransport(options: TransportOptions): Transport {
  let routes: Promise<Routes> | undefined
  return {
    async send(call) {
      const timeout = new AbortController()
      const onTimeout = () => timeout.abort(new Error(`no complete response within ${options.requestTimeoutMs} ms`))
      const timer = setTimeout(onTimeout, options.requestTimeoutMs)
      const signal = AbortSignal.any([call.signal, timeout.signal])
      try {
        routes ??= openRoutes(options)
        const response = await sendRequest(await routes, { ...call, signal })
        return {
          status: response.statusCode,
          headers: response.headers,
          body: await bodyOf(response, options),
        }
      } catch (error) {
        call.signal.throwIfAborted()
        if (isNotAllowed(error)) throw error
        if (error instanceof ResponseTooLargeError)
          throw new ResponseTooLargeError(`${describeRequest(call)}: ${error.message}`)
        const reason = timeout.signal.aborted ? timeout.signal.reason : error
        throw new NoResponseError(`${describeRequest(call)}: ${describeError(reason)}`, { cause: error })
      } finally {
        clearTimeout(timer)
      }
    },
    close() {
      void routes?.then(({ direct, tunnel }) => Promise.all([direct.destroy(), tunnel?.destroy()]))
    },
  }

  async function sendRequest(
    { direct, tunnel, proxy }: Routes,
    call: TransportRequest,
    isRepeated = false,
  ): Promise<Dispatcher.ResponseData> {
    const { method, headers, body, signal } = call
    const url = new URL(call.url)
    // With a proxy, this is the only check of the destination.
    options.network.connectOptions(url.hostname, portOf(url))
    const path = `${url.pathname}${url.search}`
    const isForwarded = proxy !== undefined && url.protocol === 'http:'
    try {
      return await (isForwarded ? direct : (tunnel ?? direct)).request({
        method: method as Dispatcher.HttpMethod,
        ...(isForwarded ? { origin: proxy.origin, path: `${url.origin}${path}` } : { origin: url.origin, path }),
        headers: {
          ...(isForwarded && { host: url.host, ...credentialsOf(proxy, 'proxy-authorization') }),
          ...credentialsOf(url, 'authorization'),
          ...headers,
        },
        ...(body !== undefined && { body }),
        signal,
      })
    } catch (error) {
      // The server closed a kept-alive connection just as it was reused. Retrying is safe: callers tolerate duplicates.
      if (isRepeated || signal.aborted || !isStale(error)) throw error
      return sendRequest({ direct, tunnel, proxy }, call, true)
    }
  }
}

/** Plain HTTP goes to the server, or to the proxy, which forwards it; HTTPS through a tunnel of the proxy, if there is one. */
type Routes = {
  readonly direct: Dispatcher
  readonly tunnel: Dispatcher | undefined
  readonly proxy: URL | undefined
}

/** undici is loaded with the first request. */
async function openRoutes({ tls, proxyUrl, connectTimeoutMs, network }: TransportOptions): Promise<Routes> {
  const { Agent, buildConnector, ProxyAgent } = await import('undici')
  // The transport limits the time of each request.
  const limits = { allowH2: false, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS }
  const connect = { ...tls, allowH2: false, timeout: connectTimeoutMs }
  const proxy = proxyUrl === undefined ? undefined : new URL(proxyUrl)
  if (proxy !== undefined) {
    const tunnel = new ProxyAgent({
      ...limits,
      uri: proxy.href,
      connectTimeout: connectTimeoutMs,
      ...(tls && { requestTls: tls }),
    })
    return { direct: new Agent({ ...limits, connect: { timeout: connectTimeoutMs } }), tunnel, proxy }
  }
  const direct = new Agent({
    ...limits,
    // The address that is connected to is the one that is checked.
    connect(to, callback) {
      try {
        const checked = network.connectOptions(to.hostname, portOf(to))
        buildConnector({ ...connect, ...checked } as typeof connect)(to, callback)
      } catch (error) {
        callback(error as Error, null)
      }
    },
  })
  return { direct, tunnel: undefined, proxy }
}

function credentialsOf({ username, password }: URL, header: string): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { [header]: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

function portOf({ port, protocol }: { readonly port: string; readonly protocol: string }): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

/** Whether the server closed a connection that it had already used for a response, or may have. */
function isStale(error: unknown): boolean {
  const { code, socket } = error as { readonly code?: unknown; readonly socket?: { readonly bytesRead?: number } }
  return code === 'ECONNRESET' || code === 'EPIPE' || (code === 'UND_ERR_SOCKET' && (socket?.bytesRead ?? 0) > 0)
}

async function bodyOf(
  { body }: Dispatcher.ResponseData,
  { responseBytesMax, whenLonger }: TransportOptions,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const left = responseBytesMax - bytes
    bytes += chunk.length
    if (left < chunk.length && whenLonger === 'refuse') {
      throw new ResponseTooLargeError(`the response has more than ${responseBytesMax} bytes`)
    }
    if (left > 0) chunks.push(chunk.subarray(0, left))
  }
  // undici reuses a connection after a turn of the event loop; a request before that would open another one.
  await setImmediate()
  return Buffer.concat(chunks)
}

/** Returns method and URL without the query, which may contain a secret. */
export function describeRequest({ method, url }: Pick<TransportRequest, 'method' | 'url'>): string {
  const { origin, pathname } = new URL(url)
  return `${method} ${origin}${pathname}`
}

/** Length of response excerpts in messages. */
const EXCERPT_MAX = 300

/** Returns an excerpt of a response body, on one line, to append to a message. */
export function responseExcerpt({ body }: Pick<TransportResponse, 'body'>): string {
  const text = body.toString().replace(/\s+/g, ' ').trim()
  return text === '' ? '' : `: ${text.slice(0, EXCERPT_MAX)}`
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // If all addresses of a host failed, use the first reason.
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : []
  if (first !== undefined) return describeError(first)
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'UND_ERR_SOCKET') return 'the server closed the connection before the response was complete'
  const advice = REMEDIES.find(([pattern]) => pattern.test(code))?.[1]
  return advice === undefined ? error.message : `${error.message}: ${advice}`
}

/** Explanations and remedies, by error code of the system or of OpenSSL. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'the host does not exist'],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/, 'add the CA of its certificate to https.ssl.truststore.location'],
  [/^UND_ERR_ABORTED$/, 'check http.proxy.user and http.proxy.password, and that the proxy permits this destination'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another host name'],
]
