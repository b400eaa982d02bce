import type { FastifyRequest } from 'fastify'
import type { Role } from '../../http/users.ts'
import { isImporting, modeInScope } from '../scope.ts'
import { type Api, queryOf } from './api.ts'
import { flag } from './request.ts'

/** What changes nothing but is no `GET`, and what developers may change. Everything else that changes needs an admin. */
const ROLES: Readonly<Record<string, Role | ((request: FastifyRequest, api: Api) => Role)>> = {
  'POST /': 'readonly',
  'POST /subjects/:subject': 'readonly',
  'POST /compatibility/subjects/:subject/versions': 'readonly',
  'POST /compatibility/subjects/:subject/versions/:version': 'readonly',
  'POST /subjects/:subject/versions': registering,
  'POST /subjects/:subject/versions/:version/tags': registering,
  'DELETE /subjects/:subject': deleting,
  'DELETE /subjects/:subject/versions/:version': deleting,
}

/** The least role that may make a request. */
export function roleFor(request: FastifyRequest, api: Api): Role {
  const { method } = request
  const { url } = request.routeOptions
  // That there is no such place is no secret.
  if (url === undefined || method === 'GET' || method === 'HEAD') return 'readonly'
  const role = ROLES[`${method} ${url.replace(/^\/contexts\/:context(?=\/)/, '')}`] ?? 'admin'
  return typeof role === 'string' ? role : role(request, api)
}

/** Whoever imports chooses ids. */
function registering(request: FastifyRequest, api: Api): Role {
  const mode = modeInScope(api.view, api.subject(request), api.registry.grounds.defaults)
  return isImporting(mode) ? 'admin' : 'developer'
}

/** What is soft-deleted can come back. */
function deleting(request: FastifyRequest): Role {
  return flag(queryOf(request), 'permanent') ? 'admin' : 'developer'
}
