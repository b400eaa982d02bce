import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AuditedAction } from '../../http/audit-log.ts'
import { operationOf, permissionOf } from '../../http/endpoint.ts'
import { createBody } from './request-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Topics whose records the request reads, if its path does not name them. */
    readTopics?: readonly string[]
  }
}

/**
 * Throws an error with status 403 when the request has no permission for the operation on the object that its path
 * names.
 */
export function checkWorkerAccess(request: FastifyRequest): void {
  const permission = permissionOf(request)
  // That a path does not exist is no secret.
  if (permission === undefined || typeof permission === 'string') return
  const { operation, on } = permission
  const { rights, params } = request
  if (on === 'topic') rights.forKind('topics').require(operation, (params as { topic: string }).topic)
  else if (on === 'any topic') rights.forKind('topics').requireAny(operation)
  else if (on === 'connector') rights.require(operation, (params as { name: string }).name)
  // Lists are filtered to readable objects, and `checkBodies` checks the name of a new connector.
  else if (on === 'any') rights.requireAny(operation)
  else rights.requireAll(operation)
}

/** Internal requests between workers are signed instead of authenticated; an administrator may send them as well. */
export function isInternal(request: FastifyRequest): boolean {
  return operationOf(request) === 'internal'
}

/** The operation and objects of a request for the audit log. */
export function auditedWorkerAction(request: FastifyRequest): AuditedAction {
  const { params, body, routeOptions, readTopics } = request
  const permission = permissionOf(request)
  const name = routeOptions.url === '/connectors' && (body as { name?: unknown } | undefined)?.name
  return {
    operation: operationOf(request),
    readsRecords: typeof permission === 'object' && permission.on === 'topic' && permission.operation === 'read',
    objects: {
      ...(typeof name === 'string' ? { name } : (params as AuditedAction['objects'])),
      ...(readTopics && { topics: readTopics.join(', ') }),
    },
  }
}

/** Checks the permission for objects that only the body names, before the request is forwarded to another worker. */
export function checkBodies(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ method, routeOptions, rights, body }) => {
    if (method !== 'POST' || routeOptions.url !== '/connectors' || rights.allowsAll('write')) return
    rights.require('write', createBody.parse(body).name)
  })
}

/** Whether the request may create a connector of this name, and so use the values of its placeholders. */
export function mayCreate({ rights }: Pick<FastifyRequest, 'rights'>, name: string | null | undefined): boolean {
  return name ? rights.allows('write', name) : rights.allowsAny('write')
}
