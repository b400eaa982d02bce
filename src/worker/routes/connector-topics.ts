import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import type { Herder } from '../herder/herder.ts'

/** The topics that each connector has used, in one response: the REST API of Kafka Connect needs a request for each connector. */
export function connectorTopicRoutes(app: FastifyInstance, herder: Herder): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/connector-topics',
    permission: { operation: 'read', on: 'any' },
    response: { 200: z.record(z.string(), z.array(z.string())) },
    handler: async ({ rights }, reply) => {
      const readable = herder.names().filter((name) => rights.allows('read', name))
      void reply.header('cache-control', 'no-store')
      return Object.fromEntries(readable.map((name) => [name, [...herder.topics(name)]]))
    },
  })
}
