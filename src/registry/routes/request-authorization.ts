import type { FastifyRequest } from 'fastify'
import { permissionOf } from '../../http/endpoint.ts'
import { operationOnKeys } from './acl-operations.ts'
import { dekSubjectIn, kekNameIn } from './key-authorization.ts'
import type { RouteContext } from './route-context.ts'

/**
 * Throws a 403 error if the principal may not access what the path names. The accessors of `route` repeat the check when
 * the handler calls them, because an alias can change while the body is received.
 */
export function checkAccess(request: FastifyRequest, route: RouteContext): void {
  const permission = permissionOf(request)
  // An unknown route gets a 404, regardless of permissions.
  if (permission === undefined || typeof permission === 'string') return
  const { operation, on } = permission
  if (on === 'subject') route.subject(request)
  else if (on === 'scope') route.scope(request)
  else if (on === 'context') route.context(request)
  else if (on === 'kek' || on === 'kek and subject') {
    kekNameIn(request)
    if (on === 'kek and subject') dekSubjectIn(request, route)
  } else if (on === 'any kek') request.rights.forKind('keks').requireAny(operationOnKeys(request))
  else if (on === 'any') request.rights.requireAny(operation)
  else request.rights.requireAll(operation)
}
