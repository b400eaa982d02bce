import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

export const REQUEST_ID = 'x-request-id'

/** Puts on each answer the name that its request came with, or a new one. */
export function addRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const id = requestIdOf(request.raw)
    // Also of a request that is passed on.
    request.headers[REQUEST_ID] = id
    reply.header(REQUEST_ID, id)
    done()
  })
}

export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers[REQUEST_ID]
  return typeof given === 'string' && given.trim() !== '' ? given : randomUUID()
}
