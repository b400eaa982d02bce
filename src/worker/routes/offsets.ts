import type { FastifyInstance } from 'fastify'
import { printExactJson } from '../../common/exact-json.ts'
import type { ConnectorOperations } from '../connector-operations.ts'
import { parseOffsetsBody } from './parse-body.ts'

type ByName = { Params: { name: string } }

/** The routes for the offsets of a connector. */
export function offsetRoutes(app: FastifyInstance, operations: ConnectorOperations): void {
  app.get<ByName>('/connectors/:name/offsets', async ({ params }, reply) => {
    const offsets = await operations.offsets(params.name)
    return reply.serializer(printExactJson).send({ offsets })
  })

  app.patch<ByName>('/connectors/:name/offsets', async ({ params, body }) => ({
    message: await operations.alterOffsets(params.name, parseOffsetsBody(body)),
  }))

  app.delete<ByName>('/connectors/:name/offsets', async ({ params }) => ({
    message: await operations.resetOffsets(params.name),
  }))
}
