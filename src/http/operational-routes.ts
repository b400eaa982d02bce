import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../common/metrics-registry.ts'
import { addEndpoint, textResponse } from './endpoint.ts'
import { pathOf } from './url-path.ts'

export type OperationalRoutesOptions = {
  readonly metrics?: Metrics
  /** Liveness of the process: `/healthz`. Default: alive. */
  readonly isHealthy?: () => boolean
  /** Readiness of the program: `/readyz`. Default: ready. */
  readonly isReady?: () => boolean
  /** What `/readyz` adds to its response while the program is not ready, without authentication. */
  readonly whyNotReady?: (() => string | undefined) | undefined
}

const PROBE_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/** Whether the path is one of the probes, which need no authentication. */
export function isProbe(url: string): boolean {
  return PROBE_PATHS.has(pathOf(url))
}

/** Whether the path is a probe or `/metrics`. */
export function isOperationalPath(url: string): boolean {
  return isProbe(url) || pathOf(url) === '/metrics'
}

/** Adds the liveness probe `/healthz`, the readiness probe `/readyz`, and `/metrics`. */
export function addOperationalRoutes(
  app: FastifyInstance,
  { metrics, isHealthy = () => true, isReady = () => true, whyNotReady = () => undefined }: OperationalRoutesOptions,
): void {
  addProbe(app, '/healthz', isHealthy, { summary: 'Liveness: the process responds', failure: () => 'stuck' })
  addProbe(app, '/readyz', isReady, {
    summary: 'Readiness: the program can serve requests, otherwise 503',
    failure: () => ['not ready', whyNotReady()].filter((part) => part !== undefined).join(': '),
  })
  if (!metrics) return
  addEndpoint(app, {
    method: 'GET',
    url: '/metrics',
    summary: 'Returns the metrics in the text format of Prometheus',
    permission: { operation: 'read', on: 'all' },
    response: { 200: textResponse('The metrics.', 'text/plain') },
    handler: async (_, reply) => reply.type(metrics.contentType).send(await metrics.metrics()),
  })
}

function addProbe(
  app: FastifyInstance,
  url: string,
  isPassing: () => boolean,
  { summary, failure }: { readonly summary: string; readonly failure: () => string },
): void {
  addEndpoint(app, {
    method: 'GET',
    url,
    summary,
    permission: 'public',
    response: { 200: textResponse('ok', 'text/plain') },
    handler: async (_, reply) => {
      const [code, text] = isPassing() ? [200, 'ok'] : [503, failure()]
      return reply.code(code).type('text/plain').send(`${text}\n`)
    },
  })
}
