import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CONSOLE_ROUTES } from '../../console/routes/console-routes.ts'
import { workerOperationOf } from './acl-operations.ts'
import { parseCreateBody } from './parse-body.ts'

/** Routes that disclose nothing about connectors and need no permission, only authentication. */
const PUBLIC: ReadonlySet<string> = new Set([
  '/',
  '/health',
  '/openapi.json',
  '/connector-plugins',
  '/connector-plugins/:plugin/config',
])

/**
 * Throws an error with status 403 when the request has no permission for the operation on the object that its path
 * names.
 */
export function checkWorkerAccess(request: FastifyRequest): void {
  const { rights, params } = request
  const { url } = request.routeOptions
  // That a path does not exist is no secret.
  if (url === undefined || PUBLIC.has(url) || CONSOLE_ROUTES.has(url)) return
  const operation = workerOperationOf(request)
  if (/^(?:\/ui\/api)?\/connectors\/:name/.test(url)) rights.require(operation, (params as { name: string }).name)
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

/** Whether the request may create a connector of this name, and so use the values of its placeholders. */
export function mayCreate({ rights }: Pick<FastifyRequest, 'rights'>, name: string | null | undefined): boolean {
  return name ? rights.allows('write', name) : rights.allowsAny('write')
}
