import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { decideDeleteMode, decideMode, parseMode } from '../commands/change-mode.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { modeNotFound } from '../model/registry-error.ts'
import { GLOBAL } from '../model/subject.ts'
import { DELETE_MODE_MESSAGES, UPDATE_MODE_MESSAGES } from '../model/write-error-messages.ts'
import { modeInScope } from '../queries/effective-config.ts'
import { booleanParameter, parseBody } from './parse-request.ts'
import { queryOf, type RouteContext } from './route-context.ts'

const bodySpec = z.object({ mode: z.unknown() })

/** `/mode`: the mode, such as READWRITE or IMPORT: global, of a context or of a subject. */
export function modeRoutes(app: FastifyInstance, route: RouteContext): void {
  for (const path of ['/mode', '/mode/:subject']) {
    const of = path === '/mode' ? 'top' : 'subject'
    app.get(path, { config: { metric: `mode.get-${of}` } }, async (request) => {
      const scope = route.scope(request)
      const { view, defaults } = route.registry.decisionContext
      if (booleanParameter(queryOf(request), 'defaultToGlobal')) return { mode: modeInScope(view, scope, defaults) }
      const mode = view.mode(scope) ?? (scope === null || scope === GLOBAL ? defaults.mode : undefined)
      if (mode === undefined) throw modeNotFound(scope ?? '')
      return { mode }
    })

    app.put(path, { config: { metric: `mode.update-${of}` } }, async (request, reply) => {
      const scope = route.scope(request)
      const { mode: word } = parseBody(bodySpec, request.body)
      const mode = parseMode(word)
      const force = booleanParameter(queryOf(request), 'force')
      const decide = (context: DecisionContext) => decideMode(context, scope, mode, { force })
      return route.write(request, reply, { operation: UPDATE_MODE_MESSAGES, decide, answer: () => ({ mode: word }) })
    })

    app.delete(path, { config: { metric: `mode.delete-${of}` } }, async (request, reply) => {
      const scope = route.scope(request)
      const recursive = booleanParameter(queryOf(request), 'recursive')
      const decide = (context: DecisionContext) => decideDeleteMode(context, scope, { recursive })
      return route.write(request, reply, { operation: DELETE_MODE_MESSAGES, decide, answer: (mode) => ({ mode }) })
    })
  }
}
