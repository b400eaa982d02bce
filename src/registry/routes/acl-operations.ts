import type { FastifyRequest } from 'fastify'
import type { AuditedAction } from '../../http/audit-log.ts'
import type { AclOperation } from '../../http/permissions.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { isImporting } from '../commands/mode-checks.ts'
import type { Subject } from '../model/subject.ts'
import { modeInScope } from '../queries/effective-config.ts'
import { booleanParameter, type Query } from './parse-request.ts'

const KEK = '/dek-registry/v1/keks/:name'
const DEK = `${KEK}/deks/:subject`

/** The ACL operation of every route with a method other than GET and HEAD, which are `read`. */
const OPERATIONS: Readonly<Record<string, AclOperation>> = {
  'POST /': 'read',
  'POST /subjects/:subject': 'read',
  'POST /compatibility/subjects/:subject/versions': 'read',
  'POST /compatibility/subjects/:subject/versions/:version': 'read',
  'POST /subjects/:subject/versions': 'write',
  'POST /subjects/:subject/versions/:version/tags': 'write',
  'DELETE /subjects/:subject': 'delete',
  'DELETE /subjects/:subject/versions/:version': 'delete',
  'DELETE /contexts/:context': 'harddelete',
  'PUT /config': 'config',
  'PUT /config/:subject': 'config',
  'DELETE /config': 'config',
  'DELETE /config/:subject': 'config',
  'PUT /mode': 'mode',
  'PUT /mode/:subject': 'mode',
  'DELETE /mode': 'mode',
  'DELETE /mode/:subject': 'mode',
  'POST /associations': 'write',
  'PUT /associations/resources/:resourceId': 'write',
  'DELETE /associations/resources/:resourceId': 'delete',
  'POST /associations::batchGet': 'read',
  'POST /associations::batchMutate': 'write',
  'POST /dek-registry/v1/keks': 'write',
  [`PUT ${KEK}`]: 'write',
  [`DELETE ${KEK}`]: 'delete',
  [`POST ${KEK}/undelete`]: 'write',
  [`POST ${KEK}/test`]: 'read',
  [`POST ${KEK}/deks`]: 'write',
  [`POST ${DEK}`]: 'write',
  [`DELETE ${DEK}`]: 'delete',
  [`POST ${DEK}/undelete`]: 'write',
  [`DELETE ${DEK}/versions/:version`]: 'delete',
  [`POST ${DEK}/versions/:version/undelete`]: 'write',
}

/**
 * The ACL operation of a request on a subject. Importing has its own operation because it sets IDs, and permanent
 * deletion has its own because it cannot be undone.
 */
export function operationOn(
  subject: Subject | null,
  request: FastifyRequest,
  { view, defaults }: Pick<DecisionContext, 'view' | 'defaults'>,
): AclOperation {
  const operation = operationOf(request)
  if (operation === 'write') return isImporting(modeInScope(view, subject, defaults)) ? 'import' : 'write'
  return withPermanence(operation, request)
}

/** The ACL operation of a request on keys. Undeleting is `write`, because creating a key can also undelete it. */
export function operationOnKeys(request: FastifyRequest): AclOperation {
  return withPermanence(operationOf(request), request)
}

function withPermanence(operation: AclOperation, request: FastifyRequest): AclOperation {
  return operation === 'delete' && isPermanent(request) ? 'harddelete' : operation
}

function isPermanent({ query }: FastifyRequest): boolean {
  return booleanParameter(query as Query, 'permanent')
}

/** The audit log entry of a request. `operation` is undefined if no route matches. */
export function auditedAction(request: FastifyRequest): AuditedAction {
  const objects = request.params as AuditedAction['objects']
  if (resourceOf(request) === undefined) return { operation: undefined, objects }
  return { operation: withPermanence(operationOf(request), request), objects }
}

/** The ACL operation by method and route alone. Throws an `Error` for a route that is not in `OPERATIONS`. */
export function operationOf(request: FastifyRequest): AclOperation {
  const { method } = request
  if (method === 'GET' || method === 'HEAD') return 'read'
  const operation = OPERATIONS[`${method} ${resourceOf(request)}`]
  if (operation === undefined) throw new Error(`${method} ${request.routeOptions.url} has no permission`)
  return operation
}

/** The route pattern without the prefix `/contexts/:context`; undefined if no route matches. */
export function resourceOf(request: FastifyRequest): string | undefined {
  return request.routeOptions.url?.replace(/^\/contexts\/:context(?=\/)/, '')
}
