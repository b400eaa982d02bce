import type { FastifyRequest } from 'fastify'
import { contextOf } from '../../formats/qualified-subject.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import { operationOnKeys } from './acl-operations.ts'
import { checkDekSubject, checkKekName } from './key-bodies.ts'
import { contextIn, paramsOf, type RouteContext } from './route-context.ts'

// A request for a DEK needs the permission for its operation on the KEK, and `read` on the subject whose data the DEK
// encrypts.

/** The KEK name of the path. Throws `invalid_key`, and a 403 error if the principal lacks the permission. */
export function kekNameIn(request: FastifyRequest): string {
  const name = checkKekName(paramsOf(request)['name'] ?? '')
  request.rights.forKind('keks').require(operationOnKeys(request), name)
  return name
}

/**
 * The subject of the path, qualified with the path's context, with its `aliasForDeks` or `alias` resolved. Throws as
 * `checkedDekSubject`.
 */
export function dekSubjectIn(request: FastifyRequest, route: RouteContext): Subject {
  const subject = toSubject(paramsOf(request)['subject'] ?? '', contextIn(request))
  const { alias, aliasForDeks } = route.view.config(subject) ?? {}
  const target = aliasForDeks || alias
  return checkedDekSubject(request, target ? toSubject(target, contextOf(subject)) : subject)
}

/** Returns `subject`. Throws `invalid_key`, and a 403 error if the principal may not read the subject. */
export function checkedDekSubject(request: FastifyRequest, subject: Subject): Subject {
  request.rights.require('read', checkDekSubject(subject))
  return subject
}
