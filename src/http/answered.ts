import type { FastifyInstance } from 'fastify'
import type { Logger } from '../config/logger.ts'
import { maskCredentials } from '../config/secret-keys.ts'

/** What is told of each answer. */
export type AnsweredRequest = {
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

export function tellAnswers(app: FastifyInstance, answered: (request: AnsweredRequest) => void): void {
  app.addHook('onResponse', (request, reply, done) => {
    answered({
      endpoint: request.routeOptions.config?.metric,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      receivedBytes: bytesIn(request.headers['content-length']),
      sentBytes: bytesIn(reply.getHeader('content-length')),
    })
    done()
  })
}

/** What a `content-length` says. */
export function bytesIn(length: unknown): number {
  return length === undefined ? 0 : Number(length)
}

export function logAnswers(app: FastifyInstance, logger: Logger): void {
  if (!logger.isLevelEnabled('debug')) return
  app.addHook('onResponse', async ({ method, url, ip }, reply) => {
    logger.debug(
      { method, url: maskCredentials(url), ip, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'answered',
    )
  })
}
