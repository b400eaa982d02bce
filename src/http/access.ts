import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PasswordLogIn } from './password-log-in.ts'
import { type ObjectKind, type Policy, type Principal, Rights } from './permissions.ts'
import { Refusal } from './refusal.ts'
import type { Role } from './users.ts'

/** Who has to log in, and who may do what. */
export type Access = {
  readonly realm: string
  readonly passwords: PasswordLogIn
  /** What permissions are about. */
  readonly kind: ObjectKind
  readonly policy: () => Policy
  /** Who may come in at all. Default: everybody who is known. */
  readonly roles?: readonly Role[]
  /** Paths that need no name; `/*` at the end takes all below. */
  readonly openPaths?: readonly string[]
  /** Whether a request without credentials may pass: its route decides by something else, such as a signature. */
  readonly takesAnonymous?: (request: FastifyRequest) => boolean
  /**
   * Throws a `Refusal` where the path of a request names something that `request.rights` do not cover. What a body names
   * is for the route to check.
   */
  readonly check: (request: FastifyRequest) => void
}

/** Lets a request pass and sets `principal` and `rights` of it, or throws a 401, 403, 429 or 503. */
export async function authorize(access: Access, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (isOpen(access.openPaths ?? [], request.url)) {
    request.granted = Rights.everything(access.kind)
    return
  }
  const { authorization } = request.headers
  if (authorization === undefined && access.takesAnonymous?.(request)) return
  const principal = await logIn(access, request, reply)
  const { name, role } = principal
  request.principal = principal
  if (access.roles && !access.roles.includes(role)) {
    throw new Refusal(403, `User '${name}' has the role ${role}, which may not come in`)
  }
  request.granted = Rights.of(access.kind, principal, access.policy())
  access.check(request)
}

async function logIn({ passwords, realm }: Access, request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
  const given = credentialsOf(request.headers.authorization)
  const outcome = given && (await passwords.check(given.name, given.password, request.ip))
  if (given && outcome?.kind === 'known') return { name: given.name, role: outcome.role, groups: [], method: 'basic' }
  if (outcome?.kind === 'limited') {
    void reply.header('retry-after', String(outcome.waitSeconds))
    throw new Refusal(429, `too many failed log-ins of this user: try again in ${outcome.waitSeconds} s`)
  }
  if (outcome?.kind === 'unavailable') {
    void reply.header('retry-after', '1')
    throw new Refusal(503, 'too many log-ins at once: try again in 1 s')
  }
  void reply.header('www-authenticate', `Basic realm="${realm.replace(/["\\]/g, '\\$&')}", charset="UTF-8"`)
  throw new Refusal(401, given ? 'User cannot access the resource: wrong name or password' : 'HTTP 401 Unauthorized')
}

function isOpen(openPaths: readonly string[], url: string): boolean {
  const path = url.split('?', 1)[0] ?? url
  return openPaths.some((open) => (open.endsWith('/*') ? path.startsWith(open.slice(0, -1)) : path === open))
}

function credentialsOf(header: string | undefined): { name: string; password: string } | undefined {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
