import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AuditedAction } from '../../http/audit-log.ts'
import type { AclOperation } from '../../http/permissions.ts'
import type { ConfigView } from '../configuration/masked-config.ts'
import { parseCreateBody } from './parse-body.ts'

/** Routes that disclose nothing about connectors and need no permission, only authentication. */
const PUBLIC: ReadonlySet<string> = new Set([
  '/',
  '/health',
  '/openapi.json',
  '/connector-plugins',
  '/connector-plugins/:plugin/config',
])

/** The permission that each route other than `GET` and `HEAD` requires. */
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

/** Internal requests between workers are signed instead of authenticated; an administrator may send them as well. */
export function isInternal(request: FastifyRequest): boolean {
  return request.routeOptions.url !== undefined && operationOf(request) === 'internal'
}

/** The operation and objects of a request for the audit log. */
export function auditedWorkerAction(request: FastifyRequest): AuditedAction {
  const { params, body, routeOptions } = request
  const operation = routeOptions.url === undefined ? undefined : operationOf(request)
  const name = routeOptions.url === '/connectors' && (body as { name?: unknown } | undefined)?.name
  return { operation, objects: typeof name === 'string' ? { name } : (params as AuditedAction['objects']) }
}

/**
 * Throws an error with status 403 when the request has no permission for the operation on the object that its path
 * names.
 */
export function checkWorkerAccess(request: FastifyRequest): void {
  const { rights, params } = request
  const { url } = request.routeOptions
  // That a path does not exist is no secret.
  if (url === undefined || PUBLIC.has(url)) return
  const operation = operationOf(request)
  if (url.startsWith('/connectors/:name')) rights.require(operation, (params as { name: string }).name)
  else if (url === '/metrics' || operation === 'loggers') rights.requireAll(operation)
  // Lists are filtered to readable objects, and `checkBodies` checks the name of a new connector.
  else rights.requireAny(operation)
}

/** Checks the permission for objects that only the body names, before the request is forwarded to another worker. */
export function checkBodies(app: FastifyInstance): void {
  app.addHook('preHandler', async ({ method, routeOptions, rights, body }) => {
    if (method !== 'POST' || routeOptions.url !== '/connectors' || rights.allowsAll('write')) return
    rights.require('write', parseCreateBody(body).name)
  })
}

function operationOf({ method, routeOptions }: FastifyRequest): AclOperation {
  if (method === 'GET' || method === 'HEAD') return 'read'
  const operation = OPERATIONS[`${method} ${routeOptions.url}`]
  if (operation === undefined) throw new Error(`${method} ${routeOptions.url} has no permission assigned to it`)
  return operation
}

/** Whether the request may create a connector of this name, and so use the values of its placeholders. */
export function mayCreate({ rights }: Pick<FastifyRequest, 'rights'>, name: string | null | undefined): boolean {
  return name ? rights.allows('write', name) : rights.allowsAny('write')
}

/** For whom literal secrets in configurations are masked: for users without write permission, or for everyone. */
export type Masking = 'readonly' | 'always'

/** How a request may view the configuration of a connector. */
export type ConfigViewOf = (request: Pick<FastifyRequest, 'rights'>) => (name: string) => ConfigView

export function configViewFor(masking: Masking): ConfigViewOf {
  return ({ rights }) =>
    (name) =>
      masking === 'always' || !rights.allows('write', name) ? 'masked' : 'plain'
}
