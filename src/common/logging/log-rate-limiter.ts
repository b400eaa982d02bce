/** Rate limits of one source of log lines, per level. */
export type LogLimits = { readonly linesPerSecond: number; readonly bytesPerSecond: number }

export type DroppedLines = { readonly source: string; readonly level: number; lines: number; bytes: number }

type Bucket = { lines: number; bytes: number; atMs: number; dropped: DroppedLines }

/** Burst size, in seconds of the rate. */
const BURST_SECONDS = 10
/** An unused bucket is full after this time and is removed. */
const IDLE_MS = 2 * BURST_SECONDS * 1_000

/**
 * Token buckets for log lines by source and level, so that debug lines do not use the budget of warnings. Counts
 * dropped lines.
 */
export class LogRateLimiter {
  readonly #limits: LogLimits
  readonly #nowMs: () => number
  readonly #buckets = new Map<string, Bucket>()

  constructor(limits: LogLimits, monotonicMs: () => number) {
    this.#limits = limits
    this.#nowMs = monotonicMs
  }

  /** Number of buckets. */
  get size(): number {
    return this.#buckets.size
  }

  /** Whether this line may be written. */
  admits(source: string, level: number, bytes: number): boolean {
    const bucket = this.#refilled(source, level)
    if (bucket.lines < 1 || bucket.bytes < 0) {
      bucket.dropped.lines += 1
      bucket.dropped.bytes += bytes
      return false
    }
    bucket.lines -= 1
    // May become negative: a line larger than the remaining budget is written, and later lines pay for it.
    bucket.bytes -= bytes
    return true
  }

  /** Returns and resets the counts of dropped lines. */
  takeDropped(): readonly DroppedLines[] {
    const nowMs = this.#nowMs()
    const result: DroppedLines[] = []
    for (const [key, bucket] of this.#buckets) {
      const { source, level } = bucket.dropped
      if (bucket.dropped.lines > 0) {
        result.push(bucket.dropped)
        bucket.dropped = { source, level, lines: 0, bytes: 0 }
      } else if (nowMs - bucket.atMs > IDLE_MS) this.#buckets.delete(key)
    }
    return result
  }

  #refilled(source: string, level: number): Bucket {
    const { linesPerSecond, bytesPerSecond } = this.#limits
    const [linesMax, bytesMax] = [linesPerSecond * BURST_SECONDS, bytesPerSecond * BURST_SECONDS]
    const nowMs = this.#nowMs()
    const key = `${level} ${source}`
    const known = this.#buckets.get(key)
    if (known) {
      const seconds = (nowMs - known.atMs) / 1_000
      known.lines = Math.min(linesMax, known.lines + seconds * linesPerSecond)
      known.bytes = Math.min(bytesMax, known.bytes + seconds * bytesPerSecond)
      known.atMs = nowMs
      return known
    }
    const dropped: DroppedLines = { source, level, lines: 0, bytes: 0 }
    const created: Bucket = { lines: linesMax, bytes: bytesMax, atMs: nowMs, dropped }
    this.#buckets.set(key, created)
    return created
  }
}
