import { DataError, RetriableError } from '../../../sdk/index.ts'
import { describeRequest, NoResponseError, type Transport, type TransportResponse } from './transport.ts'

/** Who a task says it is. */
export type Authorization = {
  /** The header's text; undefined: nobody in particular. */
  header(signal: AbortSignal): Promise<string | undefined>
  /** Told that a server did not take this one. True when there may be a better one now. */
  refused(header: string): boolean
}

/** One that never changes. */
export function fixed(header: string | undefined): Authorization {
  return { header: async () => header, refused: () => false }
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

export type ClientCredentials = {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string | undefined
  /** Whether id and secret go as BASIC credentials or in the form. */
  readonly mode: 'header' | 'url'
  /** The member of the answer that holds the token. */
  readonly tokenProperty: string
}

/** A token is not used in the last part of its time: the way to the server takes some of it, and clocks differ. */
const EARLY_MS_MAX = 60_000

type Token = { readonly header: string; readonly untilMs: number }

/**
 * OAuth2 client credentials. A token is kept for as long as its server says and asked for once, whoever needs it meanwhile.
 * `header` rejects with a `RetriableError` when the token's server can't be asked now.
 */
export function clientCredentials(
  credentials: ClientCredentials,
  { transport, nowMs }: { readonly transport: Transport; readonly nowMs: () => number },
): Authorization {
  let token: Token | undefined
  let asking: Promise<Token> | undefined
  const ask = async (signal: AbortSignal) => {
    try {
      token = await requestToken(credentials, transport, nowMs, signal)
      return token
    } finally {
      asking = undefined
    }
  }
  return {
    async header(signal) {
      if (token !== undefined && nowMs() < token.untilMs) return token.header
      asking ??= ask(signal)
      return (await asking).header
    },
    refused(header) {
      // Who comes late finds a new one there already.
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
  const askedMs = nowMs()
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
      // RFC 6749, 2.3.1: each part is form-encoded first.
      ...(mode === 'header' && {
        authorization: basic(encodeURIComponent(clientId), encodeURIComponent(clientSecret)),
      }),
    },
    body: form.toString(),
    signal,
  }
  const answer = await transport.send(call).catch((error: unknown) => {
    if (error instanceof NoResponseError) throw new RetriableError(`no token: ${error.message}`, { cause: error })
    throw error
  })
  const { value, type, lifeMs } = readToken(answer, tokenProperty, describeRequest(call))
  const earlyMs = Math.min(EARLY_MS_MAX, lifeMs / 10)
  return { header: `${type} ${value}`, untilMs: askedMs + lifeMs - earlyMs }
}

function readToken({ status, body }: TransportResponse, property: string, place: string) {
  if (status === 429 || status >= 500) throw new RetriableError(`no token: ${place} answered ${status}`)
  if (status !== 200 && status !== 201) {
    throw new Error(
      `no token: ${place} answered ${status}${errorIn(body)}: check oauth2.client.id, oauth2.client.secret and the scope`,
    )
  }
  const json = parse(body)
  const value = json[property]
  if (typeof value !== 'string' || value === '') {
    throw new DataError(`no token: the answer of ${place} has no text '${property}'`)
  }
  const seconds = Number(json['expires_in'] ?? Number.NaN)
  return { value, type: 'Bearer', lifeMs: seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY }
}

/** RFC 6749's `error`, a fixed word: a description could tell what was sent. */
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
