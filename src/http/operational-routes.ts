import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../common/metrics-registry.ts'
import { pathOf } from './url-path.ts'

export type OperationalRoutesOptions = {
  readonly metrics?: Metrics
  /** Liveness of the process: `/healthz`. Default: alive. */
  readonly isHealthy?: () => boolean
  /** Readiness of the program: `/readyz`. Default: ready. */
  readonly isReady?: () => boolean
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
  { metrics, isHealthy, isReady }: OperationalRoutesOptions,
): void {
  const probe = (path: string, isPassing: () => boolean, failure: string): void => {
    app.get(path, async (_, reply) => {
      const [code, text] = isPassing() ? [200, 'ok'] : [503, failure]
      return reply.code(code).type('text/plain').send(`${text}\n`)
    })
  }
  probe('/healthz', isHealthy ?? (() => true), 'stuck')
  probe('/readyz', isReady ?? (() => true), 'not ready')
  if (metrics) app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.metrics()))
}
