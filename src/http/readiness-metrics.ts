import { Gauge } from 'prom-client'
import type { Metrics } from '../common/metrics-registry.ts'

const NAME = 'weir_ready'

/** Reports at each scrape whether a program is ready. Programs in one process share the metrics. */
export function registerReadiness(metrics: Metrics, program: string, isReady: () => boolean): void {
  const known = metrics.getSingleMetric(NAME) as Gauge<'program'> | undefined
  const gauge =
    known ??
    new Gauge({
      name: NAME,
      help: 'Whether a program can serve requests (1) or not (0), as /readyz reports it.',
      labelNames: ['program'],
      registers: [metrics],
    })
  metrics.beforeScrape(async () => gauge.set({ program }, Number(isReady())))
}
