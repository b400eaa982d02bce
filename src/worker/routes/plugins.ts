import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ConnectorPluginInfo } from '../../clients/worker-client.ts'
import { addEndpoint } from '../../http/endpoint.ts'
import type { PluginKind } from '../../plugins/plugin-catalog.ts'
import type { Herder } from '../herder/herder.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { describePlugin } from '../validation/plugin-description.ts'
import { configKey, plugin, validation } from './entities.ts'
import { mayCreate } from './request-authorization.ts'
import { configBody } from './request-bodies.ts'

const KINDS: readonly PluginKind[] = ['sink', 'source', 'converter', 'header_converter', 'transformation', 'predicate']

/** The routes of `/connector-plugins`. */
export function pluginRoutes(app: FastifyInstance, herder: Herder): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/connector-plugins',
    summary: 'Lists the installed plugins',
    permission: 'authenticated',
    querystring: z.object({
      connectorsOnly: z
        .preprocess((value) => String(value ?? 'true').toLowerCase() === 'true', z.boolean())
        .meta({
          description: 'Whether to omit converters, transformations, predicates and config providers.',
          default: true,
        }),
    }),
    response: { 200: z.array(plugin) },
    handler: async ({ query }) => listPlugins(herder.plugins, query.connectorsOnly ? ['sink', 'source'] : KINDS),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/connector-plugins/:plugin/config',
    summary: 'Returns the configuration keys of a plugin',
    permission: 'authenticated',
    querystring: z.object({
      version: z.string().optional().describe('Version of the plugin. Default: the latest version.'),
    }),
    response: { 200: z.array(configKey) },
    errors: ['plugin_not_found', 'invalid_request', 'plugin_failed', 'plugins_busy'],
    handler: async ({ params, query }) => describePlugin(params.plugin, herder.plugins, query.version),
  })

  addEndpoint(app, {
    method: 'PUT',
    url: '/connector-plugins/:plugin/config/validate',
    summary: 'Validates a connector configuration. Returns the errors of each key',
    permission: { operation: 'read', on: 'any' },
    body: configBody,
    hasWrittenNumbers: true,
    response: { 200: validation },
    errors: ['invalid_request', 'invalid_config', 'plugin_not_found', 'plugin_failed', 'plugins_busy'],
    querystring: z.object({
      warnings: z
        .preprocess((value) => String(value ?? 'false').toLowerCase() === 'true', z.boolean())
        .meta({ description: 'Whether to name keys without effect in `warnings`.', default: false }),
    }),
    handler: async (request) => {
      const { params, body: config, query } = request
      const className = config['connector.class'] ?? undefined
      if (className !== undefined && !bareName(className).endsWith(bareName(params.plugin))) {
        const message = `Included connector type ${className} does not match request type ${params.plugin}`
        throw new WorkerError('invalid_request', message)
      }
      const { warnings, ...infos } = await herder.validate(config, { resolves: mayCreate(request, config['name']) })
      return query.warnings ? { ...infos, warnings } : infos
    },
  })
}

function listPlugins(plugins: PluginCatalog, kinds: readonly PluginKind[]): readonly ConnectorPluginInfo[] {
  return kinds
    .flatMap((kind) => plugins.list(kind))
    .map(({ class: name, type, version }) => ({ class: name, type, version }))
}

/** Returns the class name without the suffix `Connector`, which is optional in requests. */
function bareName(className: string): string {
  return className.replace(/Connector$/, '')
}
