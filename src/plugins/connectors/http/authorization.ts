import { DataError, RetriableError } from '../../../sdk/index.ts'
import { describeRequest, NoResponseError, type Transport, type TransportResponse } from './transport.ts'

/** Provides the `Authorization` header of requests. */
export type Authorization = {
  /** Returns the header value, or undefined for unauthenticated requests. */
  header(signal: AbortSignal): Promise<string | undefined>
  /** Called when a server rejects this value. Returns true if a retry may use a different one. */
  invalidate(header: string): boolean
}

/** A constant header value. */
export function fixed(header: string | undefined): Authorization {
  return { header: async () => header, invalidate: () => false }
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

export type ClientCredentials = {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string | undefined
  /** Whether id and secret are sent as Basic credentials or in the form. */
  readonly mode: 'header' | 'url'
  /** The member of the response that contains the token. */
  readonly tokenProperty: string
}

/**
 * A token is renewed before it expires, to allow for network delay and clock differences. This is the maximum margin.
 */
const EARLY_MS_MAX = 60_000

type Token = { readonly header: string; readonly untilMs: number }

/**
 * OAuth2 client credentials grant. A token is cached until it expires, and concurrent callers share one request.
 * `header` rejects with a `RetriableError` if the token endpoint is unavailable.
 */
export function clientCredentials(
  credentials: ClientCredentials,
  { transport, nowMs }: { readonly transport: Transport; readonly nowMs: () => number },
): Authorization {
  let token: Token | undefined
  let pending: Promise<Token> | undefined
  const renew = async (signal: AbortSignal) => {
    try {
      token = await requestToken(credentials, transport, nowMs, signal)
      return token
    } finally {
      pending = undefined
    }
  }
  return {
    async header(signal) {
      if (token !== undefined && nowMs() < token.untilMs) return token.header
      pending ??= renew(signal)
      return (await pending).header
    },
    invalidate(header) {
      // A later caller with an old token must not discard the new one.
      if (token?.header === header) token = undefined
      return true
    },
  }
}

async function requestToken(
  { tokenUrl, clientId, clientSecret, scope, mode, tokenProperty }: ClientCredentials,
  transport: Transport,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<Token> {
  const requestedMs = nowMs()
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scope) form.set('scope', scope)
  if (mode === 'url') {
    form.set('client_id', clientId)
    form.set('client_secret', clientSecret)
  }
  const call = {
    method: 'POST',
    url: tokenUrl,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      // RFC 6749, section 2.3.1: both parts are form-encoded first.
      ...(mode === 'header' && {
        authorization: basic(encodeURIComponent(clientId), encodeURIComponent(clientSecret)),
      }),
    },
    body: form.toString(),
    signal,
  }
  const response = await transport.send(call).catch((error: unknown) => {
    if (error instanceof NoResponseError)
      throw new RetriableError(`cannot obtain an OAuth2 token: ${error.message}`, { cause: error })
    throw error
  })
  const { value, type, lifeMs } = readToken(response, tokenProperty, describeRequest(call))
  const earlyMs = Math.min(EARLY_MS_MAX, lifeMs / 10)
  return { header: `${type} ${value}`, untilMs: requestedMs + lifeMs - earlyMs }
}

function readToken({ status, body }: TransportResponse, property: string, request: string) {
  if (status === 429 || status >= 500)
    throw new RetriableError(`cannot obtain an OAuth2 token: ${request} responded with ${status}`)
  if (status !== 200 && status !== 201) {
    throw new Error(
      `cannot obtain an OAuth2 token: ${request} responded with ${status}${errorIn(body)}: check oauth2.client.id, oauth2.client.secret and oauth2.client.scope`,
    )
  }
  const json = parse(body)
  const value = json[property]
  if (typeof value !== 'string' || value === '') {
    throw new DataError(`cannot obtain an OAuth2 token: the response of ${request} has no string member '${property}'`)
  }
  const seconds = Number(json['expires_in'] ?? Number.NaN)
  return { value, type: 'Bearer', lifeMs: seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY }
}

/** Returns the `error` code defined by RFC 6749. The description is omitted because it could repeat what was sent. */
function errorIn(body: Buffer): string {
  const { error } = parse(body)
  return typeof error === 'string' ? ` (${error})` : ''
}

function parse(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(body.toString())
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
