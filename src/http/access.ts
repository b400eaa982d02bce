import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PasswordLogIn } from './password-log-in.ts'
import { Refusal } from './refusal.ts'
import { ROLES, type Role } from './users.ts'

/** Who makes a request. `FastifyRequest.principal` is undefined where nobody has to log in: then everything is allowed. */
export type Principal = { readonly name: string; readonly role: Role }

/** BASIC authentication with roles (RFC 7617): who may call what. */
export type Access = {
  readonly realm: string
  readonly passwords: PasswordLogIn
  /** Who may come in at all. Default: everybody who is known. */
  readonly roles?: readonly Role[]
  /** Paths that need no name; `/*` at the end takes all below. */
  readonly openPaths?: readonly string[]
  /** The least role that may make this request; undefined: it needs no name. */
  readonly roleFor: (request: FastifyRequest) => Role | undefined
}

/** Lets a request pass and sets `request.principal`, or throws a 401, 403, 429 or 503. */
export async function authorize(access: Access, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const needed = access.roleFor(request)
  if (needed === undefined || isOpen(access.openPaths ?? [], request.url)) return
  const given = credentialsOf(request.headers.authorization)
  const role = await logIn(access, given, request, reply)
  if (access.roles && !access.roles.includes(role)) {
    throw new Refusal(403, `User '${given?.name}' has the role ${role}, which may not come in`)
  }
  if (ROLES.indexOf(role) < ROLES.indexOf(needed)) {
    throw new Refusal(403, `User '${given?.name}' has the role ${role}; this request needs ${needed}`)
  }
  request.principal = { name: given?.name ?? '', role }
}

async function logIn(
  { passwords, realm }: Access,
  given: { name: string; password: string } | undefined,
  { ip }: FastifyRequest,
  reply: FastifyReply,
): Promise<Role> {
  const outcome = given && (await passwords.check(given.name, given.password, ip))
  if (outcome?.kind === 'known') return outcome.role
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
