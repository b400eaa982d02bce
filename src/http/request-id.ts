import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

export const REQUEST_ID = 'x-request-id'

/** Adds to each response the id of its request, or a new one. */
export function addRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const id = requestIdOf(request.raw)
    // Also set on the request, which may be forwarded.
    request.headers[REQUEST_ID] = id
    reply.header(REQUEST_ID, id)
    done()
  })
}

export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers[REQUEST_ID]
  return typeof given === 'string' && given.trim() !== '' ? given : newRequestId()
}

/** A request ID ends with a counter of nine digits, because a random UUID for each request would need more CPU time. */
const FIRST_NUMBER = 100_000_000
const LAST_NUMBER = 999_999_999
let number = LAST_NUMBER
let prefix = ''

/** Returns an ID in the form of a UUID. Those of different processes differ in their random part. */
export function newRequestId(): string {
  if (number === LAST_NUMBER) {
    number = FIRST_NUMBER
    prefix = randomUUID().slice(0, -String(FIRST_NUMBER).length)
  }
  number += 1
  return prefix + number
}
