/** Durations in each of which one round is measured, after the warm-up of both just-in-time compilers. */
export const WARM_UP_MS = 12_000
export const ROUND_MS = 12_000

/** Percentiles of the latencies of one round. */
export type Percentiles = { readonly p50: number; readonly p99: number }

/** Milliseconds of the clock that all processes of the machine share. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Latencies of records that were sent at a constant rate, by round. */
export class LatencySamples {
  readonly #startMs: number
  readonly #rounds: readonly number[][]
  #last = 0

  constructor(startMs: number, rounds: number) {
    this.#startMs = startMs + WARM_UP_MS
    this.#rounds = Array.from({ length: rounds }, () => [])
  }

  add(sentMs: number, arrivedMs: number): void {
    this.#last = sentMs
    const round = Math.floor((sentMs - this.#startMs) / ROUND_MS)
    this.#rounds[round]?.push(arrivedMs - sentMs)
  }

  /** Whether a record that was sent after the last round has arrived. */
  get isComplete(): boolean {
    return this.#last > this.#startMs + this.#rounds.length * ROUND_MS
  }

  percentiles(): readonly Percentiles[] {
    return this.#rounds.map((samples) => {
      const sorted = Float64Array.from(samples).sort()
      const quantile = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!
      return { p50: quantile(0.5), p99: quantile(0.99) }
    })
  }
}
