import type { FastifyInstance } from 'fastify'
import { contextOf } from '../../formats/qualified-subject.ts'
import { addEndpoint } from '../../http/endpoint.ts'
import { decideConfig, decideDeleteConfig } from '../commands/change-config.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { configNotFound } from '../model/registry-error.ts'
import { GLOBAL, type Subject, toSubject } from '../model/subject.ts'
import { type Config, configUpdateBody } from '../model/subject-config.ts'
import { DELETE_CONFIG_MESSAGES, UPDATE_CONFIG_MESSAGES } from '../model/write-error-messages.ts'
import { configInScope } from '../queries/effective-config.ts'
import { config, updatedConfig } from './entities.ts'
import { query } from './query-parameters.ts'
import type { RouteContext } from './route-context.ts'
import { toConfigUpdateResponse } from './schema-response.ts'

/** `/config`: the compatibility level and other settings: global, of a context or of a subject. */
export function configRoutes(app: FastifyInstance, route: RouteContext): void {
  for (const url of ['/config', '/config/:subject'] as const) {
    const scopeName = url === '/config' ? 'top' : 'subject'

    addEndpoint(app, {
      method: 'GET',
      url,
      summary: 'Returns the config',
      permission: { operation: 'read', on: 'scope' },
      metric: `config.get-${scopeName}`,
      querystring: query('defaultToGlobal'),
      response: { 200: config },
      errors: ['subject_config_not_found'],
      handler: async (request) => storedConfig(route, route.scope(request), request.query.defaultToGlobal),
    })

    addEndpoint(app, {
      method: 'PUT',
      url,
      summary: 'Sets the config',
      permission: { operation: 'config', on: 'scope' },
      metric: `config.update-${scopeName}`,
      body: configUpdateBody,
      response: { 200: updatedConfig },
      errors: ['invalid_compatibility', 'invalid_rule_set', 'invalid_subject', 'not_permitted'],
      handler: async (request, reply) => {
        const scope = route.scope(request)
        const update = request.body
        // Without this check, an alias would give access to a subject that the principal may not read.
        if (update.alias) request.rights.require('read', toSubject(update.alias, contextOf(scope ?? '')))
        return route.write(request, reply, {
          operation: UPDATE_CONFIG_MESSAGES,
          decide: (context: DecisionContext) => decideConfig(context, scope, update),
          answer: toConfigUpdateResponse,
        })
      },
    })

    addEndpoint(app, {
      method: 'DELETE',
      url,
      summary: 'Deletes the config and returns it',
      permission: { operation: 'config', on: 'scope' },
      metric: `config.delete-${scopeName}`,
      response: { 200: config },
      errors: ['subject_not_found', 'not_permitted'],
      handler: async (request, reply) => {
        const scope = route.scope(request)
        return route.write(request, reply, {
          operation: DELETE_CONFIG_MESSAGES,
          decide: (context: DecisionContext) => decideDeleteConfig(context, scope),
          answer: (deleted) => deleted,
        })
      },
    })
  }
}

/**
 * The config set for a scope, completed with the server's default level. The global scope always has a config. With
 * `effective`, the effective config. Throws `subject_config_not_found`.
 */
function storedConfig(route: RouteContext, scope: Subject | null, effective: boolean): Config {
  const { view, defaults } = route.registry.decisionContext
  if (effective) return configInScope(view, scope, defaults)
  const stored = view.config(scope)
  if (!stored && scope !== null && scope !== GLOBAL) throw configNotFound(scope)
  return { compatibilityLevel: defaults.config.compatibilityLevel, ...stored }
}
