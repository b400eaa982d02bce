import type { IncomingMessage } from 'node:http'
import { request as requestPlain } from 'node:http'
import { type Agent, type RequestOptions, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { urlToHttpOptions } from 'node:url'
import { KubeConfig } from '@kubernetes/client-node'
import { startDeadline } from '../../common/deadline.ts'
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
/** Connections for requests that end. Each watch has one more, because it would keep a connection from all other requests. */
const SOCKETS_MAX = 16
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
  #agent: Agent | undefined
  #watchCount = 0

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
  }

  /** Returns the parsed body. Rejects with an `ApiError`. */
  async send<T>(call: ApiCall): Promise<T> {
    const deadline = startDeadline(call.timeoutMs ?? REQUEST_MS, call.signal)
    try {
      const response = await this.#exchange({ ...call, signal: deadline.signal })
      const answer = await text(response).catch((error: unknown) => Promise.reject(unreachable(this.#server, error)))
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
    this.#watchCount += 1
    try {
      const response = await this.#exchange(call)
      try {
        for await (const line of readLines(response)) yield JSON.parse(line) as T
      } catch (error) {
        throw unreachable(this.#server, error)
      } finally {
        response.destroy()
      }
    } finally {
      this.#watchCount -= 1
    }
  }

  close(): void {
    this.#agent?.destroy()
  }

  async #exchange(call: ApiCall): Promise<IncomingMessage> {
    const options = await this.#options(call)
    const startMs = performance.now()
    const report = (status: number) =>
      this.#onResponse(call.method, this.#server.host, status, performance.now() - startMs)
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (this.#server.protocol === 'http:' ? requestPlain : request)(options, resolve)
      sent.once('error', (error) => {
        report(0)
        reject(unreachable(this.#server, error))
      })
      sent.end(call.body === undefined ? undefined : JSON.stringify(call.body))
    })
    const { statusCode = 0 } = response
    report(statusCode)
    if (statusCode >= 200 && statusCode < 300) return response
    const body = await text(response).catch(() => '')
    throw errorOfResponse(statusCode, parseBody(body), call)
  }

  async #options(call: ApiCall): Promise<RequestOptions> {
    const options: RequestOptions = {
      // `urlToHttpOptions` removes the brackets of an IPv6 address.
      ...urlToHttpOptions(this.#server),
      method: call.method,
      path: pathOf(this.#server, call),
      headers: {
        accept: call.accept ?? 'application/json',
        'user-agent': USER_AGENT,
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
      },
      ...(call.signal && { signal: call.signal }),
    }
    await this.#config.applyToHTTPSOptions(options)
    // The agents of the official client have no keep-alive, so every connection would be closed after one response.
    const agent = options.agent as Agent & { keepAlive?: boolean }
    agent.keepAlive = true
    agent.maxSockets = SOCKETS_MAX + this.#watchCount
    this.#agent = agent
    return options
  }
}

/**
 * Reads a kubeconfig file. Default: the kubeconfig of kubectl, or the service account of the pod. Throws a `ClusterError` if
 * it cannot be read or names no cluster.
 */
export function openKubernetesApi(kubeconfig: string | undefined, onResponse?: OnResponse): KubernetesApi {
  return new KubernetesApi(readKubeconfig(kubeconfig), onResponse)
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

function errorOfResponse(status: number, body: unknown, { method, path }: ApiCall): ApiError {
  const { message, reason } = (body ?? {}) as Status
  return new ApiError(status, reason ?? 'Unknown', message ?? `${method} ${path}: HTTP ${status}`)
}

function unreachable(server: URL, error: unknown): unknown {
  if (error instanceof ApiError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  return new ApiError(0, 'Unreachable', `the API server at ${server.host} does not respond: ${code || message}`, {
    cause: error,
  })
}
