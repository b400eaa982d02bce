import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authentication } from './authentication.ts'
import { HttpError } from './http-error.ts'
import { type ObjectKind, type PermissionPolicy, Rights } from './permissions.ts'
import { pathOf } from './url-path.ts'
import type { Principal, Role } from './users.ts'

/** Authentication and authorization of a server. */
export type AccessControl = {
  readonly authentication: Authentication
  /** The kind of objects that the permissions of a request are checked for by default. */
  readonly kind: ObjectKind
  readonly policy: () => PermissionPolicy
  /** Roles that may use the server. Default: all. */
  readonly roles?: readonly Role[]
  /** Paths without authentication; a trailing `/*` matches all paths below. */
  readonly publicPaths?: readonly string[]
  /**
   * Whether a request without credentials may continue because its route authenticates it in another way, such as a
   * signature.
   */
  readonly allowsAnonymous?: (request: FastifyRequest) => boolean
  /**
   * Throws a `HttpError` where the path of a request names something that `request.rights` do not cover. What a body names
   * is for the route to check.
   */
  readonly check: (request: FastifyRequest) => void
}

/**
 * Authenticates and authorizes a request, and sets its `principal` and `granted`. A promise if the authentication takes time.
 * Throws or rejects with a 401, 403, 429 or 503.
 */
export function authorize(access: AccessControl, request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
  if (request.routeOptions.config?.permission === 'public' || isPublic(access.publicPaths ?? [], request.url)) {
    request.granted = Rights.everything(access.kind)
    return
  }
  const { authorization } = request.headers
  if (authorization === undefined && access.allowsAnonymous?.(request)) return
  const principal = access.authentication.authenticate(request, reply)
  if (principal instanceof Promise) return principal.then((one) => authorizePrincipal(access, request, one))
  authorizePrincipal(access, request, principal)
}

function authorizePrincipal(access: AccessControl, request: FastifyRequest, principal: Principal): void {
  const { name, role } = principal
  request.principal = principal
  if (access.roles && !access.roles.includes(role)) {
    throw new HttpError(403, `User '${name}' has the role ${role}, which may not use this server`)
  }
  request.granted = Rights.forPrincipal(access.kind, principal, access.policy())
  access.check(request)
}

function isPublic(publicPaths: readonly string[], url: string): boolean {
  const path = pathOf(url)
  return publicPaths.some((open) => (open.endsWith('/*') ? path.startsWith(open.slice(0, -1)) : path === open))
}
