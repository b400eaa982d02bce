import type { FastifyInstance } from 'fastify'
import type { Logger } from '../config/logger.ts'
import { maskCredentials } from '../config/secret-keys.ts'

/** What is told of each answer. */
export type CompletedRequest = {
  /** The route's `config.metric`. */
  readonly endpoint: string | undefined
  readonly status: number
  readonly ms: number
  /** Of the bodies, as they went over the wire. */
  readonly receivedBytes: number
  readonly sentBytes: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The name of this endpoint in metrics. */
    metric?: string
  }
}

export function observeResponses(app: FastifyInstance, answered: (request: CompletedRequest) => void): void {
  app.addHook('onResponse', (request, reply, done) => {
    answered({
      endpoint: request.routeOptions.config?.metric,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      receivedBytes: parseContentLength(request.headers['content-length']),
      sentBytes: parseContentLength(reply.getHeader('content-length')),
    })
    done()
  })
}

/** What a `content-length` says. */
export function parseContentLength(length: unknown): number {
  return length === undefined ? 0 : Number(length)
}

export function logResponses(app: FastifyInstance, logger: Logger): void {
  if (!logger.isLevelEnabled('debug')) return
  app.addHook('onResponse', async ({ method, url, ip }, reply) => {
    logger.debug(
      { method, url: maskCredentials(url), ip, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'answered',
    )
  })
}
