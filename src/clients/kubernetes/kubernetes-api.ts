import type { RequestOptions } from 'node:https'
import { isDeepStrictEqual } from 'node:util'
import { KubeConfig } from '@kubernetes/client-node'
import { startDeadline } from '../../common/deadline.ts'
import { messageOf } from '../../common/errors.ts'
import { type ClientTls, HttpAgent, type IncomingResponse, readText } from '../../common/http-agent.ts'
import { packageVersion } from '../../common/package-version.ts'
import type { HttpRequest } from '../http-client.ts'
import { ClusterError } from './cluster-error.ts'
import { readLines } from './read-lines.ts'

export type ApiCall = HttpRequest & {
  /** Value of the Accept header. Default: `application/json`. */
  readonly accept?: string
  /** Timeout of the request including its response. Default: 30 s. */
  readonly timeoutMs?: number
}

/** The error response of the API server. */
export class ApiError extends ClusterError {
  /** The HTTP status; 0 if there is no response. */
  readonly status: number
  /** `NotFound`, `Conflict`, `Expired`, … */
  readonly reason: string

  constructor(status: number, reason: string, message: string, options?: ErrorOptions) {
    const isTransient = status === 0 || status === 408 || status === 429 || status >= 500
    const isForbidden = status === 401 || status === 403
    super(isTransient ? 'unreachable' : isForbidden ? 'forbidden' : 'refused', message, options)
    this.name = 'ApiError'
    this.status = status
    this.reason = reason
  }
}

/** Resolves with undefined if the object does not exist. */
export async function ignoreNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** Called when the response of a request begins. The status is 0 if there is no response. */
export type OnResponse = (method: string, host: string, status: number, tookMs: number) => void

export const APPLY_PATCH = 'application/apply-patch+yaml'
export const MERGE_PATCH = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
const REQUEST_MS = 30_000
/** Connections for requests that end. A watch has one of its own, which it would keep from all other requests. */
const CONNECTIONS_MAX = 16
/** The reason of an `ApiError` about a path that the API server does not serve. */
export const NOT_SERVED = 'NotServed'
const USER_AGENT = `weir/${packageVersion()}`

/**
 * Calls a Kubernetes API server. The official client provides the configuration and every kind of authentication; the
 * requests are sent over connections that are kept alive.
 */
export class KubernetesApi {
  /** The default namespace: that of the kubeconfig's context, or of the pod. */
  readonly namespace: string
  readonly #config: KubeConfig
  readonly #server: URL
  readonly #onResponse: OnResponse
  readonly #requests: HttpAgent
  readonly #watches: HttpAgent
  #tls: ClientTls = {}

  constructor(config: KubeConfig, onResponse: OnResponse = () => undefined) {
    const cluster = config.getCurrentCluster()
    if (cluster === null)
      throw new ClusterError('refused', 'the kubeconfig names no current cluster: set current-context')
    if (!URL.canParse(cluster.server)) {
      const message = `the kubeconfig has no valid URL as the server of the cluster '${cluster.name}': '${cluster.server}'`
      throw new ClusterError('refused', message)
    }
    this.namespace = config.getContextObject(config.getCurrentContext())?.namespace ?? 'default'
    this.#config = config
    this.#onResponse = onResponse
    this.#server = new URL(cluster.server)
    this.#requests = new HttpAgent({ proxyUrl: cluster.proxyUrl, connectionsMax: CONNECTIONS_MAX })
    this.#watches = new HttpAgent({ proxyUrl: cluster.proxyUrl })
  }

  /** Returns the parsed body. Rejects with an `ApiError`. */
  async send<T>(call: ApiCall): Promise<T> {
    const deadline = startDeadline(call.timeoutMs ?? REQUEST_MS, call.signal)
    try {
      const response = await this.#exchange(this.#requests, { ...call, signal: deadline.signal })
      const answer = await readText(response).catch((error: unknown) =>
        Promise.reject(unreachable(this.#server, error)),
      )
      const body = parseBody(answer)
      if (body === undefined)
        throw unreachable(this.#server, new Error(`the response is not JSON: ${answer.slice(0, 200)}`))
      return body as T
    } finally {
      deadline.clear()
    }
  }

  /** Yields each line of the response as JSON until the server ends the response. Rejects with an `ApiError`. */
  async *watch<T>(call: ApiCall & { readonly signal: AbortSignal }): AsyncGenerator<T> {
    const { body } = await this.#exchange(this.#watches, call)
    try {
      for await (const line of readLines(body)) yield JSON.parse(line) as T
    } catch (error) {
      throw unreachable(this.#server, error)
    } finally {
      body.destroy()
    }
  }

  close(): void {
    this.#requests.close()
    this.#watches.close()
  }

  async #exchange(agent: HttpAgent, call: ApiCall & { readonly signal: AbortSignal }): Promise<IncomingResponse> {
    const credentials = await this.#authenticate().catch((error: unknown) => {
      const message = `the credentials for the API server at ${this.#server.host} cannot be read: ${messageOf(error)}`
      throw new ApiError(0, 'Unauthenticated', message, { cause: error })
    })
    const startMs = performance.now()
    const report = (status: number) =>
      this.#onResponse(call.method, this.#server.host, status, performance.now() - startMs)
    const request = {
      method: call.method,
      url: this.#server,
      path: pathOf(this.#server, call),
      headers: {
        accept: call.accept ?? 'application/json',
        'user-agent': USER_AGENT,
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
        ...credentials,
      },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      signal: call.signal,
    }
    const response = await agent.send(request).catch((error: unknown) => {
      report(0)
      throw unreachable(this.#server, error)
    })
    report(response.status)
    if (response.status >= 200 && response.status < 300) return response
    const body = await readText(response).catch(() => '')
    throw errorOfResponse(response.status, body, call)
  }

  /** Asks the official client for the credentials, which may change: headers are returned, certificates are set. */
  async #authenticate(): Promise<Readonly<Record<string, string>>> {
    const headers: Record<string, string> = {}
    const options: RequestOptions = { headers }
    await this.#config.applyToHTTPSOptions(options)
    const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername, auth } = options
    const given = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }
    const tls: ClientTls = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    if (!isDeepStrictEqual(tls, this.#tls)) {
      this.#tls = tls
      this.#requests.setTls(tls)
      this.#watches.setTls(tls)
    }
    return auth ? { ...headers, authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : headers
  }
}

/**
 * Reads a kubeconfig file. Default: the kubeconfig of kubectl, or the service account of the pod. `context` overrides its current
 * context. Throws a `ClusterError` if it cannot be read or names no cluster.
 */
export function openKubernetesApi(
  kubeconfig: string | undefined,
  onResponse?: OnResponse,
  context?: string,
): KubernetesApi {
  const config = readKubeconfig(kubeconfig)
  if (context !== undefined) {
    const known = config.getContexts().map(({ name }) => name)
    if (!known.includes(context))
      throw new ClusterError(
        'refused',
        `the kubeconfig has no context '${context}': it has ${known.join(', ') || 'none'}`,
      )
    config.setCurrentContext(context)
  }
  return new KubernetesApi(config, onResponse)
}

function readKubeconfig(file: string | undefined): KubeConfig {
  const config = new KubeConfig()
  try {
    if (file === undefined) config.loadFromDefault()
    else config.loadFromFile(file)
    return config
  } catch (error) {
    const { message } = error as Error
    const which = file ?? (process.env['KUBECONFIG'] || 'of kubectl')
    throw new ClusterError('refused', `the kubeconfig ${which} cannot be read: ${message}`, { cause: error })
  }
}

function pathOf(server: URL, { path, query = {} }: ApiCall): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value))
  return `${server.pathname.replace(/\/$/, '')}${path}${search.size === 0 ? '' : `?${search}`}`
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

type Status = { readonly message?: string; readonly reason?: string }

/** The response for a path that is not served, as of resources whose definition is missing, is a line of text. */
function errorOfResponse(status: number, body: string, { method, path }: ApiCall): ApiError {
  const notServed = body.trim() === '404 page not found' ? { reason: NOT_SERVED } : {}
  const { message, reason = 'Unknown' } = (parseBody(body) ?? notServed) as Status
  return new ApiError(status, reason, message ?? `${method} ${path}: HTTP ${status}`)
}

function unreachable(server: URL, error: unknown): unknown {
  if (error instanceof ApiError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  return new ApiError(0, 'Unreachable', `the API server at ${server.host} does not respond: ${code || message}`, {
    cause: error,
  })
}
