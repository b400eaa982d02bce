import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AuditedAction } from '../../http/audit-log.ts'
import type { AclOperation } from '../../http/permissions.ts'
import type { ConfigView } from '../worker.ts'
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
const OPERATIONS: Readonly<Record<string, AclOperation>> = {
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

/** What the audit log says of a request. */
export function auditedWorkerAction(request: FastifyRequest): AuditedAction {
  const { params, body, routeOptions } = request
  const operation = routeOptions.url === undefined ? undefined : operationOf(request)
  const name = routeOptions.url === '/connectors' && (body as { name?: unknown } | undefined)?.name
  return { operation, objects: typeof name === 'string' ? { name } : (params as AuditedAction['objects']) }
}

/** Throws a 403 when the path names an object that the request has no permission for. */
export function checkWorkerAccess(request: FastifyRequest): void {
  const { rights, params } = request
  const { url } = request.routeOptions
  // That there is no such place is no secret.
  if (url === undefined || PUBLIC.has(url)) return
  const operation = operationOf(request)
  if (url.startsWith('/connectors/:name')) rights.require(operation, (params as { name: string }).name)
  else if (url === '/metrics' || operation === 'loggers') rights.requireAll(operation)
  // Lists are narrowed to what may be read, a new connector is named by its body.
  else rights.requireAny(operation)
}

/** Checks what only a body names, before the request is passed on to another worker. */
export function checkBodies(app: FastifyInstance): void {
  app.addHook('preHandler', async ({ method, routeOptions, rights, body }) => {
    if (method !== 'POST' || routeOptions.url !== '/connectors' || rights.allowsAll('write')) return
    rights.require('write', parseCreateBody(body).name)
  })
}

function operationOf({ method, routeOptions }: FastifyRequest): AclOperation {
  if (method === 'GET' || method === 'HEAD') return 'read'
  const operation = OPERATIONS[`${method} ${routeOptions.url}`]
  if (operation === undefined) throw new Error(`${method} ${routeOptions.url} has no permission`)
  return operation
}

/** Whether somebody may create such a connector, and so use what its placeholders stand for. */
export function mayCreate({ rights }: Pick<FastifyRequest, 'rights'>, name: string | null | undefined): boolean {
  return name ? rights.allows('write', name) : rights.allowsAny('write')
}

/** Before whom secrets that are written in configurations are masked: who may not write them, or everybody. */
export type Masking = 'readonly' | 'always'

/** How a request may see the configuration of a connector. */
export type ConfigViewOf = (request: Pick<FastifyRequest, 'rights'>) => (name: string) => ConfigView

export function configViewFor(masking: Masking): ConfigViewOf {
  return ({ rights }) =>
    (name) =>
      masking === 'always' || !rights.allows('write', name) ? 'masked' : 'plain'
}
