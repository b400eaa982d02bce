import type { z } from 'zod'
import { startDeadline } from '../common/deadline.ts'
import { parseExactJson, printExactJson } from '../common/exact-json.ts'
import {
  type ClientTls,
  type ConnectOptions,
  type IncomingResponse,
  readText,
  sharedHttpAgent,
} from '../common/http-agent.ts'
import { activeSpan, TRACEPARENT, traced } from '../common/tracing.ts'
import { truncateBytes } from '../common/truncate-text.ts'
import { type JsonTextLimits, limitJsonTexts } from './limit-json-texts.ts'
import type { ResponseBudget } from './response-budget.ts'

/** How to reach a program over HTTP. */
export type Endpoint = {
  /** `http://host:port` or `https://host:port`, with a path prefix if a proxy requires one. */
  readonly url: string
  /** Alternative URLs of the same program, tried in order if the previous ones do not respond. */
  readonly otherUrls?: readonly string[]
  /**
   * TLS options in addition to the CA certificates of the machine; `checkServerIdentity` disables the host name check.
   */
  readonly tls?: ClientTls
  /** BASIC credentials, or a bearer token. */
  readonly auth?: { readonly username: string; readonly password: string } | { readonly token: string }
  /** Timeout of one request including its response. Default 60,000 ms. */
  readonly timeoutMs?: number
  /** What the responses that are being read may use. Default: 256 MiB for each, and no limit for all together. */
  readonly responseBudget?: ResponseBudget
  /** Options for connections to a host; throws if a connection is denied. Default: unrestricted. */
  readonly connectOptions?: ConnectOptions
  /** Interceptor of every request: it may reject it, cancel it, and observes its outcome. */
  readonly through?: (call: HttpRequest, send: (call: HttpRequest) => Promise<HttpResponse>) => Promise<HttpResponse>
}

/** An HTTP response. `etag` is its ETag. */
export type HttpResponse = { readonly status: number; readonly text: string; readonly etag?: string | undefined }

/**
 * A failed request. `status` and `errorCode` are those of the server, or 0 if it did not respond. `retriable`: the same
 * request may succeed later without any intervention.
 */
export class RequestError extends Error {
  readonly status: number
  readonly errorCode: number
  readonly retriable: boolean

  /** `retriable` overrides what the status implies. */
  constructor(status: number, errorCode: number, message: string, options?: ErrorOptions & { retriable?: boolean }) {
    super(message, options)
    this.name = 'RequestError'
    this.status = status
    this.errorCode = errorCode
    this.retriable = options?.retriable ?? (status === 0 || status === 408 || status === 429 || status >= 500)
  }
}

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With a leading slash and percent-encoded segments. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly contentType?: string
  /** ETag of a cached response, sent as `if-none-match`. */
  readonly ifNoneMatch?: string | undefined
  /** Limits of strings in the response, which may be much longer than what is used of them. Default: none. */
  readonly textLimits?: JsonTextLimits
  readonly signal?: AbortSignal
}

/** Messages of a server that fails; callers may recognize them by their end. */
const ERROR_LIMITS: JsonTextLimits = { bytesMax: { '*': 8_192 }, totalBytesMax: 65_536 }
const ERROR_BYTES_MAX = 1_048_576
/** A path contains names that the server has chosen. */
const PATH_BYTES_MAX = 512

/** Sends a request and parses the JSON response; undefined if it has no body. Rejects with a `RequestError`. */
export async function requestJson(endpoint: Endpoint, call: HttpRequest): Promise<unknown> {
  return bodyOf(await respond(endpoint, call))
}

/**
 * Sends a request and validates the response. A response of another shape comes from another server, such as a proxy:
 * it is a `RequestError` with status 0 that says where it differs.
 */
export async function requestChecked<Body>(endpoint: Endpoint, call: HttpRequest, shape: z.ZodType): Promise<Body> {
  return validateShape(endpoint, call, shape, await requestJson(endpoint, call))
}

export type TaggedBody<Body> = { readonly body: Body; readonly etag: string | undefined }

/**
 * Like `requestChecked`, for a response that may be cached by its ETag (`ifNoneMatch`); undefined if it has not
 * changed.
 */
export async function requestIfChanged<Body>(
  endpoint: Endpoint,
  call: HttpRequest,
  shape: z.ZodType,
): Promise<TaggedBody<Body> | undefined> {
  const answer = await respond(endpoint, call)
  if (answer.status === 304 && call.ifNoneMatch !== undefined) return undefined
  return { body: validateShape<Body>(endpoint, call, shape, bodyOf(answer)), etag: answer.etag }
}

function respond(endpoint: Endpoint, call: HttpRequest): Promise<HttpResponse> {
  const send = (one: HttpRequest) => exchange(endpoint, one)
  return endpoint.through?.(call, send) ?? send(call)
}

function bodyOf({ status, text }: HttpResponse): unknown {
  const ok = status >= 200 && status < 300
  const body = parseBody(status, text, ok)
  if (ok) return body
  throw new RequestError(status, errorCodeOf(body) ?? status, messageIn(body) ?? `HTTP ${status}`)
}

function validateShape<Body>(endpoint: Endpoint, call: HttpRequest, shape: z.ZodType, body: unknown): Body {
  const { error } = shape.safeParse(body)
  if (error === undefined) return body as Body
  const { path, message } = error.issues[0]!
  const where = path.length === 0 ? '' : ` at ${truncateBytes(path.join('.'), PATH_BYTES_MAX)}`
  throw new RequestError(0, 0, `${shown(endpoint, call)}: unexpected response${where}: ${message}`, {
    cause: error,
  })
}

/** Resolves with undefined if the request fails with status 404. */
export async function undefinedIfNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return undefined
    throw error
  }
}

async function exchange(endpoint: Endpoint, call: HttpRequest): Promise<HttpResponse> {
  const [next, ...rest] = endpoint.otherUrls ?? []
  if (next === undefined) return exchangeAt(endpoint, call)
  try {
    return await exchangeAt(endpoint, call)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return exchange({ ...endpoint, url: next, otherUrls: rest }, call)
  }
}

/** The span has no path, which may contain the name of a connector with a secret in it; that of the server has the route. */
function exchangeAt(endpoint: Endpoint, call: HttpRequest): Promise<HttpResponse> {
  const attributes = () => {
    const { protocol, hostname, port } = new URL(endpoint.url)
    const defaultPort = protocol === 'https:' ? 443 : 80
    return {
      'http.request.method': call.method,
      'server.address': hostname,
      'server.port': Number(port || defaultPort),
    }
  }
  return traced(call.method, { kind: 'client' }, async (span) => {
    span?.set(attributes())
    const response = await sendAt(endpoint, call)
    span?.set({ 'http.response.status_code': response.status })
    return response
  })
}

async function sendAt(endpoint: Endpoint, call: HttpRequest): Promise<HttpResponse> {
  const deadline = startDeadline(endpoint.timeoutMs ?? 60_000, call.signal)
  try {
    const response = await sharedHttpAgent(endpoint).send({
      method: call.method,
      url: new URL(urlOf(endpoint, call)),
      headers: headersOf(endpoint, call),
      body: call.body === undefined ? undefined : printExactJson(call.body),
      signal: deadline.signal,
    })
    return { status: response.status, text: await readBody(response, endpoint, call), etag: response.headers.etag }
  } catch (error) {
    call.signal?.throwIfAborted()
    const reason = deadline.hasPassed() ? 'timeout' : reasonOf(error)
    const retriable = (error as { readonly code?: unknown }).code !== 'not_allowed'
    throw new RequestError(0, 0, `${shown(endpoint, call)}: ${reason}`, { cause: error, retriable })
  } finally {
    deadline.clear()
  }
}

function readBody(
  { status, body }: IncomingResponse,
  { responseBudget }: Endpoint,
  call: HttpRequest,
): Promise<string> {
  const limits = status < 300 ? call.textLimits : ERROR_LIMITS
  const limited = limits === undefined ? body : limitJsonTexts(body, limits)
  const bytesMax = status < 300 ? responseBudget?.bytesMax : ERROR_BYTES_MAX
  return readText({ body: responseBudget?.count(limited) ?? limited }, bytesMax)
}

function urlOf(endpoint: Endpoint, call: HttpRequest): string {
  const query = Object.entries(call.query ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join('&')
  return `${endpoint.url.replace(/\/+$/, '')}${call.path}${query === '' ? '' : `?${query}`}`
}

/** A request for a message. The URL may contain a user and a password. */
function shown({ url }: Endpoint, { method, path }: HttpRequest): string {
  return `${method} ${url.replace(/\/\/[^/?#]*@/, '//')}${path}`
}

function headersOf(endpoint: Endpoint, call: HttpRequest): Record<string, string> {
  const { auth } = endpoint
  const span = activeSpan()
  return {
    ...(span === undefined ? {} : { [TRACEPARENT]: span.traceparent }),
    accept: 'application/json',
    ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
    ...(call.ifNoneMatch === undefined ? {} : { 'if-none-match': call.ifNoneMatch }),
    ...(auth ? { authorization: authorizationOf(auth) } : {}),
  }
}

function authorizationOf(auth: NonNullable<Endpoint['auth']>): string {
  if ('token' in auth) return `Bearer ${auth.token}`
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
}

function parseBody(status: number, text: string, ok: boolean): unknown {
  if (text === '') return undefined
  try {
    return parseExactJson(text)
  } catch (error) {
    if (!ok) return { message: `HTTP ${status}: ${text.slice(0, 200)}` }
    throw new RequestError(0, 0, `the response is not JSON: ${text.slice(0, 200)}`, { cause: error })
  }
}

function errorCodeOf(body: unknown): number | undefined {
  const code = (body as { error_code?: unknown } | undefined)?.error_code
  return typeof code === 'number' ? code : undefined
}

function messageIn(body: unknown): string | undefined {
  const message = (body as { message?: unknown } | undefined)?.message
  return typeof message === 'string' ? message : undefined
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // For a host with several addresses, each one failed for its own reason.
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : []
  return first === undefined ? error.message : reasonOf(first)
}
