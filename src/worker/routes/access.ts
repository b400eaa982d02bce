import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Operation } from '../../http/permissions.ts'
import { parseCreateBody } from './bodies.ts'

/** What tells nothing of any connector: for everybody who is known. */
const PUBLIC: ReadonlySet<string> = new Set([
  '/',
  '/health',
  '/openapi.json',
  '/connector-plugins',
  '/connector-plugins/:plugin/config',
])

/** What changes nothing but is no `GET`, and everything that changes something. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'PUT /connector-plugins/:plugin/config/validate': 'read',
  'POST /connectors': 'write',
  'PUT /connectors/:name/config': 'write',
  'PATCH /connectors/:name/config': 'write',
  'DELETE /connectors/:name': 'delete',
  'PUT /connectors/:name/pause': 'lifecycle',
  'PUT /connectors/:name/resume': 'lifecycle',
  'PUT /connectors/:name/stop': 'lifecycle',
  'POST /connectors/:name/restart': 'lifecycle',
  'POST /connectors/:name/tasks/:task(^-?\\d+$)/restart': 'lifecycle',
  'PUT /connectors/:name/topics/reset': 'offsets',
  'PATCH /connectors/:name/offsets': 'offsets',
  'DELETE /connectors/:name/offsets': 'offsets',
  'PUT /admin/loggers/:logger': 'loggers',
  'POST /connectors/:name/tasks': 'internal',
  'PUT /connectors/:name/fence': 'internal',
}

/** Workers sign these instead of logging in; an administrator may make them, too. */
export function isInternal(request: FastifyRequest): boolean {
  return request.routeOptions.url !== undefined && operationOf(request) === 'internal'
}

/** Throws a 403 where the path names what the request may not reach. */
export function checkAccess(request: FastifyRequest): void {
  const { rights, params } = request
  const { url } = request.routeOptions
  // That there is no such place is no secret.
  if (url === undefined || PUBLIC.has(url)) return
  const operation = operationOf(request)
  if (url.startsWith('/connectors/:name')) rights.demand(operation, (params as { name: string }).name)
  else if (url === '/metrics' || operation === 'loggers') rights.demandAll(operation)
  // Lists are narrowed to what may be read, a new connector is named by its body.
  else rights.demandSome(operation)
}

/** Checks what only a body names, before the request is passed on to another worker. */
export function checkBodies(app: FastifyInstance): void {
  app.addHook('preHandler', async ({ method, routeOptions, rights, body }) => {
    if (method !== 'POST' || routeOptions.url !== '/connectors' || rights.mayAll('write')) return
    rights.demand('write', parseCreateBody(body).name)
  })
}

function operationOf({ method, routeOptions }: FastifyRequest): Operation {
  if (method === 'GET' || method === 'HEAD') return 'read'
  const operation = OPERATIONS[`${method} ${routeOptions.url}`]
  if (operation === undefined) throw new Error(`${method} ${routeOptions.url} has no permission`)
  return operation
}
