import { fileURLToPath } from 'node:url'
import { type Clock, systemClock } from '../../common/clock.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import { type ClientTls, HttpAgent, readText } from '../../common/http-agent.ts'
import { tlsMaterial } from '../../tls/tls-material.ts'
import { BrokerError } from '../broker-error.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'
import type { OauthToken } from './kafkajs-login.ts'
import { cachedToken, type IssuedToken } from './token-cache.ts'

type Keys = Readonly<Record<string, string>>

const REQUEST_TIMEOUT_MS = 10_000
/** Limit of a response of the token endpoint. Tokens have a few thousand bytes. */
const RESPONSE_BYTES_MAX = 1_000_000
/** Without `expires_in`, as in Java. */
const LIFETIME_SECONDS = 300
const URL_KEY = 'sasl.oauthbearer.token.endpoint.url'

/**
 * Provides OAUTHBEARER tokens: from a token endpoint with client credentials (RFC 6749, section 4.4), from a file, or without
 * either an unsecured token like Kafka's development login (KIP-255).
 */
export function oauthTokenProvider(
  keys: Keys,
  jaas: Keys,
  access: ClientAccess = UNRESTRICTED_CLIENT,
  clock: Clock = systemClock,
): () => Promise<OauthToken> {
  const value = tokenSource(keys, jaas, access, clock)
  const extensions = extensionsOf(jaas)
  return async () => ({ value: await value(), ...(extensions && { extensions }) })
}

function tokenSource(keys: Keys, jaas: Keys, access: ClientAccess, clock: Clock): () => Promise<string> {
  const url = keys[URL_KEY]
  if (url?.startsWith('file:')) return async () => readTokenFile(url, access, clock)
  if (url) return cachedToken(endpointRequest(url, keys, jaas, access), clock)
  const subject = jaas['unsecuredLoginStringClaim_sub']
  if (!subject) {
    throw new UserError(
      'invalid_client_config',
      `${URL_KEY} is missing: OAUTHBEARER needs the URL of a token endpoint, with clientId and clientSecret in sasl.jaas.config, or file:///PATH`,
    )
  }
  return async () => unsecuredToken(subject, clock.nowMs())
}

/** Options `extension_NAME`, such as `extension_logicalCluster` of Confluent Cloud. */
function extensionsOf(jaas: Keys): Keys | undefined {
  const found = Object.entries(jaas).filter(([key]) => key.startsWith('extension_'))
  if (found.length === 0) return undefined
  return Object.fromEntries(found.map(([key, value]) => [key.slice('extension_'.length), value]))
}

/** Read for each login, because whoever writes the file renews the token in it. */
function readTokenFile(url: string, access: ClientAccess, clock: Clock): string {
  let token: string
  try {
    token = access.readFileSync(URL_KEY, fileURLToPath(url)).toString('utf8').trim()
  } catch (error) {
    throw new BrokerError('not_authenticated', `${URL_KEY}=${url}: ${messageOf(error)}`, { cause: error })
  }
  const endSeconds = expiryOf(token)
  if (endSeconds === undefined) {
    throw new BrokerError('not_authenticated', `${URL_KEY}=${url}: expected a file with a token that is a JWT with exp`)
  }
  if (endSeconds * 1_000 <= clock.nowMs()) {
    const ended = new Date(endSeconds * 1_000).toISOString()
    // Whoever writes the file renews the token.
    throw new BrokerError('unavailable', `${URL_KEY}=${url}: the token in the file expired at ${ended}`)
  }
  return token
}

/** The claim `exp` of a JWT; undefined if the token is no JWT or has none. */
function expiryOf(token: string): number | undefined {
  const [, payload, ...rest] = token.split('.')
  if (payload === undefined || rest.length !== 1) return undefined
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp?: unknown }
    return typeof exp === 'number' ? exp : undefined
  } catch {
    return undefined
  }
}

function endpointRequest(endpoint: string, keys: Keys, jaas: Keys, access: ClientAccess): () => Promise<IssuedToken> {
  const clientId = keys['sasl.oauthbearer.client.credentials.client.id'] ?? jaas['clientId']
  const clientSecret = keys['sasl.oauthbearer.client.credentials.client.secret'] ?? jaas['clientSecret']
  const scope = keys['sasl.oauthbearer.scope'] ?? jaas['scope']
  if (!clientId || !clientSecret) {
    throw new UserError(
      'invalid_client_config',
      'sasl.jaas.config: expected clientId="…" and clientSecret="…" for OAUTHBEARER',
    )
  }
  const encode = keys['sasl.oauthbearer.header.urlencode'] === 'true' ? encodeURIComponent : (text: string) => text
  const credentials = `${encode(clientId)}:${encode(clientSecret)}`
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope ? { scope } : {}) })
  const hasTls = Object.keys(jaas).some((key) => key.startsWith('ssl.'))
  return async () => {
    const tls = hasTls ? tlsMaterial(jaas, (_, path) => access.readFileSync('sasl.jaas.config', path)) : undefined
    const response = await postForm(endpoint, credentials, form, access, tls).catch((error: unknown) => {
      throw new BrokerError('unavailable', `${endpoint} returned no token: ${messageOf(error)}`, { cause: error })
    })
    if (response.status < 200 || response.status > 299) {
      throw new BrokerError(
        isRejectingStatus(response.status) ? 'not_authenticated' : 'unavailable',
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
    return granted
  }
}

/** Returns the token and its lifetime, or undefined if the response contains no token. */
function parseToken(body: string): IssuedToken | undefined {
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
  return { value: token, lifetimeMs: (typeof seconds === 'number' ? seconds : LIFETIME_SECONDS) * 1_000 }
}

type Response = { readonly status: number; readonly body: string }

/** Does not follow redirects: the credentials are for this endpoint only. */
async function postForm(
  endpoint: string,
  credentials: string,
  form: URLSearchParams,
  access: ClientAccess,
  tls: ClientTls | undefined,
): Promise<Response> {
  const agent = new HttpAgent({
    tls,
    connectOptions: (host, port) => access.connectOptions('sasl.oauthbearer.token.endpoint.url', host, port),
  })
  try {
    const response = await agent.send({
      method: 'POST',
      url: new URL(endpoint),
      headers: {
        authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
        accept: 'application/json',
      },
      body: form.toString(),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    return { status: response.status, body: await readText(response, RESPONSE_BYTES_MAX) }
  } finally {
    // Tokens are requested too rarely to keep a connection.
    agent.close()
  }
}

/** Except too many requests and timeouts. */
function isRejectingStatus(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

function unsecuredToken(subject: string, nowMs: number): string {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  const issuedSeconds = Math.floor(nowMs / 1_000)
  return `${part({ alg: 'none' })}.${part({ sub: subject, iat: issuedSeconds, exp: issuedSeconds + 3_600 })}.`
}
