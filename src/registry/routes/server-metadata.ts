import type { FastifyInstance } from 'fastify'
import { openApiDocument } from '../openapi/document.ts'
import { modeInScope } from '../queries/effective-config.ts'
import type { RouteContext } from './route-context.ts'

export type ServerIdentity = { readonly clusterId: string; readonly version: string }

/** `/`, `/openapi.json`, and `/v1/metadata`: the identity of this registry. */
export function serverMetadataRoutes(app: FastifyInstance, route: RouteContext, identity: ServerIdentity): void {
  app.get('/', async () => {
    const { view, defaults } = route.registry.decisionContext
    return { mode: modeInScope(view, null, defaults) }
  })
  app.post('/', async () => ({}))

  const document = JSON.stringify(openApiDocument(identity.version))
  app.get('/openapi.json', async (_, reply) => reply.type('application/json').send(document))

  app.get('/v1/metadata/id', { config: { metric: 'metadata.id' } }, async () => ({
    scope: {
      path: [],
      clusters: {
        'kafka-cluster': identity.clusterId,
        'schema-registry-cluster': route.settings['schema.registry.group.id'],
      },
    },
  }))

  app.get('/v1/metadata/version', { config: { metric: 'metadata.version' } }, async () => ({
    version: identity.version,
    commitId: '',
  }))

  app.get('/v1/metadata/deployment', { config: { metric: 'metadata.deployment' } }, async () => ({ attributes: [] }))
}
