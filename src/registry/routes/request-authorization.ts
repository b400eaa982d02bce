import type { FastifyRequest } from 'fastify'
import { CONSOLE_ROUTES } from '../../console/routes/console-routes.ts'
import { operationOf, operationOnKeys, resourceOf } from './acl-operations.ts'
import { dekSubjectIn, kekNameIn } from './key-authorization.ts'
import { paramsOf, type RouteContext } from './route-context.ts'

/** Routes whose responses contain nothing about subjects. Every authenticated principal may use them. */
const PUBLIC: ReadonlySet<string> = new Set([
  '/',
  '/schemas/types',
  '/v1/metadata/id',
  '/v1/metadata/version',
  '/v1/metadata/deployment',
  '/openapi.json',
])

/**
 * Throws a 403 error if the principal may not access what the path names. The accessors of `route` repeat the check when
 * the handler calls them, because an alias can change while the body is received.
 */
export function checkAccess(request: FastifyRequest, route: RouteContext): void {
  const path = resourceOf(request)
  // An unknown route gets a 404, regardless of permissions.
  if (path === undefined || PUBLIC.has(path) || CONSOLE_ROUTES.has(path)) return
  if (path === '/metrics') request.rights.requireAll('read')
  else if (path.startsWith('/dek-registry/')) checkKeyAccess(request, route)
  else if (path.includes('/subjects/:subject')) route.subject(request)
  else if (/^\/(config|mode)\b/.test(path)) route.scope(request)
  else if (path === '/contexts/:context') route.context(request)
  // Lists and lookups by ID return only the subjects that the principal may read.
  else request.rights.requireAny(operationOf(request))
}

/** Checks the KEK and the subject of the path. The route handlers check a subject in the body. */
function checkKeyAccess(request: FastifyRequest, route: RouteContext): void {
  const { name, subject } = paramsOf(request)
  if (name === undefined) request.rights.forKind('keks').requireAny(operationOnKeys(request))
  else kekNameIn(request)
  if (subject !== undefined) dekSubjectIn(request, route)
}
