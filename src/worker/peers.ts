import type { IncomingHttpHeaders } from 'node:http'
import { messageOf } from '../config/failure.ts'
import { WorkerError } from './failure.ts'
import { signatureHeaders } from './session-signature.ts'
import type { RawConfig, SessionKey } from './stores/config-codec.ts'

/** A public request as it came in; its body is parsed. */
export type PassedRequest = {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export type PeerAnswer = { readonly status: number; readonly location: string | null; readonly text: string }

export type PeersOptions = {
  readonly session: () => SessionKey | undefined
  readonly signatureAlgorithm: string
  readonly timeoutMs: number
}

const COMMON = { accept: 'application/json', 'user-agent': 'weir' }

/** What workers of a group say to each other. */
export class Peers {
  readonly #options: PeersOptions

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /** Passes a request on. Undefined: nobody listened there, so nothing can have happened. */
  async pass(peerUrl: string, request: PassedRequest, isLastHop: boolean): Promise<PeerAnswer | undefined> {
    const url = new URL(request.url, peerUrl)
    url.searchParams.set('forward', String(!isLastHop))
    const { authorization } = request.headers
    try {
      return await this.#ask(url, request.method, {
        headers: { ...COMMON, ...(authorization === undefined ? {} : { authorization }) },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      })
    } catch (error) {
      if (isUnreached(error)) return undefined
      throw failed(`IO Error trying to forward REST request: ${messageOf(error)}`, error)
    }
  }

  /** Has the leader store a connector's tasks. */
  async putTasks(leaderUrl: string, connector: string, tasks: readonly RawConfig[]): Promise<void> {
    await this.#demand('POST', new URL(`connectors/${encodeURIComponent(connector)}/tasks`, leaderUrl), tasks)
  }

  /** Has the leader shut out what older tasks of a connector may still write. */
  async fence(leaderUrl: string, connector: string): Promise<void> {
    await this.#demand('PUT', new URL(`connectors/${encodeURIComponent(connector)}/fence`, leaderUrl))
  }

  async #demand(method: string, url: URL, content?: unknown): Promise<void> {
    const { session, signatureAlgorithm } = this.#options
    const key = session()
    const body = content === undefined ? '' : JSON.stringify(content)
    const signature = key ? signatureHeaders(key, signatureAlgorithm, Buffer.from(body)) : {}
    const asked = { headers: { ...COMMON, ...signature }, ...(content === undefined ? {} : { body }) }
    const answer = await this.#ask(url, method, asked).catch((error: unknown) => {
      throw failed(`${method} ${url}: ${messageOf(error)}`, error)
    })
    if (answer.status >= 300) throw failed(`${method} ${url}: HTTP ${answer.status} ${answer.text}`)
  }

  async #ask(url: URL, method: string, init: { headers: Record<string, string>; body?: string }): Promise<PeerAnswer> {
    const headers = init.body === undefined ? init.headers : { ...init.headers, 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(this.#options.timeoutMs)
    const response = await fetch(url, { ...init, method, headers, redirect: 'manual', signal })
    return { status: response.status, location: response.headers.get('location'), text: await response.text() }
  }
}

function failed(message: string, cause?: unknown): WorkerError {
  return new WorkerError('peer_failed', message, { cause })
}

function isUnreached(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'UND_ERR_CONNECT_TIMEOUT'
}
