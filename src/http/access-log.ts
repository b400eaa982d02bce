import type { FastifyInstance } from 'fastify'
import type { Logger } from '../common/logging/logger.ts'
import { maskCredentials } from '../common/secrets/secret-keys.ts'

/** A completed request, as metrics and logs see it. */
export type CompletedRequest = {
  /** The `config.metric` of the route. */
  readonly endpoint: string | undefined
  readonly status: number
  readonly ms: number
  /** Size of the bodies on the wire. */
  readonly receivedBytes: number
  readonly sentBytes: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Name of this endpoint in metrics. */
    metric?: string
  }
}

export function observeResponses(app: FastifyInstance, onResponse: (request: CompletedRequest) => void): void {
  app.addHook('onResponse', (request, reply, done) => {
    onResponse({
      endpoint: request.routeOptions.config?.metric,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      receivedBytes: parseContentLength(request.headers['content-length']),
      sentBytes: parseContentLength(reply.getHeader('content-length')),
    })
    done()
  })
}

/** Number of bytes in a `content-length` header, 0 without one. */
export function parseContentLength(length: unknown): number {
  return length === undefined ? 0 : Number(length)
}

export function logResponses(app: FastifyInstance, logger: Logger): void {
  if (!logger.isLevelEnabled('debug')) return
  app.addHook('onResponse', async ({ method, url, ip }, reply) => {
    logger.debug(
      { method, url: maskCredentials(url), ip, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request completed',
    )
  })
}
