import type { IncomingHttpHeaders } from 'node:http'
import { messageOf } from '../../common/errors.ts'
import { printExactJson } from '../../common/exact-json.ts'
import { type ClientTls, HttpAgent, readText } from '../../common/http-agent.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { FENCING_REJECTED_STATUS, WorkerError } from '../model/worker-error.ts'
import type { SessionKey } from '../stores/config-codec.ts'
import { signatureHeaders } from './request-signature.ts'

/** A public request as received; its body is parsed. */
export type ForwardableRequest = {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export type PeerResponse = { readonly status: number; readonly location: string | null; readonly text: string }

export type PeerClientOptions = {
  readonly session: () => SessionKey | undefined
  readonly signatureAlgorithm: string
  readonly timeoutMs: number
  /** For workers with https: the trusted certificates, and this worker's client certificate. */
  readonly tls?: (() => ClientTls) | undefined
}

const COMMON = { accept: 'application/json', 'user-agent': 'weir' }

/** Sends requests to the other workers of the group. */
export class PeerClient {
  readonly #options: PeerClientOptions
  readonly #agent = new HttpAgent()

  constructor(options: PeerClientOptions) {
    this.#options = options
  }

  /**
   * Forwards a request. Resolves to undefined when no connection was made, so the request had no effect. Throws a
   * `WorkerError` (`peer_failed`) for other connection errors.
   */
  async forward(
    peerUrl: string,
    request: ForwardableRequest,
    isLastHop: boolean,
    timeoutMs = this.#options.timeoutMs,
  ): Promise<PeerResponse | undefined> {
    const url = new URL(request.url, peerUrl)
    url.searchParams.set('forward', String(!isLastHop))
    const { authorization } = request.headers
    try {
      return await this.#request(url, request.method, {
        headers: { ...COMMON, ...(authorization === undefined ? {} : { authorization }) },
        ...(request.body === undefined ? {} : { body: printExactJson(request.body) }),
        timeoutMs,
        isForwarded: true,
      })
    } catch (error) {
      if (isUnreached(error)) return undefined
      throw failed(`IO Error trying to forward REST request: ${messageOf(error)}`, error)
    }
  }

  /** Makes the leader store a connector's task configurations. */
  async putTasks(leaderUrl: string, connector: string, tasks: readonly RawConfig[]): Promise<void> {
    await this.#demand('POST', new URL(`connectors/${encodeURIComponent(connector)}/tasks`, leaderUrl), tasks)
  }

  /** Makes the leader fence the transactional producers of a connector's older tasks. */
  async fenceZombieSourceTasks(leaderUrl: string, connector: string): Promise<void> {
    await this.#demand('PUT', new URL(`connectors/${encodeURIComponent(connector)}/fence`, leaderUrl))
  }

  async #demand(method: string, url: URL, content?: unknown): Promise<void> {
    const { session, signatureAlgorithm } = this.#options
    const key = session()
    const body = content === undefined ? '' : JSON.stringify(content)
    const signature = key ? signatureHeaders(key, signatureAlgorithm, Buffer.from(body)) : {}
    const requestOptions = { headers: { ...COMMON, ...signature }, ...(content === undefined ? {} : { body }) }
    const response = await this.#request(url, method, requestOptions).catch((error: unknown) => {
      throw failed(`${method} ${url}: ${messageOf(error)}`, error)
    })
    const { status, text } = response
    if (status === FENCING_REJECTED_STATUS)
      throw new WorkerError('fencing_rejected', `the leader ${url.host}: ${messageIn(text)}`)
    if (status >= 300) throw failed(`${method} ${url}: HTTP ${status} ${text}`)
  }

  async #request(
    url: URL,
    method: string,
    init: { headers: Record<string, string>; body?: string; timeoutMs?: number; isForwarded?: boolean },
  ): Promise<PeerResponse> {
    const { tls, timeoutMs } = this.#options
    if (url.protocol === 'https:') this.#agent.setTls(tls?.())
    const response = await this.#agent.send({
      method,
      url,
      headers: { ...init.headers, ...(init.body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: init.body,
      isForwarded: init.isForwarded ?? false,
      signal: AbortSignal.timeout(init.timeoutMs ?? timeoutMs),
    })
    return {
      status: response.status,
      location: response.headers.location ?? null,
      text: await readText(response),
    }
  }
}

/** The message in the body of an error of Kafka Connect's REST API. */
function messageIn(body: string): string {
  try {
    return String((JSON.parse(body) as { message?: unknown }).message ?? body)
  } catch {
    return body
  }
}

function failed(message: string, cause?: unknown): WorkerError {
  return new WorkerError('peer_failed', message, { cause })
}

function isUnreached(error: unknown): boolean {
  // For a host with several addresses, the error contains one error per address.
  const [first = error] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : []
  const { code } = first as { code?: unknown }
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'ETIMEDOUT'
}
