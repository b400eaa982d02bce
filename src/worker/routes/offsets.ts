import type { FastifyInstance } from 'fastify'
import { printExactJson } from '../../common/exact-json.ts'
import type { Herder } from '../herder/herder.ts'
import { parseOffsetsBody } from './parse-body.ts'

type ByName = { Params: { name: string } }

/** The routes for the offsets of a connector. */
export function offsetRoutes(app: FastifyInstance, herder: Herder): void {
  app.get<ByName>('/connectors/:name/offsets', async ({ params }, reply) => {
    const offsets = await herder.offsets(params.name)
    return reply.serializer(printExactJson).send({ offsets })
  })

  app.patch<ByName>('/connectors/:name/offsets', async ({ params, body }) => ({
    message: await herder.alterOffsets(params.name, parseOffsetsBody(body)),
  }))

  app.delete<ByName>('/connectors/:name/offsets', async ({ params }) => ({
    message: await herder.resetOffsets(params.name),
  }))
}
