import type { FastifyRequest } from 'fastify'
import type { Role } from '../../http/users.ts'

/** What changes nothing but is no `GET`, what developers may change, and what workers ask of each other, signed. */
const ROLES: Readonly<Record<string, Role | 'signed'>> = {
  'PUT /connector-plugins/:plugin/config/validate': 'readonly',
  'POST /connectors': 'developer',
  'PUT /connectors/:name/config': 'developer',
  'PATCH /connectors/:name/config': 'developer',
  'PUT /connectors/:name/pause': 'developer',
  'PUT /connectors/:name/resume': 'developer',
  'PUT /connectors/:name/stop': 'developer',
  'POST /connectors/:name/restart': 'developer',
  'POST /connectors/:name/tasks/:task(^-?\\d+$)/restart': 'developer',
  'POST /connectors/:name/tasks': 'signed',
  'PUT /connectors/:name/fence': 'signed',
}

/**
 * The least role that may make a request; undefined: anybody. What can't be undone (deleting, moving offsets) and what
 * concerns all connectors (loggers) needs an admin.
 */
export function roleFor({ method, routeOptions }: FastifyRequest): Role | undefined {
  const { url } = routeOptions
  // That there is no such place is no secret.
  if (url === undefined || method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return 'readonly'
  const role = ROLES[`${method} ${url}`] ?? 'admin'
  return role === 'signed' ? undefined : role
}
