import type { FastifyInstance } from 'fastify'
import { isTracing, startSpan, TRACEPARENT, withinSpan } from '../common/tracing.ts'
import { isOperationalPath } from './operational-routes.ts'

const SERVER_ERROR_MIN = 500

/** Adds a span to each request, as a child of the caller's span in the header `traceparent`. None without tracing. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return
  app.addHook('onRequest', (request, reply, done) => {
    const { method, routeOptions, headers } = request
    const route = routeOptions.url ?? ''
    // Probes and scrapes would be most of all spans.
    const span = isOperationalPath(route)
      ? undefined
      : startSpan(`${method} ${route}`.trim(), {
          kind: 'server',
          attributes: { 'http.request.method': method, 'http.route': route },
          parent: headers[TRACEPARENT]?.toString(),
        })
    if (span === undefined) return done()
    reply.raw.once('close', () => {
      const { statusCode, writableFinished } = reply.raw
      span.set({ 'http.response.status_code': statusCode })
      if (!writableFinished) span.end(new Error('the connection was closed before the response was sent'))
      else span.end(statusCode >= SERVER_ERROR_MIN ? new Error(`HTTP ${statusCode}`) : undefined)
    })
    withinSpan(span, done)
  })
}
