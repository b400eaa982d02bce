import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'
import type { PasswordAuthenticator } from './password-authenticator.ts'
import type { Principal } from './permissions.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'

export type AuthenticationOptions = {
  readonly realm: string
  /** BASIC (RFC 7617). */
  readonly passwords?: Pick<PasswordAuthenticator, 'check'> | undefined
  /** Bearer tokens (RFC 6750). */
  readonly tokens?: Pick<TokenAuthenticator, 'check'> | undefined
}

/** Finds out who makes a request. */
export class Authentication {
  readonly #options: AuthenticationOptions

  constructor(options: AuthenticationOptions) {
    this.#options = options
  }

  /** Throws a 401, a 429 or a 503. */
  async authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
    const { passwords, tokens } = this.#options
    const { authorization } = request.headers
    const token = tokens && /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1]
    if (token !== undefined) return this.#byToken(tokens!, token, request, reply)
    const given = passwords && credentialsOf(authorization)
    if (given) return this.#byPassword(passwords!, given, request, reply)
    return this.#refuse(reply, 'HTTP 401 Unauthorized')
  }

  async #byPassword(
    passwords: Pick<PasswordAuthenticator, 'check'>,
    { name, password }: Credentials,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Principal> {
    request.claimedName = name
    const outcome = await passwords.check(name, password, request.ip)
    switch (outcome.kind) {
      case 'known':
        return { name, role: outcome.role, groups: [], method: 'basic' }
      case 'limited':
        void reply.header('retry-after', String(outcome.waitSeconds))
        throw new HttpError(429, `too many failed log-ins of this user: try again in ${outcome.waitSeconds} s`)
      case 'unavailable':
        void reply.header('retry-after', '1')
        throw new HttpError(503, 'too many log-ins at once: try again in 1 s')
      case 'wrong':
        return this.#refuse(reply, 'User cannot access the resource: wrong name or password')
    }
  }

  async #byToken(
    tokens: Pick<TokenAuthenticator, 'check'>,
    token: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Principal> {
    const outcome = await tokens.check(token)
    if (outcome.kind === 'known') return outcome.principal
    if (outcome.kind === 'wrong') return this.#refuse(reply, `the token is refused: ${outcome.reason}`, true)
    request.log.error({ reason: outcome.reason }, 'the issuer of tokens can not be asked for its keys')
    void reply.header('retry-after', '5')
    throw new HttpError(503, 'the issuer of tokens can not be asked for its keys: try again in 5 s')
  }

  #refuse(reply: FastifyReply, reason: string, isToken = false): never {
    const { realm, passwords, tokens } = this.#options
    const quoted = `realm="${realm.replace(/["\\]/g, '\\$&')}"`
    const bearer = `Bearer ${quoted}${isToken ? ', error="invalid_token"' : ''}`
    const ways = [...(tokens ? [bearer] : []), ...(passwords ? [`Basic ${quoted}, charset="UTF-8"`] : [])]
    void reply.header('www-authenticate', ways)
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
