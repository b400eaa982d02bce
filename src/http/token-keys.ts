import type { JWTVerifyGetKey } from 'jose'
import { messageOf } from '../common/errors.ts'

export type TokenKeysOptions = {
  readonly issuer: string
  /** URL of the JWKS; undefined: from the discovery document of the issuer. */
  readonly keysUrl: string | undefined
  /** How long keys are cached. */
  readonly refreshMs: number
  readonly fetch: (url: string) => Promise<Response>
  readonly nowMs: () => number
}

/** The issuer is unavailable, so the token can be neither accepted nor rejected. */
export class IssuerUnavailableError extends Error {}

/** Minimum interval of fetches that unknown keys cause. */
const COOLDOWN_MS = 5_000
/** Pause after a failed fetch. */
const FAILURE_MS = 5_000

/**
 * The signing keys of an issuer (JWKS), fetched with the first token and again when they expire or a token has an
 * unknown key.
 */
export class TokenKeys {
  readonly #options: TokenKeysOptions
  #keys: Promise<JWTVerifyGetKey> | undefined
  #failedMs = Number.NEGATIVE_INFINITY
  #failure = ''

  constructor(options: TokenKeysOptions) {
    this.#options = options
  }

  /** For `jwtVerify`. Throws an `IssuerUnavailableError` if the issuer does not respond. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    this.#keys ??= this.#open()
    const keys = await this.#keys.catch((error: unknown) => {
      this.#keys = undefined
      throw error
    })
    return keys(header, token)
  }

  async #open(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import('jose')
    return createRemoteJWKSet(await this.#keysUrl(), {
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: this.#options.refreshMs,
      [customFetch]: (url: string) => this.#fetch(url),
    })
  }

  async #keysUrl(): Promise<URL> {
    const { issuer, keysUrl } = this.#options
    if (keysUrl !== undefined) return new URL(keysUrl)
    const discoveryUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const document = (await (await this.#fetch(discoveryUrl)).json()) as { issuer?: unknown; jwks_uri?: unknown }
    const { issuer: reportedIssuer, jwks_uri: found } = document
    if (reportedIssuer === issuer && typeof found === 'string' && isSecureUrl(found)) return new URL(found)
    throw this.#failed(`${discoveryUrl} does not name the issuer ${issuer}, or has no https URL of its keys`)
  }

  async #fetch(url: string): Promise<Response> {
    if (this.#options.nowMs() - this.#failedMs < FAILURE_MS) throw new IssuerUnavailableError(this.#failure)
    try {
      const response = await this.#options.fetch(url)
      if (response.status === 200) return response
      throw new Error(`HTTP ${response.status}`)
    } catch (error) {
      throw this.#failed(`${url}: ${messageOf(error)}`)
    }
  }

  #failed(reason: string): IssuerUnavailableError {
    this.#failedMs = this.#options.nowMs()
    this.#failure = reason
    return new IssuerUnavailableError(reason)
  }
}

/** Whether keys from this URL can be trusted: plain HTTP allows them to be replaced, except on this machine. */
export function isSecureUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname))
}
