import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, type AgentOptions as TlsAgentOptions } from 'node:https'
import { text } from 'node:stream/consumers'
import { RegistryError } from '../model/registry-error.ts'
import type { WriteErrorMessages } from '../model/write-error-messages.ts'

/** Headers that are always forwarded, so that the leader responds as to a direct request. */
const FORWARDED_HEADERS = [
  'content-type',
  'accept',
  'confluent-accept-unknown-properties',
  'authorization',
  'x-request-id',
]

export type ForwardOptions = {
  /** Additional headers to forward, in lower case. */
  readonly headers: readonly string[]
  readonly connectTimeoutMs: number
  /** Timeout for the whole request, in milliseconds. */
  readonly readTimeoutMs: number
  /** For a leader with an https URL: the trusted certificates and the client certificate of this instance. */
  readonly tls?: TlsAgentOptions
}

/** The incoming request, with its body parsed. */
export type ForwardedRequest = {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  readonly ip: string
}

export type LeaderResponse = { readonly status: number; readonly type: string | undefined; readonly text: string }

/** Forwards requests to the leader over keep-alive connections. */
export class Forwarder {
  readonly #options: ForwardOptions
  readonly #http = new Agent({ keepAlive: true })
  #https: TlsAgent

  constructor(options: ForwardOptions) {
    this.#options = options
    this.#https = new TlsAgent({ ...options.tls, keepAlive: true })
  }

  /**
   * Forwards a request to the leader. A request that was already forwarded once is rejected, because two instances that
   * take each other for the leader would forward it in a loop. Rejects with `leader_unknown` or `forward_failed`.
   */
  async forward(
    leaderUrl: string | undefined,
    request: ForwardedRequest,
    operation: WriteErrorMessages,
  ): Promise<LeaderResponse> {
    if (leaderUrl === undefined || request.headers['x-forward'] !== undefined) {
      throw new RegistryError('leader_unknown', operation.leaderless)
    }
    try {
      const response = await this.#send(new URL(leaderUrl), request)
      return {
        status: response.statusCode ?? 0,
        type: response.headers['content-type'],
        text: await text(response),
      }
    } catch (error) {
      throw new RegistryError('forward_failed', operation.notForwarded, { cause: error })
    }
  }

  /** Uses new certificates for new connections. The leader closes the old connections once they are idle. */
  setTls(tls: TlsAgentOptions): void {
    this.#https = new TlsAgent({ ...tls, keepAlive: true })
  }

  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }

  #send(leader: URL, request: ForwardedRequest): Promise<IncomingMessage> {
    const { connectTimeoutMs, readTimeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest({
        protocol: leader.protocol,
        hostname: leader.hostname.replace(/^\[|\]$/g, ''),
        port: leader.port,
        agent: leader.protocol === 'https:' ? this.#https : this.#http,
        method: request.method,
        path: request.url,
        headers: { ...this.#forwardedHeaders(request), 'x-forward': 'true', 'x-forwarded-for': request.ip },
        signal: AbortSignal.timeout(readTimeoutMs),
      })
      const connectTimer = setTimeout(
        () => outgoing.destroy(new Error(`no connection to the leader within ${connectTimeoutMs} ms`)),
        connectTimeoutMs,
      )
      outgoing.on('socket', (socket) => {
        const connected = () => clearTimeout(connectTimer)
        if (socket.connecting) socket.once(leader.protocol === 'https:' ? 'secureConnect' : 'connect', connected)
        else connected()
      })
      outgoing.on('close', () => clearTimeout(connectTimer))
      outgoing.on('response', resolve)
      outgoing.on('error', reject)
      outgoing.end(request.body === undefined ? undefined : JSON.stringify(request.body))
    })
  }

  #forwardedHeaders(request: ForwardedRequest): Record<string, string> {
    const headers = [...FORWARDED_HEADERS, ...this.#options.headers].flatMap((name) => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    return Object.fromEntries(headers)
  }
}
