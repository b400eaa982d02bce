import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { withTimeout } from '../../config/timeout.ts'
import { WorkerError } from '../model/worker-error.ts'

/** Answers every request of the routes that are added after this within `timeoutMs`; what it began goes on. */
export function addRequestTimeout(app: FastifyInstance, timeoutMs: number): void {
  app.addHook('onRoute', (route) => {
    const answer = route.handler
    route.handler = function withTimeout(request, reply) {
      return withRequestTimeout(Promise.resolve(answer.call(this, request, reply)), timeoutMs)
    } satisfies RouteHandlerMethod
  })
}

/** Rejects with `timed_out` when `answer` takes longer. */
export function withRequestTimeout<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  return withTimeout(answer, timeoutMs, () => {
    throw new WorkerError('timed_out', 'Request timed out')
  })
}
