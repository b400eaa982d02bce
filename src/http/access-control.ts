import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authentication } from './authentication.ts'
import { HttpError } from './http-error.ts'
import { type ObjectKind, type PermissionPolicy, Rights } from './permissions.ts'
import type { Role } from './users.ts'

/** Who has to log in, and who may do what. */
export type AccessControl = {
  readonly authentication: Authentication
  /** What permissions are about. */
  readonly kind: ObjectKind
  readonly policy: () => PermissionPolicy
  /** Who may come in at all. Default: everybody who is known. */
  readonly roles?: readonly Role[]
  /** Paths that need no name; `/*` at the end takes all below. */
  readonly publicPaths?: readonly string[]
  /** Whether a request without credentials may pass: its route decides by something else, such as a signature. */
  readonly allowsAnonymous?: (request: FastifyRequest) => boolean
  /**
   * Throws a `HttpError` where the path of a request names something that `request.rights` do not cover. What a body names
   * is for the route to check.
   */
  readonly check: (request: FastifyRequest) => void
}

/** Lets a request pass and sets `principal` and `rights` of it, or throws a 401, 403, 429 or 503. */
export async function authorize(access: AccessControl, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (isOpen(access.publicPaths ?? [], request.url)) {
    request.granted = Rights.everything(access.kind)
    return
  }
  const { authorization } = request.headers
  if (authorization === undefined && access.allowsAnonymous?.(request)) return
  const principal = await access.authentication.authenticate(request, reply)
  const { name, role } = principal
  request.principal = principal
  if (access.roles && !access.roles.includes(role)) {
    throw new HttpError(403, `User '${name}' has the role ${role}, which may not come in`)
  }
  request.granted = Rights.of(access.kind, principal, access.policy())
  access.check(request)
}

function isOpen(openPaths: readonly string[], url: string): boolean {
  const path = url.split('?', 1)[0] ?? url
  return openPaths.some((open) => (open.endsWith('/*') ? path.startsWith(open.slice(0, -1)) : path === open))
}
