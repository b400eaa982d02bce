import type { FastifyRequest } from 'fastify'
import type { AuditedAction } from '../../http/audit-log.ts'
import type { AclOperation } from '../../http/permissions.ts'
import type { DecisionContext } from '../commands/decision.ts'
import type { Subject } from '../model/subject.ts'
import { isImporting, modeInScope } from '../queries/effective-config.ts'
import { booleanParameter, type Query } from './request.ts'

const KEK = '/dek-registry/v1/keks/:name'
const DEK = `${KEK}/deks/:subject`

/** What changes nothing but is no `GET`, and everything that changes something. */
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

/** What a request does with a subject. Who imports chooses ids; what is soft-deleted can come back. */
export function operationOn(
  subject: Subject | null,
  request: FastifyRequest,
  { view, defaults }: Pick<DecisionContext, 'view' | 'defaults'>,
): AclOperation {
  const operation = operationOf(request)
  if (operation === 'write') return isImporting(modeInScope(view, subject, defaults)) ? 'import' : 'write'
  return withPermanence(operation, request)
}

/** What a request does with keys. Creating a key can undelete it, so that undeleting needs no other permission. */
export function operationOnKeys(request: FastifyRequest): AclOperation {
  return withPermanence(operationOf(request), request)
}

function withPermanence(operation: AclOperation, request: FastifyRequest): AclOperation {
  return operation === 'delete' && isPermanent(request) ? 'harddelete' : operation
}

function isPermanent({ query }: FastifyRequest): boolean {
  return booleanParameter(query as Query, 'permanent')
}

/** What the audit log says of a request. */
export function auditedAction(request: FastifyRequest): AuditedAction {
  const objects = request.params as AuditedAction['objects']
  if (resourceOf(request) === undefined) return { operation: undefined, objects }
  return { operation: withPermanence(operationOf(request), request), objects }
}

/** What a request does, as far as its method and path tell. */
export function operationOf(request: FastifyRequest): AclOperation {
  const { method } = request
  if (method === 'GET' || method === 'HEAD') return 'read'
  const operation = OPERATIONS[`${method} ${resourceOf(request)}`]
  if (operation === undefined) throw new Error(`${method} ${request.routeOptions.url} has no permission`)
  return operation
}

/** The route, which is the same under `/contexts/:context`; undefined where there is none. */
export function resourceOf(request: FastifyRequest): string | undefined {
  return request.routeOptions.url?.replace(/^\/contexts\/:context(?=\/)/, '')
}
