import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import { decideDeleteMode, decideMode } from '../commands/change-mode.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { modeNotFound } from '../model/registry-error.ts'
import { GLOBAL } from '../model/subject.ts'
import { DELETE_MODE_MESSAGES, UPDATE_MODE_MESSAGES } from '../model/write-error-messages.ts'
import { modeInScope } from '../queries/effective-config.ts'
import { mode as modeEntity } from './entities.ts'
import { query } from './query-parameters.ts'
import { modeBody } from './request-bodies.ts'
import type { RouteContext } from './route-context.ts'

/** `/mode`: the mode, such as READWRITE or IMPORT: global, of a context or of a subject. */
export function modeRoutes(app: FastifyInstance, route: RouteContext): void {
  for (const url of ['/mode', '/mode/:subject'] as const) {
    const scopeName = url === '/mode' ? 'top' : 'subject'

    addEndpoint(app, {
      method: 'GET',
      url,
      summary: 'Returns the mode',
      permission: { operation: 'read', on: 'scope' },
      metric: `mode.get-${scopeName}`,
      querystring: query('defaultToGlobal'),
      response: { 200: modeEntity },
      errors: ['subject_mode_not_found'],
      handler: async (request) => {
        const scope = route.scope(request)
        const { view, defaults } = route.registry.decisionContext
        if (request.query.defaultToGlobal) return { mode: modeInScope(view, scope, defaults) }
        const mode = view.mode(scope) ?? (scope === null || scope === GLOBAL ? defaults.mode : undefined)
        if (mode === undefined) throw modeNotFound(scope ?? '')
        return { mode }
      },
    })

    addEndpoint(app, {
      method: 'PUT',
      url,
      summary: 'Sets the mode',
      permission: { operation: 'mode', on: 'scope' },
      metric: `mode.update-${scopeName}`,
      querystring: query('force'),
      body: modeBody,
      response: { 200: z.object({ mode: z.string().nullable().describe('The mode as it was sent.') }) },
      errors: ['invalid_mode', 'invalid_subject', 'not_permitted', 'reference_exists'],
      handler: async (request, reply) => {
        const scope = route.scope(request)
        const { mode, sent } = request.body
        const { force } = request.query
        return route.write(request, reply, {
          operation: UPDATE_MODE_MESSAGES,
          decide: (context: DecisionContext) => decideMode(context, scope, mode, { force }),
          answer: () => ({ mode: sent }),
        })
      },
    })

    addEndpoint(app, {
      method: 'DELETE',
      url,
      summary: 'Deletes the mode and returns it',
      permission: { operation: 'mode', on: 'scope' },
      metric: `mode.delete-${scopeName}`,
      querystring: query('recursive'),
      response: { 200: modeEntity },
      errors: ['subject_not_found', 'not_permitted'],
      handler: async (request, reply) => {
        const scope = route.scope(request)
        const { recursive } = request.query
        return route.write(request, reply, {
          operation: DELETE_MODE_MESSAGES,
          decide: (context: DecisionContext) => decideDeleteMode(context, scope, { recursive }),
          answer: (mode) => ({ mode }),
        })
      },
    })
  }
}
