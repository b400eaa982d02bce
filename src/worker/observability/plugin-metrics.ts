import { Gauge } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'

/** A metric that a plugin registered. Its tags include those of the connector and task. */
export type PluginMetric = {
  readonly name: string
  readonly description: string
  readonly tags: Readonly<Record<string, string>>
  readonly value: number
}

const PREFIX = 'kafka_connect_plugins_'

/**
 * Reports the metrics of plugins as the JMX exporter reports Kafka Connect's MBeans `type=plugins`. Their names are known
 * only when they are read, so each scrape replaces the gauges of the previous one.
 */
export function registerPluginMetrics(metrics: Metrics, read: () => Promise<readonly PluginMetric[]>): void {
  let registered: readonly string[] = []
  metrics.beforeScrape(async () => {
    const found = await read()
    for (const name of registered) metrics.removeSingleMetric(name)
    const byName = Map.groupBy(found, ({ name }) => `${PREFIX}${toIdentifier(name)}`)
    registered = [...byName.keys()].filter((name) => metrics.getSingleMetric(name) === undefined)
    for (const name of registered) registerGauge(metrics, name, byName.get(name)!)
  })
}

function registerGauge(metrics: Metrics, name: string, samples: readonly PluginMetric[]): void {
  const labelled = samples.map(({ tags, value }) => ({ labels: toLabels(tags), value }))
  const labelNames = [...new Set(labelled.flatMap(({ labels }) => Object.keys(labels)))]
  const help = samples[0]!.description || `The metric ${samples[0]!.name} of a plugin.`
  const gauge = new Gauge({ name, help, labelNames, registers: [metrics] })
  for (const { labels, value } of labelled) gauge.set(labels, value)
}

function toLabels(tags: PluginMetric['tags']): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([key, value]) => [toIdentifier(key), value]))
}

/** The name with `_` for characters that Prometheus does not permit. */
function toIdentifier(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_')
}
