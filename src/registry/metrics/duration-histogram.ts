import type { Histogram } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'

/** Counts durations by bucket. */
class DurationCounts {
  readonly #buckets: readonly number[]
  /** The count of each bucket, not cumulative. The last one counts durations above all buckets. */
  readonly #counts: number[]
  #sum = 0

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets
    this.#counts = [...buckets.map(() => 0), 0]
  }

  add(seconds: number): void {
    let at = 0
    while (at < this.#buckets.length && seconds > this.#buckets[at]!) at++
    this.#counts[at]! += 1
    this.#sum += seconds
  }

  samples(name: string, labels: Readonly<Record<string, string>>) {
    let count = 0
    const buckets = [...this.#buckets, '+Inf'].map((le, at) => {
      count += this.#counts[at]!
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}

/**
 * A histogram with one label. That of prom-client looks up the labels of each duration, which takes a twentieth of a
 * small response.
 */
export class DurationHistogram {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #label: string
  readonly #buckets: readonly number[]
  readonly #counts = new Map<string, DurationCounts>()

  constructor(metrics: Metrics, name: string, help: string, label: string, buckets: readonly number[]) {
    this.name = name
    this.help = help
    this.#label = label
    this.#buckets = buckets
    // The registry calls only `get`.
    metrics.registerMetric(this as unknown as Histogram)
  }

  /** The counts of a label value. */
  of(value: string): DurationCounts {
    const counts = this.#counts.get(value) ?? new DurationCounts(this.#buckets)
    this.#counts.set(value, counts)
    return counts
  }

  async get() {
    const values = [...this.#counts].flatMap(([value, counts]) => counts.samples(this.name, { [this.#label]: value }))
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values }
  }
}
