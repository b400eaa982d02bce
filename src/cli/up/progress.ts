import type { Metrics } from '../../config/metrics.ts'

/** How much a connector has moved since its tasks were started, and how fast it is now. */
export type Progress = { readonly records: number; readonly perSecond: number }

/** What a source has written and what a sink was given. */
const FAMILIES = new Set([
  'kafka_connect_source_task_metrics_source_record_write_total',
  'kafka_connect_sink_task_metrics_sink_record_send_total',
])
/** How fast the shown rate follows the real one: half of the way in so long. */
const HALF_MS = 1_500

/** Watches the metrics of the worker in this process. */
export class ProgressMeter {
  readonly #metrics: Metrics
  #known = new Map<string, Progress & { readonly atMs: number }>()

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  /** By connector name. */
  async read(nowMs: number): Promise<ReadonlyMap<string, Progress>> {
    const totals = await this.#totals()
    const next = new Map<string, Progress & { readonly atMs: number }>()
    for (const [connector, records] of totals) {
      const before = this.#known.get(connector)
      next.set(connector, { records, atMs: nowMs, perSecond: rateOf(records, before, nowMs) })
    }
    this.#known = next
    return next
  }

  async #totals(): Promise<ReadonlyMap<string, number>> {
    const totals = new Map<string, number>()
    for (const { name, values } of await this.#metrics.getMetricsAsJSON()) {
      if (!FAMILIES.has(name)) continue
      for (const { labels, value } of values) {
        const connector = String(labels['connector'] ?? '')
        totals.set(connector, (totals.get(connector) ?? 0) + value)
      }
    }
    return totals
  }
}

function rateOf(records: number, before: (Progress & { readonly atMs: number }) | undefined, nowMs: number): number {
  if (before === undefined || nowMs <= before.atMs) return before?.perSecond ?? 0
  const passedMs = nowMs - before.atMs
  // A total that shrank is of tasks that were started anew.
  const now = (Math.max(0, records - before.records) * 1_000) / passedMs
  const keep = 0.5 ** (passedMs / HALF_MS)
  return before.perSecond * keep + now * (1 - keep)
}
