import { gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** In bytes. A smaller response fits into one packet anyway. */
const COMPRESSED_MIN = 1_024

/**
 * Compresses larger responses with gzip for clients that accept it, unless they are compressed already. `@fastify/compress`
 * compresses small ones in the main thread, and sends large ones without a length, which metrics report.
 */
export function compressResponses(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    const isLong = (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= COMPRESSED_MIN
    // A route may send a copy that it has compressed before.
    if (!isLong || reply.hasHeader('content-encoding')) return done(null, payload)
    reply.header('vary', [reply.getHeader('vary') ?? [], 'accept-encoding'].flat().join(', '))
    if (!acceptsGzip(request.headers['accept-encoding'])) return done(null, payload)
    reply.header('content-encoding', 'gzip')
    reply.removeHeader('content-length')
    gzip(payload, done)
  })
}

function acceptsGzip(header: string | readonly string[] = ''): boolean {
  const offers = String(header)
    .split(',')
    .map((offer) => offer.trim().toLowerCase())
  return offers.some((offer) => /^(gzip|\*)(;|$)/.test(offer) && !/;\s*q=0(\.0*)?$/.test(offer))
}
