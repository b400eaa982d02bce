import type { FastifyInstance } from 'fastify'
import { openApiDocument } from '../openapi/document.ts'
import { modeInScope } from '../queries/effective-config.ts'
import type { Api } from './api.ts'

export type ServerIdentity = { readonly clusterId: string; readonly version: string }

/** `/`, `/openapi.json`, and `/v1/metadata`: the identity of this registry. */
export function serverRoutes(app: FastifyInstance, api: Api, identity: ServerIdentity): void {
  app.get('/', async () => {
    const { view, defaults } = api.registry.decisionContext
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
        'schema-registry-cluster': api.settings['schema.registry.group.id'],
      },
    },
  }))

  app.get('/v1/metadata/version', { config: { metric: 'metadata.version' } }, async () => ({
    version: identity.version,
    commitId: '',
  }))

  app.get('/v1/metadata/deployment', { config: { metric: 'metadata.deployment' } }, async () => ({ attributes: [] }))
}
