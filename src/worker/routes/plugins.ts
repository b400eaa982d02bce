import type { FastifyInstance } from 'fastify'
import type { ConnectorPluginInfo } from '../../clients/worker-client.ts'
import type { PluginKind } from '../../plugins/plugin-catalog.ts'
import type { Herder } from '../herder/herder.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { describePlugin } from '../validation/plugin-description.ts'
import { parseConfigBody } from './parse-body.ts'
import { mayCreate } from './request-authorization.ts'

type ByPlugin = { Params: { plugin: string } }

const KINDS: readonly PluginKind[] = ['sink', 'source', 'converter', 'header_converter', 'transformation', 'predicate']

/** The routes of `/connector-plugins`. */
export function pluginRoutes(app: FastifyInstance, herder: Herder): void {
  app.get<{ Querystring: { connectorsOnly?: string } }>('/connector-plugins', async ({ query }) => {
    const connectorsOnly = (query.connectorsOnly ?? 'true').toLowerCase() === 'true'
    return listPlugins(herder.plugins, connectorsOnly ? ['sink', 'source'] : KINDS)
  })

  app.get<ByPlugin & { Querystring: { version?: string } }>(
    '/connector-plugins/:plugin/config',
    async ({ params, query }) => describePlugin(params.plugin, herder.plugins, query.version),
  )

  app.put<ByPlugin>('/connector-plugins/:plugin/config/validate', async (request) => {
    const { params, body } = request
    const config = parseConfigBody(body)
    const className = config['connector.class'] ?? undefined
    if (className !== undefined && !bareName(className).endsWith(bareName(params.plugin))) {
      const message = `Included connector type ${className} does not match request type ${params.plugin}`
      throw new WorkerError('invalid_request', message)
    }
    return herder.validate(config, { resolves: mayCreate(request, config['name']) })
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
