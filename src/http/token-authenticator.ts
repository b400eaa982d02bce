import { messageOf } from '../common/errors.ts'
import { type Claims, claimValues, roleOf } from './token-claims.ts'
import { IssuerUnavailableError, type TokenKeys } from './token-keys.ts'
import type { Principal, Role } from './users.ts'

export type TokenAuthenticatorOptions = {
  readonly issuer: string
  /** The token must have one of them. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  readonly clockSkewSeconds: number
  readonly claims: { readonly name: string; readonly roles: string; readonly groups: string }
  readonly roles: readonly (readonly [value: string, role: Role])[]
  readonly keys: Pick<TokenKeys, 'find'>
  /** Default: the current time. */
  readonly now?: () => Date
}

export type TokenOutcome =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly reason: string }

/** Prefix of user names from tokens. It cannot collide with a user of the users file, whose names end at a colon. */
const NAME_PREFIX = 'oidc:'

/** Verifies bearer tokens of one issuer: signed JSON Web Tokens (RFC 9068, or any with these claims). */
export class TokenAuthenticator {
  readonly #options: TokenAuthenticatorOptions

  constructor(options: TokenAuthenticatorOptions) {
    this.#options = options
  }

  async check(token: string): Promise<TokenOutcome> {
    const { issuer, audiences, algorithms, clockSkewSeconds, keys, now } = this.#options
    const { errors, jwtVerify } = await import('jose')
    try {
      const { payload } = await jwtVerify(token, keys.find, {
        issuer,
        audience: [...audiences],
        algorithms: [...algorithms],
        clockTolerance: clockSkewSeconds,
        requiredClaims: ['exp'],
        ...(now ? { currentDate: now() } : {}),
      })
      return this.#principalOf(payload)
    } catch (error) {
      // Invalid keys are an error of the issuer.
      const isIssuerError = error instanceof IssuerUnavailableError || error instanceof errors.JWKSInvalid
      return { kind: isIssuerError ? 'unavailable' : 'invalid', reason: messageOf(error) }
    }
  }

  #principalOf(payload: Claims): TokenOutcome {
    const { claims, roles } = this.#options
    const name = payload[claims.name]
    if (typeof name !== 'string' || name === '') return { kind: 'invalid', reason: `it has no claim '${claims.name}'` }
    const role = roleOf(claimValues(payload, claims.roles), roles)
    const groups = claimValues(payload, claims.groups)
    return { kind: 'authenticated', principal: { name: `${NAME_PREFIX}${name}`, role, groups, method: 'bearer' } }
  }
}
