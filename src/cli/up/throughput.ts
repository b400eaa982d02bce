import type { Metrics } from '../../common/metrics-registry.ts'
import type { ResourceRow } from '../../operator/main.ts'

/** What a connector has moved since its tasks started. */
export type Throughput = {
  readonly records: number
  /** Mean of the last `WINDOW_MS`; undefined when no record moved in that time. */
  readonly perSecond: number | undefined
}

/** Records that a source has written, and records that a sink has received. */
const METRICS = new Set([
  'kafka_connect_source_task_metrics_source_record_write_total',
  'kafka_connect_sink_task_metrics_sink_record_send_total',
])
const WINDOW_MS = 3_000

type Sample = { readonly atMs: number; readonly records: number }

/** Measures the connectors of the worker that runs in this process, by its metrics. */
export class ThroughputMeter {
  readonly #metrics: Metrics
  /** Samples of the window by connector, the oldest first. */
  #samples = new Map<string, readonly Sample[]>()

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  /** Takes a sample. The result is by connector name. */
  async read(nowMs: number): Promise<ReadonlyMap<string, Throughput>> {
    const samples = new Map<string, readonly Sample[]>()
    for (const [connector, records] of await this.#totals()) {
      const earlier = this.#samples.get(connector) ?? []
      samples.set(connector, [...windowOf(earlier, records, nowMs), { atMs: nowMs, records }])
    }
    this.#samples = samples
    return new Map([...samples].map(([connector, own]) => [connector, throughputOf(own)]))
  }

  async #totals(): Promise<ReadonlyMap<string, number>> {
    const totals = new Map<string, number>()
    for (const { name, values } of await this.#metrics.getMetricsAsJSON()) {
      if (!METRICS.has(name)) continue
      for (const { labels, value } of values) {
        const connector = String(labels['connector'] ?? '')
        totals.set(connector, (totals.get(connector) ?? 0) + value)
      }
    }
    return totals
  }
}

/** The samples that still count. A total that shrank means that tasks were restarted: the window starts anew, as it does when the clock
 * is set back. */
function windowOf(samples: readonly Sample[], records: number, nowMs: number): readonly Sample[] {
  const last = samples.at(-1)
  if (last !== undefined && last.records > records) return []
  return samples.filter(({ atMs }) => atMs < nowMs && nowMs - atMs <= WINDOW_MS)
}

function throughputOf(samples: readonly Sample[]): Throughput {
  const [first, last] = [samples[0]!, samples.at(-1)!]
  const moved = last.records - first.records
  return { records: last.records, perSecond: moved === 0 ? undefined : (moved * 1_000) / (last.atMs - first.atMs) }
}

/** Undefined for what is not a connector, or has no running task. */
export function throughputOfRow(
  { resource }: ResourceRow,
  throughput: ReadonlyMap<string, Throughput>,
): Throughput | undefined {
  return resource?.kind === 'Connector' ? throughput.get(resource.spec.name ?? resource.metadata.name) : undefined
}
