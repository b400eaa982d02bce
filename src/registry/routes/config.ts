import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { contextOf } from '../../formats/qualified-subject.ts'
import { decideConfig, decideDeleteConfig } from '../commands/change-config.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { configNotFound } from '../model/registry-error.ts'
import { GLOBAL, type Subject, toSubject } from '../model/subject.ts'
import { parseConfigUpdate } from '../model/subject-config.ts'
import { DELETE_CONFIG_MESSAGES, UPDATE_CONFIG_MESSAGES } from '../model/write-error-messages.ts'
import { configInScope } from '../queries/effective-config.ts'
import { booleanParameter, parseBody } from './parse-request.ts'
import { queryOf, type RouteContext } from './route-context.ts'
import { toConfigUpdateResponse } from './schema-response.ts'

const bodySpec = z.record(z.string(), z.unknown())

/** `/config`: the compatibility level and other settings: global, of a context or of a subject. */
export function configRoutes(app: FastifyInstance, route: RouteContext): void {
  for (const path of ['/config', '/config/:subject']) {
    const of = path === '/config' ? 'top' : 'subject'
    app.get(path, { config: { metric: `config.get-${of}` } }, async (request) =>
      storedConfig(route, route.scope(request), booleanParameter(queryOf(request), 'defaultToGlobal')),
    )

    app.put(path, { config: { metric: `config.update-${of}` } }, async (request, reply) => {
      const scope = route.scope(request)
      const update = parseConfigUpdate(parseBody(bodySpec, request.body))
      // Without this check, an alias would give access to a subject that the principal may not read.
      if (update.alias) request.rights.require('read', toSubject(update.alias, contextOf(scope ?? '')))
      const decide = (context: DecisionContext) => decideConfig(context, scope, update)
      return route.write(request, reply, { operation: UPDATE_CONFIG_MESSAGES, decide, answer: toConfigUpdateResponse })
    })

    app.delete(path, { config: { metric: `config.delete-${of}` } }, async (request, reply) => {
      const scope = route.scope(request)
      const decide = (context: DecisionContext) => decideDeleteConfig(context, scope)
      return route.write(request, reply, { operation: DELETE_CONFIG_MESSAGES, decide })
    })
  }
}

/**
 * The config set for a scope, completed with the server's default level. The global scope always has a config. With
 * `effective`, the effective config. Throws `subject_config_not_found`.
 */
function storedConfig(route: RouteContext, scope: Subject | null, effective: boolean): object {
  const { view, defaults } = route.registry.decisionContext
  if (effective) return configInScope(view, scope, defaults)
  const stored = view.config(scope)
  if (!stored && scope !== null && scope !== GLOBAL) throw configNotFound(scope)
  return { compatibilityLevel: defaults.config.compatibilityLevel, ...stored }
}
