import { collectDefaultMetrics } from 'prom-client'
import type { Logger } from '../common/logging/logger.ts'
import type { Metrics } from '../common/metrics-registry.ts'
import { registerReadiness } from '../http/readiness-metrics.ts'
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../http/server.ts'

export type MonitoringOptions = {
  readonly metrics: Metrics
  /** `http://host:port` of `/metrics`, `/healthz` and `/readyz`. */
  readonly listener: string
}

/** Serves metrics and probes. It starts before the cluster is read and stops last. */
export async function startMonitoring(
  { metrics, listener }: MonitoringOptions,
  logger: Logger,
  probes: Pick<HttpServerOptions, 'isReady' | 'isHealthy'>,
): Promise<HttpServer> {
  collectDefaultMetrics({ register: metrics })
  if (probes.isReady) registerReadiness(metrics, 'operator', probes.isReady)
  const json = ['application/json']
  const options = { listeners: [listener], logger, metrics, routes: () => undefined, consumes: json, produces: json }
  const server = await startHttpServer({ ...options, ...probes })
  logger.info({ url: server.urls[0] }, 'listening')
  return server
}
