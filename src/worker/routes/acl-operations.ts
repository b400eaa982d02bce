import type { FastifyRequest } from 'fastify'
import type { AuditedAction } from '../../http/audit-log.ts'
import type { AclOperation } from '../../http/permissions.ts'

/**
 * The ACL operations of routes. A GET or HEAD that is not listed is `read`. Records may contain more than anybody who reads
 * a configuration may see, and who may write a connector can make it read and write records anyway.
 */
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
  'GET /ui/api/connectors/:name/dead-letters': 'write',
  'GET /ui/api/connectors/:name/dead-letters/:partition/:offset': 'write',
  'POST /ui/api/connectors/:name/dead-letters/replay': 'write',
  'POST /connectors/:name/tasks': 'internal',
  'PUT /connectors/:name/fence': 'internal',
}

/** The ACL operation of a request. Throws an `Error` for a route that changes something and is not in `OPERATIONS`. */
export function workerOperationOf({ method, routeOptions }: FastifyRequest): AclOperation {
  const isRead = method === 'GET' || method === 'HEAD'
  const operation = OPERATIONS[`${isRead ? 'GET' : method} ${routeOptions.url}`] ?? (isRead ? 'read' : undefined)
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
