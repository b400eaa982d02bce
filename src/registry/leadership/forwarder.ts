import type { IncomingHttpHeaders } from 'node:http'
import { type ClientTls, HttpAgent, readText } from '../../common/http-agent.ts'
import { printJsonAsWritten } from '../../common/written-json.ts'
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
  readonly tls?: ClientTls
}

/** The incoming request, with its body as it was received. */
export type ForwardedRequest = {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly receivedBody: unknown
  readonly ip: string
}

export type LeaderResponse = { readonly status: number; readonly type: string | undefined; readonly text: string }

/** Forwards requests to the leader over keep-alive connections. */
export class Forwarder {
  readonly #options: ForwardOptions
  readonly #agent: HttpAgent

  constructor(options: ForwardOptions) {
    this.#options = options
    this.#agent = new HttpAgent({ tls: options.tls, connectTimeoutMs: options.connectTimeoutMs })
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
      const response = await this.#agent.send({
        method: request.method,
        url: new URL(leaderUrl),
        path: request.url,
        headers: { ...this.#forwardedHeaders(request), 'x-forward': 'true', 'x-forwarded-for': request.ip },
        body: request.receivedBody === undefined ? undefined : printJsonAsWritten(request.receivedBody),
        isForwarded: true,
        signal: AbortSignal.timeout(this.#options.readTimeoutMs),
      })
      return { status: response.status, type: response.headers['content-type'], text: await readText(response) }
    } catch (error) {
      throw new RegistryError('forward_failed', operation.notForwarded, { cause: error })
    }
  }

  /** Uses new certificates for new connections. The leader closes the old connections once they are idle. */
  setTls(tls: ClientTls): void {
    this.#agent.setTls(tls)
  }

  close(): void {
    this.#agent.close()
  }

  #forwardedHeaders(request: ForwardedRequest): Record<string, string> {
    const headers = [...FORWARDED_HEADERS, ...this.#options.headers].flatMap((name) => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    return Object.fromEntries(headers)
  }
}
