import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'
import type { PasswordAuthenticator, PasswordOutcome } from './password-authenticator.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'
import type { Principal } from './users.ts'

export type AuthenticationOptions = {
  readonly realm: string
  /** BASIC (RFC 7617). */
  readonly passwords?: Pick<PasswordAuthenticator, 'check'> | undefined
  /** Bearer tokens (RFC 6750). */
  readonly tokens?: Pick<TokenAuthenticator, 'check'> | undefined
}

/** Authenticates requests by password or bearer token. */
export class Authentication {
  readonly #options: AuthenticationOptions

  constructor(options: AuthenticationOptions) {
    this.#options = options
  }

  /** A promise if a password has to be hashed or a token checked. Throws or rejects with an `HttpError`: 401, 429 or 503. */
  authenticate(request: FastifyRequest, reply: FastifyReply): Principal | Promise<Principal> {
    const { passwords, tokens } = this.#options
    const { authorization } = request.headers
    const token = tokens && /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1]
    if (token !== undefined) return this.#authenticateToken(tokens!, token, request, reply)
    const credentials = passwords && credentialsOf(authorization)
    if (credentials) return this.#authenticatePassword(passwords!, credentials, request, reply)
    return this.#reject(reply, 'HTTP 401 Unauthorized')
  }

  #authenticatePassword(
    passwords: Pick<PasswordAuthenticator, 'check'>,
    { name, password }: Credentials,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Principal | Promise<Principal> {
    request.claimedName = name
    const outcome = passwords.check(name, password, request.ip)
    if (outcome instanceof Promise) return outcome.then((checked) => this.#principalOf(checked, reply))
    return this.#principalOf(outcome, reply)
  }

  #principalOf(outcome: PasswordOutcome, reply: FastifyReply): Principal {
    switch (outcome.kind) {
      case 'authenticated':
        return outcome.principal
      case 'limited':
        void reply.header('retry-after', String(outcome.waitSeconds))
        throw new HttpError(429, `too many failed login attempts for this user: try again in ${outcome.waitSeconds} s`)
      case 'unavailable':
        void reply.header('retry-after', '1')
        throw new HttpError(503, 'too many concurrent logins: try again in 1 s')
      case 'invalid':
        return this.#reject(reply, 'User cannot access the resource: wrong name or password')
    }
  }

  async #authenticateToken(
    tokens: Pick<TokenAuthenticator, 'check'>,
    token: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Principal> {
    const outcome = await tokens.check(token)
    if (outcome.kind === 'authenticated') return outcome.principal
    if (outcome.kind === 'invalid') return this.#reject(reply, `the token is invalid: ${outcome.reason}`, true)
    request.log.error({ reason: outcome.reason }, 'cannot get the keys of the token issuer')
    void reply.header('retry-after', '5')
    throw new HttpError(503, 'the keys of the token issuer are unavailable: try again in 5 s')
  }

  #reject(reply: FastifyReply, reason: string, isToken = false): never {
    const { realm, passwords, tokens } = this.#options
    const quoted = `realm="${realm.replace(/["\\]/g, '\\$&')}"`
    const bearer = `Bearer ${quoted}${isToken ? ', error="invalid_token"' : ''}`
    const challenges = [...(tokens ? [bearer] : []), ...(passwords ? [`Basic ${quoted}, charset="UTF-8"`] : [])]
    void reply.header('www-authenticate', challenges)
    throw new HttpError(401, reason)
  }
}

type Credentials = { readonly name: string; readonly password: string }

function credentialsOf(header: string | undefined): Credentials | undefined {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
