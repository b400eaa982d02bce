import type { FastifyInstance } from 'fastify'
import { Semaphore } from '../common/semaphore.ts'
import type { ErrorResponse } from './http-error.ts'
import type { CountLimit } from './limit-metrics.ts'
import { onceClosed } from './response-close.ts'

/** Smaller responses fit into the buffers of the connection. */
const LARGE_BYTES_MIN = 64 * 1024
const RETRY_AFTER_S = '5'

/** Limits the total size of large responses that clients have not read yet. */
export function limitResponseBytes(app: FastifyInstance, bytesMax: number, limited: CountLimit): void {
  const budget = new Semaphore(bytesMax)
  app.addHook('onSend', (_request, reply, payload: unknown, done) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (!isWhole || payload.length < LARGE_BYTES_MIN) return done(null, payload)
    const release = budget.tryAcquire(Buffer.byteLength(payload))
    if (release) {
      onceClosed(reply.raw, release)
      return done(null, payload)
    }
    limited('responses_bytes')
    const body: ErrorResponse['body'] = {
      error_code: 503,
      message: `too many large responses have not been read by their clients: try again in ${RETRY_AFTER_S} s`,
    }
    const text = JSON.stringify(body)
    reply.removeHeader('content-encoding')
    void reply.code(503).header('retry-after', RETRY_AFTER_S).header('content-length', Buffer.byteLength(text))
    return done(null, text)
  })
}
