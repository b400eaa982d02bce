import type { FastifyRequest } from 'fastify'
import type { AuditedAction } from '../../http/audit-log.ts'
import { operationOf } from '../../http/endpoint.ts'
import type { AclOperation } from '../../http/permissions.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { isImporting } from '../commands/mode-checks.ts'
import type { Subject } from '../model/subject.ts'
import { modeInScope } from '../queries/effective-config.ts'
import { toFlag } from './query-parameters.ts'

/**
 * The ACL operation of a request on a subject. Importing has its own operation because it sets IDs, and permanent
 * deletion has its own because it cannot be undone.
 */
export function operationOn(
  subject: Subject | null,
  request: FastifyRequest,
  { view, defaults }: Pick<DecisionContext, 'view' | 'defaults'>,
): AclOperation {
  const operation = operationOnKeys(request)
  if (operation !== 'write') return operation
  return isImporting(modeInScope(view, subject, defaults)) ? 'import' : 'write'
}

/** The ACL operation of a request on keys. Undeleting is `write`, because creating a key can also undelete it. */
export function operationOnKeys(request: FastifyRequest): AclOperation {
  return withPermanence(request) ?? 'read'
}

/** The audit log entry of a request. `operation` is undefined if no route matches. */
export function auditedAction(request: FastifyRequest): AuditedAction {
  return { operation: withPermanence(request), objects: request.params as AuditedAction['objects'] }
}

function withPermanence(request: FastifyRequest): AclOperation | undefined {
  const operation = operationOf(request)
  const { permanent } = request.query as { readonly permanent?: unknown }
  return operation === 'delete' && toFlag(permanent) ? 'harddelete' : operation
}
