import { Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import { isNotAllowed, type NetworkAccess } from '../../../sdk/index.ts'

/** Options of a transport. A task uses one transport for all requests, so that they share connections. */
export type TransportOptions = {
  /** Trusted CAs and client certificate, if the system's defaults are not sufficient. */
  readonly tls?: (SecureContextOptions & { readonly checkServerIdentity?: () => undefined }) | undefined
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

export type TransportRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

export type TransportResponse = {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingMessage['headers']
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

export function createTransport(options: TransportOptions): Transport {
  const { tls, proxyUrl } = options
  const agentOptions = {
    keepAlive: true,
    ...(proxyUrl && { proxyEnv: { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl } }),
  }
  const plain = new HttpAgent(agentOptions)
  const secure = new HttpsAgent({ ...agentOptions, ...tls })
  return {
    async send(call) {
      const timeout = new AbortController()
      const onTimeout = () => timeout.abort(new Error(`no complete response within ${options.requestTimeoutMs} ms`))
      const timer = setTimeout(onTimeout, options.requestTimeoutMs)
      const signal = AbortSignal.any([call.signal, timeout.signal])
      try {
        const response = await sendRequest(call, signal)
        return {
          status: response.statusCode ?? 0,
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
      plain.destroy()
      secure.destroy()
    },
  }

  function sendRequest(call: TransportRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, url, body } = call
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const { protocol, hostname, port } = new URL(url)
    const connectOptions = options.network.connectOptions(hostname, Number(port || (protocol === 'https:' ? 443 : 80)))
    const request = { method, headers: { ...call.headers, ...length }, signal, ...connectOptions }
    return new Promise((resolve, reject) => {
      const sent = url.startsWith('https:')
        ? overHttps(url, { ...request, agent: secure })
        : overHttp(url, { ...request, agent: plain })
      sent.once('socket', (socket) => {
        if (!socket.connecting) return
        const onConnectTimeout = () => sent.destroy(new Error(`no connection within ${options.connectTimeoutMs} ms`))
        const timer = setTimeout(onConnectTimeout, options.connectTimeoutMs)
        for (const event of ['connect', 'close'] as const) socket.once(event, () => clearTimeout(timer))
      })
      // The server closed a kept-alive connection just as it was reused. Retrying is safe: callers tolerate duplicates.
      const isStale = (error: NodeJS.ErrnoException) => sent.reusedSocket && error.code === 'ECONNRESET'
      sent.once('response', resolve)
      sent.on('error', (error) =>
        isStale(error) && !signal.aborted ? resolve(sendRequest(call, signal)) : reject(error),
      )
      sent.end(body)
    })
  }
}

async function bodyOf(response: IncomingMessage, { responseBytesMax, whenLonger }: TransportOptions): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const left = responseBytesMax - bytes
    bytes += chunk.length
    if (left < chunk.length && whenLonger === 'refuse') {
      throw new ResponseTooLargeError(`the response has more than ${responseBytesMax} bytes`)
    }
    if (left > 0) chunks.push(chunk.subarray(0, left))
  }
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
  const advice = REMEDIES.find(([pattern]) => pattern.test(code))?.[1]
  return advice === undefined ? error.message : `${error.message}: ${advice}`
}

/** Explanations and remedies, by error code of the system or of OpenSSL. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'the host does not exist'],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/, 'add the CA of its certificate to https.ssl.truststore.location'],
  [/^ERR_PROXY_TUNNEL$/, 'check http.proxy.user and http.proxy.password, and that the proxy permits this destination'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another host name'],
]
