/** How to reach a program over HTTP. */
export type Endpoint = {
  /** `http://host:port`, with a path prefix where a proxy wants one. */
  readonly url: string
  /** BASIC credentials. */
  readonly auth?: { readonly username: string; readonly password: string }
  /** For one request, answer included. Default 60,000 ms. */
  readonly timeoutMs?: number
}

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

export type Call = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With a leading slash; its parts already percent-encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly contentType?: string
  readonly signal?: AbortSignal
}

/** Makes one call and reads its JSON answer; undefined when the answer has no body. Rejects with a `RequestError`. */
export async function request(endpoint: Endpoint, call: Call): Promise<unknown> {
  const { status, text } = await exchange(endpoint, call)
  const ok = status >= 200 && status < 300
  const body = parseAnswer(status, text, ok)
  if (ok) return body
  throw new RequestError(status, errorCodeOf(body) ?? status, messageIn(body) ?? `HTTP ${status}`)
}

async function exchange(endpoint: Endpoint, call: Call): Promise<{ status: number; text: string }> {
  const timeout = AbortSignal.timeout(endpoint.timeoutMs ?? 60_000)
  try {
    const response = await fetch(urlOf(endpoint, call), {
      method: call.method,
      headers: headersOf(endpoint, call),
      signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    call.signal?.throwIfAborted()
    throw new RequestError(0, 0, `${call.method} ${endpoint.url}${call.path}: ${reasonOf(error)}`, { cause: error })
  }
}

function urlOf(endpoint: Endpoint, call: Call): string {
  const query = Object.entries(call.query ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join('&')
  return `${endpoint.url.replace(/\/+$/, '')}${call.path}${query === '' ? '' : `?${query}`}`
}

function headersOf(endpoint: Endpoint, call: Call): Record<string, string> {
  const { auth } = endpoint
  return {
    accept: 'application/json',
    ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
    ...(auth ? { authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` } : {}),
  }
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

/** `fetch` says only "fetch failed"; what happened stands in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'no answer in time'
  return error.cause instanceof Error ? error.cause.message || String(error.cause) : error.message
}
