import { once } from 'node:events'
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { type Clock, systemClock } from '../../common/clock.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import { BrokerError } from '../broker-error.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'

type Keys = Readonly<Record<string, string>>
type Token = { readonly value: string }

const REQUEST_TIMEOUT_MS = 10_000
/** Limit of a response of the token endpoint. Tokens have a few thousand bytes. */
const RESPONSE_BYTES_MAX = 1_000_000
/** Fraction of the lifetime of a token after which it is renewed. */
const RENEWAL_FRACTION = 0.8

/**
 * Provides OAUTHBEARER tokens: from a token endpoint with client credentials (RFC 6749, section 4.4), or without an
 * endpoint an unsecured token like Kafka's development login (KIP-255).
 */
export function oauthTokenProvider(
  keys: Keys,
  jaas: Keys,
  access: ClientAccess = UNRESTRICTED_CLIENT,
  clock: Clock = systemClock,
): () => Promise<Token> {
  const endpoint = keys['sasl.oauthbearer.token.endpoint.url']
  if (endpoint) return endpointProvider(endpoint, jaas, access, clock)
  const subject = jaas['unsecuredLoginStringClaim_sub']
  if (!subject) {
    throw new UserError(
      'invalid_client_config',
      'sasl.oauthbearer.token.endpoint.url is missing: OAUTHBEARER needs it, with clientId and clientSecret in sasl.jaas.config',
    )
  }
  return async () => ({ value: unsecuredToken(subject, clock.nowMs()) })
}

function endpointProvider(
  endpoint: string,
  { clientId, clientSecret, scope }: Keys,
  access: ClientAccess,
  clock: Clock,
): () => Promise<Token> {
  if (!clientId || !clientSecret) {
    throw new UserError(
      'invalid_client_config',
      'sasl.jaas.config: expected clientId="…" and clientSecret="…" for OAUTHBEARER',
    )
  }
  let cached: { token: Token; untilMs: number } | undefined
  return async () => {
    if (cached && clock.monotonicMs() < cached.untilMs) return cached.token
    const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope ? { scope } : {}) })
    const response = await postForm(endpoint, credentials, form, access).catch((error: unknown) => {
      throw new BrokerError('unavailable', `${endpoint} returned no token: ${messageOf(error)}`, { cause: error })
    })
    if (response.status < 200 || response.status > 299) {
      throw new BrokerError(
        isRejection(response.status) ? 'not_authenticated' : 'unavailable',
        `${endpoint} returned no token: HTTP ${response.status}`,
      )
    }
    const granted = parseToken(response.body)
    if (granted === undefined) {
      throw new BrokerError(
        'unavailable',
        `${endpoint} returned no token: the response is not JSON with an access_token`,
      )
    }
    cached = {
      token: { value: granted.token },
      untilMs: clock.monotonicMs() + granted.seconds * 1_000 * RENEWAL_FRACTION,
    }
    return cached.token
  }
}

/** Returns the token and its lifetime, or undefined if the response contains no token. */
function parseToken(body: string): { readonly token: string; readonly seconds: number } | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return undefined
  }
  const { access_token: token, expires_in: seconds } = (parsed ?? {}) as {
    access_token?: unknown
    expires_in?: unknown
  }
  if (typeof token !== 'string' || token === '') return undefined
  return { token, seconds: typeof seconds === 'number' ? seconds : 300 }
}

type Response = { readonly status: number; readonly body: string }

/** Does not follow redirects: the credentials are for this endpoint only. */
async function postForm(
  endpoint: string,
  credentials: string,
  form: URLSearchParams,
  access: ClientAccess,
): Promise<Response> {
  const url = new URL(endpoint)
  const isSecure = url.protocol === 'https:'
  const port = Number(url.port || (isSecure ? 443 : 80))
  const text = form.toString()
  const options = {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
      'content-length': Buffer.byteLength(text),
      accept: 'application/json',
    },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    agent: false as const,
    ...access.connectOptions('sasl.oauthbearer.token.endpoint.url', url.hostname, port),
  }
  const sent = isSecure ? overHttps(url, options) : overHttp(url, options)
  const responseEvent = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.end(text)
  const [response] = await responseEvent
  return { status: response.statusCode ?? 0, body: await textOf(response) }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > RESPONSE_BYTES_MAX) throw new Error(`the response has more than ${RESPONSE_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Except too many requests and timeouts. */
function isRejection(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

function unsecuredToken(subject: string, nowMs: number): string {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  const issuedSeconds = Math.floor(nowMs / 1_000)
  return `${part({ alg: 'none' })}.${part({ sub: subject, iat: issuedSeconds, exp: issuedSeconds + 3_600 })}.`
}
