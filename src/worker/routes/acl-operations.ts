import type { FastifyRequest } from 'fastify'
import type { AuditedAction } from '../../http/audit-log.ts'
import type { AclOperation } from '../../http/permissions.ts'

/** The ACL operation of every route with a method other than GET and HEAD, which are `read`. */
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

/** The ACL operation of a request. Throws an `Error` for a route that is not in `OPERATIONS`. */
export function workerOperationOf({ method, routeOptions }: FastifyRequest): AclOperation {
  if (method === 'GET' || method === 'HEAD') return 'read'
  const operation = OPERATIONS[`${method} ${routeOptions.url}`]
  if (operation === undefined) throw new Error(`${method} ${routeOptions.url} has no permission assigned to it`)
  return operation
}

/** Internal requests between workers are signed instead of authenticated; an administrator may send them as well. */
export function isInternal(request: FastifyRequest): boolean {
  return request.routeOptions.url !== undefined && workerOperationOf(request) === 'internal'
}

/** The operation and objects of a request for the audit log. */
export function auditedWorkerAction(request: FastifyRequest): AuditedAction {
  const { params, body, routeOptions } = request
  const operation = routeOptions.url === undefined ? undefined : workerOperationOf(request)
  const name = routeOptions.url === '/connectors' && (body as { name?: unknown } | undefined)?.name
  return { operation, objects: typeof name === 'string' ? { name } : (params as AuditedAction['objects']) }
}
