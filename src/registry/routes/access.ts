import type { FastifyRequest } from 'fastify'
import { type Api, paramsOf } from './api.ts'
import { dekSubjectIn, kekNameIn } from './key-access.ts'
import { operationOf, operationOnKeys, resourceOf } from './operations.ts'

/** What tells nothing of any subject: for everybody who is known. */
const PUBLIC: ReadonlySet<string> = new Set([
  '/',
  '/schemas/types',
  '/v1/metadata/id',
  '/v1/metadata/version',
  '/v1/metadata/deployment',
  '/openapi.json',
])

/**
 * Throws a 403 where the path names what the request may not reach. Each accessor of `api` checks again what it hands
 * out: an alias may have changed until a body has arrived.
 */
export function checkAccess(request: FastifyRequest, api: Api): void {
  const path = resourceOf(request)
  // That there is no such place is no secret.
  if (path === undefined || PUBLIC.has(path)) return
  if (path === '/metrics') request.rights.requireAll('read')
  else if (path.startsWith('/dek-registry/')) checkKeyAccess(request, api)
  else if (path.includes('/subjects/:subject')) api.subject(request)
  else if (/^\/(config|mode)\b/.test(path)) api.scope(request)
  else if (path === '/contexts/:context') api.context(request)
  // Lists and ids are narrowed to what may be read.
  else request.rights.requireAny(operationOf(request))
}

/** A subject in a body is checked by its route. */
function checkKeyAccess(request: FastifyRequest, api: Api): void {
  const { name, subject } = paramsOf(request)
  if (name === undefined) request.rights.on('keks').requireAny(operationOnKeys(request))
  else kekNameIn(request)
  if (subject !== undefined) dekSubjectIn(request, api)
}
