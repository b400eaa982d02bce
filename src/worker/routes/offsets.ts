import type { FastifyInstance } from 'fastify'
import { printExactJson } from '../../common/exact-json.ts'
import { addEndpoint } from '../../http/endpoint.ts'
import type { Herder } from '../herder/herder.ts'
import { message, offsets } from './entities.ts'
import { offsetsBody } from './request-bodies.ts'

/** The routes for the offsets of a connector. */
export function offsetRoutes(app: FastifyInstance, herder: Herder): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/connectors/:name/offsets',
    summary: 'Returns the offsets of a connector',
    permission: { operation: 'read', on: 'connector' },
    response: { 200: offsets },
    errors: ['connector_not_found'],
    handler: async ({ params }, reply) => {
      const found = await herder.offsets(params.name)
      return reply.serializer(printExactJson).send({ offsets: found })
    },
  })

  addEndpoint(app, {
    method: 'PATCH',
    url: '/connectors/:name/offsets',
    summary: 'Changes offsets of a stopped connector. An offset of null resets a partition',
    permission: { operation: 'offsets', on: 'connector' },
    body: offsetsBody,
    response: { 200: message },
    errors: ['connector_not_found', 'rebalancing', 'not_stopped', 'invalid_request', 'offsets_refused'],
    handler: async ({ params, body }) => ({ message: await herder.alterOffsets(params.name, body) }),
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: '/connectors/:name/offsets',
    summary: 'Resets all offsets of a stopped connector',
    permission: { operation: 'offsets', on: 'connector' },
    response: { 200: message },
    errors: ['connector_not_found', 'rebalancing', 'not_stopped', 'invalid_request', 'offsets_refused'],
    handler: async ({ params }) => ({ message: await herder.resetOffsets(params.name) }),
  })
}
