import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'

export const REQUEST_ID = 'x-request-id'

/** Adds to each response the id of its request, or a new one. */
export function addRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const id = requestIdOf(request)
    // Also set on the request, which may be forwarded.
    request.headers[REQUEST_ID] = id
    reply.header(REQUEST_ID, id)
    done()
  })
}

function requestIdOf({ headers }: FastifyRequest): string {
  const given = headers[REQUEST_ID]
  return typeof given === 'string' && given.trim() !== '' ? given : randomUUID()
}
