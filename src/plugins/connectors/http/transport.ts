import { Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import { isNotAllowed, type NetworkAccess } from '../../../sdk/index.ts'

/** How to reach servers: one of these for all calls of a task, which share its connections. */
export type TransportOptions = {
  /** Whom to trust and who we are, where the machine's own certificates don't do. */
  readonly tls?: (SecureContextOptions & { readonly checkServerIdentity?: () => undefined }) | undefined
  /** How hosts are reached. */
  readonly network: NetworkAccess
  /** `http://user:password@host:port`. */
  readonly proxyUrl?: string | undefined
  /** Until a connection stands, and until its answer is there in whole. */
  readonly connectTimeoutMs: number
  readonly requestTimeoutMs: number
  /** Of an answer that has more than this, the rest is left out, or it is refused. */
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

/** No answer, or only a part of one. The same call may succeed later. */
export class NoResponseError extends Error {
  override readonly name = 'NoAnswer'
}

/** An answer with more bytes than were asked for. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'LongAnswer'
}

export type Transport = {
  /** Rejects with a `NoResponseError`, a `ResponseTooLargeError`, or the reason of its signal. Whatever status an answer has, it is one. */
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
      const late = () => timeout.abort(new Error(`no whole answer within ${options.requestTimeoutMs} ms`))
      const timer = setTimeout(late, options.requestTimeoutMs)
      const signal = AbortSignal.any([call.signal, timeout.signal])
      try {
        const response = await begin(call, signal)
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
        throw new NoResponseError(`${describeRequest(call)}: ${reasonOf(reason)}`, { cause: error })
      } finally {
        clearTimeout(timer)
      }
    },
    close() {
      plain.destroy()
      secure.destroy()
    },
  }

  function begin(call: TransportRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, url, body } = call
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const { protocol, hostname, port } = new URL(url)
    const way = options.network.connectOptions(hostname, Number(port || (protocol === 'https:' ? 443 : 80)))
    const request = { method, headers: { ...call.headers, ...length }, signal, ...way }
    return new Promise((resolve, reject) => {
      const sent = url.startsWith('https:')
        ? overHttps(url, { ...request, agent: secure })
        : overHttp(url, { ...request, agent: plain })
      sent.once('socket', (socket) => {
        if (!socket.connecting) return
        const slow = () => sent.destroy(new Error(`no connection within ${options.connectTimeoutMs} ms`))
        const timer = setTimeout(slow, options.connectTimeoutMs)
        for (const event of ['connect', 'close'] as const) socket.once(event, () => clearTimeout(timer))
      })
      // The server closed a kept connection just when it was used again. All callers may send twice.
      const isStale = (error: NodeJS.ErrnoException) => sent.reusedSocket && error.code === 'ECONNRESET'
      sent.once('response', resolve)
      sent.on('error', (error) => (isStale(error) && !signal.aborted ? resolve(begin(call, signal)) : reject(error)))
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
      throw new ResponseTooLargeError(`the answer has more than ${responseBytesMax} bytes`)
    }
    if (left > 0) chunks.push(chunk.subarray(0, left))
  }
  return Buffer.concat(chunks)
}

/** Without the query, which may hold a secret. */
export function describeRequest({ method, url }: Pick<TransportRequest, 'method' | 'url'>): string {
  const { origin, pathname } = new URL(url)
  return `${method} ${origin}${pathname}`
}

/** How much of what a server says is told. */
const EXCERPT_MAX = 300

/** What a server says about its answer, in one line to put behind a sentence. */
export function responseExcerpt({ body }: Pick<TransportResponse, 'body'>): string {
  const text = body.toString().replace(/\s+/g, ' ').trim()
  return text === '' ? '' : `: ${text.slice(0, EXCERPT_MAX)}`
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Of a host with several addresses all have failed, each for its own reason.
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : []
  if (first !== undefined) return reasonOf(first)
  const { code = '' } = error as NodeJS.ErrnoException
  const advice = ADVICE.find(([pattern]) => pattern.test(code))?.[1]
  return advice === undefined ? error.message : `${error.message}: ${advice}`
}

/** What to do, by the codes of the system and of OpenSSL. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'there is no host of this name'],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/, 'put who signed its certificate into https.ssl.truststore.location'],
  [/^ERR_PROXY_TUNNEL$/, 'check http.proxy.user and http.proxy.password, and whether the proxy may go there'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is that of another host'],
]
