import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import { modeInScope } from '../queries/effective-config.ts'
import { mode } from './entities.ts'
import type { RouteContext } from './route-context.ts'

export type ServerIdentity = { readonly clusterId: string; readonly version: string }

/** `/`, and `/v1/metadata`: the identity of this registry. */
export function serverMetadataRoutes(app: FastifyInstance, route: RouteContext, identity: ServerIdentity): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/',
    summary: 'Returns the global mode; a simple check that the registry responds',
    permission: 'authenticated',
    response: { 200: mode },
    handler: async () => {
      const { view, defaults } = route.registry.decisionContext
      return { mode: modeInScope(view, null, defaults) }
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/',
    summary: 'Returns an empty object; a simple check that the registry responds',
    permission: 'authenticated',
    response: { 200: z.object({}) },
    handler: async () => ({}),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/v1/metadata/id',
    summary: 'Returns the cluster IDs of the registry and of Kafka',
    permission: 'authenticated',
    metric: 'metadata.id',
    response: {
      200: z.object({
        scope: z.object({
          path: z.array(z.string()),
          clusters: z.object({ 'kafka-cluster': z.string(), 'schema-registry-cluster': z.string() }),
        }),
      }),
    },
    handler: async () => ({
      scope: {
        path: [],
        clusters: {
          'kafka-cluster': identity.clusterId,
          'schema-registry-cluster': route.settings['schema.registry.group.id'],
        },
      },
    }),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/v1/metadata/version',
    summary: 'Returns the version of the registry',
    permission: 'authenticated',
    metric: 'metadata.version',
    response: { 200: z.object({ version: z.string(), commitId: z.string() }) },
    handler: async () => ({ version: identity.version, commitId: '' }),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/v1/metadata/deployment',
    summary: 'Returns the attributes of the deployment',
    permission: 'authenticated',
    metric: 'metadata.deployment',
    response: { 200: z.object({ attributes: z.array(z.string()) }) },
    handler: async () => ({ attributes: [] }),
  })
}
