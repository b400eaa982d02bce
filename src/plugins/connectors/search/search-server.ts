import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { NetworkAccess } from '../../../sdk/index.ts'
import { basic } from '../http/authorization.ts'
import {
  createTransport,
  NoResponseError,
  responseExcerpt,
  type TransportOptions,
  type TransportRequest,
  type TransportResponse,
} from '../http/transport.ts'

export type SearchServerSettings = {
  /** URLs of the nodes, without a slash at the end. */
  readonly urls: readonly string[]
  /** Index of the URL that is used first, so that tasks use different nodes. */
  readonly firstNode: number
  readonly user: { readonly name: string; readonly password: string } | undefined
  readonly compresses: boolean
  readonly tls: TransportOptions['tls']
  readonly proxyUrl: string | undefined
  readonly connectTimeoutMs: number
  readonly requestTimeoutMs: number
}

export type SearchServerRequest = {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST'
  /** Path and query. */
  readonly path: string
  readonly body?: string
  readonly contentType?: string
}

export type SearchServer = {
  /** Sends a request to a node, and to the next one if it does not respond, which is then used for all. Rejects as `Transport.send`. */
  send(request: SearchServerRequest): Promise<TransportResponse>
  close(): void
}

const compress = promisify(gzip)
/** The response to a bulk request has a result for each document. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024

export function openSearchServer(
  settings: SearchServerSettings,
  { network, signal }: { readonly network: NetworkAccess; readonly signal: AbortSignal },
): SearchServer {
  const { urls, firstNode, tls, proxyUrl, connectTimeoutMs, requestTimeoutMs } = settings
  const limits = {
    responseBytesMax: RESPONSE_BYTES_MAX,
    whenLonger: 'refuse',
    connectTimeoutMs,
    requestTimeoutMs,
  } as const
  const transport = createTransport({ ...limits, network, tls, proxyUrl })
  let node = firstNode % urls.length
  return {
    async send(request) {
      const call = { ...(await toCall(request, settings)), signal }
      for (let attempt = 1; ; attempt++) {
        const tried = node
        try {
          return await transport.send({ ...call, url: `${urls[tried]}${request.path}` })
        } catch (error) {
          // Another request may have found the same.
          if (node === tried) node = (tried + 1) % urls.length
          if (attempt >= urls.length || !(error instanceof NoResponseError)) throw error
        }
      }
    },
    close: () => transport.close(),
  }
}

async function toCall(
  { method, body, contentType = 'application/json' }: SearchServerRequest,
  { user, compresses }: SearchServerSettings,
): Promise<Pick<TransportRequest, 'method' | 'headers' | 'body'>> {
  const headers = {
    accept: 'application/json',
    ...(user !== undefined && { authorization: basic(user.name, user.password) }),
  }
  if (body === undefined) return { method, headers }
  return {
    method,
    headers: { ...headers, 'content-type': contentType, ...(compresses && { 'content-encoding': 'gzip' }) },
    body: compresses ? await compress(body) : body,
  }
}

/** A message for an unexpected response. */
export function describeFailure(
  { method, path }: Pick<SearchServerRequest, 'method' | 'path'>,
  response: Pick<TransportResponse, 'status' | 'body'>,
): string {
  const { pathname } = new URL(path, 'http://server')
  return `${method} ${pathname}: the server responded with ${response.status}${responseExcerpt(response)}`
}

const ADVICE: Readonly<Record<number, string>> = {
  401: 'authentication failed: check connection.username and connection.password',
  403: 'permission denied: grant the user the privilege, or check its credentials',
  407: 'proxy authentication failed: check the user name and password of the proxy',
}

/** The remedy for a status after which no other request can succeed; undefined for other statuses. */
export function adviceOnStatus(status: number): string | undefined {
  if (status >= 300 && status < 400) return 'redirects are not followed: set connection.url to the target'
  return ADVICE[status]
}
