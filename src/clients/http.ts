import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http'
import { Agent, request as overHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { text } from 'node:stream/consumers'
import type { SecureContextOptions } from 'node:tls'
import type { z } from 'zod'

/** How to reach a program over HTTP. */
export type Endpoint = {
  /** `http://host:port` or `https://host:port`, with a path prefix where a proxy wants one. */
  readonly url: string
  /** Other places of the same program: each is asked when those before it did not answer. */
  readonly otherUrls?: readonly string[]
  /** Whom to trust and who we are, where the machine's own certificates don't do; `checkServerIdentity`: as any host. */
  readonly tls?: SecureContextOptions & { readonly checkServerIdentity?: () => undefined }
  /** BASIC credentials, or a bearer token. */
  readonly auth?: { readonly username: string; readonly password: string } | { readonly token: string }
  /** For one request, answer included. Default 60,000 ms. */
  readonly timeoutMs?: number
  /** Options for connections to a host; throws when there may be none. Default: as the process itself may. */
  readonly connectOptions?: (host: string, port: number) => { readonly lookup?: LookupFunction }
  /** Stands in the way of every call: may refuse it, make it end early, and sees how it ends. */
  readonly through?: (call: HttpRequest, send: (call: HttpRequest) => Promise<HttpResponse>) => Promise<HttpResponse>
}

/** `mark`: the server's own, of this answer (ETag). */
export type HttpResponse = { readonly status: number; readonly text: string; readonly etag?: string | undefined }

/**
 * A request that brought no answer to use. `status` and `errorCode` are the server's; both are 0 when none answered.
 * `retriable`: the same request may succeed later without anyone changing anything.
 */
export class RequestError extends Error {
  readonly status: number
  readonly errorCode: number
  readonly retriable: boolean

  /** `retriable` where the caller knows better than the status. */
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
  /** With a leading slash; its parts already percent-encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly contentType?: string
  /** Mark of the answer that is known: the same need not be sent again. */
  readonly ifNoneMatch?: string | undefined
  readonly signal?: AbortSignal
}

/** Makes one call and reads its JSON answer; undefined when the answer has no body. Rejects with a `RequestError`. */
export async function requestJson(endpoint: Endpoint, call: HttpRequest): Promise<unknown> {
  return bodyOf(await answerTo(endpoint, call))
}

/**
 * Makes one call whose answer has to have at least this shape. One of another shape comes from somebody else, such as a
 * proxy in between: that is a `RequestError` as if nobody had answered, which says where it differs.
 */
export async function requestChecked<Body>(endpoint: Endpoint, call: HttpRequest, shape: z.ZodType): Promise<Body> {
  return shaped(endpoint, call, shape, await requestJson(endpoint, call))
}

export type TaggedBody<Body> = { readonly body: Body; readonly etag: string | undefined }

/** The same, of what may be known by its mark, `call.unless`; undefined when that is still what the server answers. */
export async function requestIfChanged<Body>(
  endpoint: Endpoint,
  call: HttpRequest,
  shape: z.ZodType,
): Promise<TaggedBody<Body> | undefined> {
  const answer = await answerTo(endpoint, call)
  if (answer.status === 304 && call.ifNoneMatch !== undefined) return undefined
  return { body: shaped<Body>(endpoint, call, shape, bodyOf(answer)), etag: answer.etag }
}

function answerTo(endpoint: Endpoint, call: HttpRequest): Promise<HttpResponse> {
  const send = (one: HttpRequest) => exchange(endpoint, one)
  return endpoint.through?.(call, send) ?? send(call)
}

function bodyOf({ status, text }: HttpResponse): unknown {
  const ok = status >= 200 && status < 300
  const body = parseAnswer(status, text, ok)
  if (ok) return body
  throw new RequestError(status, errorCodeOf(body) ?? status, messageIn(body) ?? `HTTP ${status}`)
}

function shaped<Body>(endpoint: Endpoint, call: HttpRequest, shape: z.ZodType, body: unknown): Body {
  const { error } = shape.safeParse(body)
  if (error === undefined) return body as Body
  const { path, message } = error.issues[0]!
  const where = path.length === 0 ? '' : ` at ${path.join('.')}`
  throw new RequestError(
    0,
    0,
    `${call.method} ${endpoint.url}${call.path}: the answer is not what was asked for${where}: ${message}`,
    { cause: error },
  )
}

/** What was asked for; undefined where there is no such thing. */
export async function undefinedIfNotFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
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

async function exchangeAt(endpoint: Endpoint, call: HttpRequest): Promise<HttpResponse> {
  const timeout = AbortSignal.timeout(endpoint.timeoutMs ?? 60_000)
  try {
    const response = await send(endpoint, call, call.signal ? AbortSignal.any([call.signal, timeout]) : timeout)
    return { status: response.statusCode ?? 0, text: await text(response), etag: response.headers.etag }
  } catch (error) {
    call.signal?.throwIfAborted()
    const reason = timeout.aborted ? 'no answer in time' : reasonOf(error)
    const retriable = (error as { readonly code?: unknown }).code !== 'not_allowed'
    throw new RequestError(0, 0, `${call.method} ${endpoint.url}${call.path}: ${reason}`, { cause: error, retriable })
  }
}

/** Node's own agents do not tell these connections from others to the same host. */
const anyHost = new Agent({ keepAlive: true })

/** Connections that were judged are not shared with those that need not be. */
const judged = { plain: new HttpAgent({ keepAlive: true }), secure: new Agent({ keepAlive: true }) }

/** Node's own agents keep connections for the next call, those with the same certificates for each other. */
function send(endpoint: Endpoint, call: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const url = urlOf(endpoint, call)
  const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body))
  const length = body === undefined ? {} : { 'content-length': body.length }
  const { connectOptions } = endpoint
  const options = { method: call.method, headers: { ...headersOf(endpoint, call), ...length }, signal }
  const agent = endpoint.tls?.checkServerIdentity ? anyHost : judged.secure
  const isDefault = connectOptions === undefined && agent !== anyHost
  const secure = { ...endpoint.tls, ...options, ...(isDefault ? {} : { agent }) }
  return new Promise((resolve, reject) => {
    const { protocol, hostname, port } = new URL(url)
    const isSecure = protocol === 'https:'
    const way = connectOptions?.(hostname, Number(port || (isSecure ? 443 : 80)))
    const plain = { ...options, ...(way && { agent: judged.plain }) }
    const sent = isSecure ? overHttps(url, { ...secure, ...way }) : overHttp(url, { ...plain, ...way })
    const fail = (error: Error) => (isStale(sent, error, call) ? resolve(send(endpoint, call, signal)) : reject(error))
    sent.once('response', resolve).once('error', fail).end(body)
  })
}

/** The server closed a kept connection just when it was used again: what may be asked twice is asked on a new one. */
function isStale(sent: ClientRequest, error: NodeJS.ErrnoException, { method }: HttpRequest): boolean {
  return sent.reusedSocket && error.code === 'ECONNRESET' && method !== 'POST' && method !== 'PATCH'
}

function urlOf(endpoint: Endpoint, call: HttpRequest): string {
  const query = Object.entries(call.query ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join('&')
  return `${endpoint.url.replace(/\/+$/, '')}${call.path}${query === '' ? '' : `?${query}`}`
}

function headersOf(endpoint: Endpoint, call: HttpRequest): Record<string, string> {
  const { auth } = endpoint
  return {
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

function parseAnswer(status: number, text: string, ok: boolean): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!ok) return { message: `HTTP ${status}: ${text.slice(0, 200)}` }
    throw new RequestError(0, 0, `the answer is not JSON: ${text.slice(0, 200)}`, { cause: error })
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
  // Of a host with several addresses all have failed, each for its own reason.
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : []
  return first === undefined ? error.message : reasonOf(first)
}
