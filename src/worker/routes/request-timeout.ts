import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { withTimeout } from '../../common/timeout.ts'
import { WorkerError } from '../model/worker-error.ts'

/** Applies a timeout to all routes that are added afterwards. The operation of a request that timed out continues. */
export function addRequestTimeout(app: FastifyInstance, timeoutMs: number): void {
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function withTimeout(request, reply) {
      return withRequestTimeout(Promise.resolve(handler.call(this, request, reply)), timeoutMs)
    } satisfies RouteHandlerMethod
  })
}

/** Rejects with `timed_out` when `response` takes longer. */
export function withRequestTimeout<T>(response: Promise<T>, timeoutMs: number): Promise<T> {
  return withTimeout(response, timeoutMs, () => {
    throw new WorkerError('timed_out', 'Request timed out')
  })
}
