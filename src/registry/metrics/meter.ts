export type OperationStatistics = {
  readonly total: number
  readonly failedTotal: number
  /** Operations per second. This and the following values are those of the last minute. */
  readonly rate: number
  readonly failedRate: number
  readonly averageMs: number
  readonly maxMs: number
  readonly p95Ms: number
  readonly p99Ms: number
  /** Bytes per second, and the average number of bytes per operation. */
  readonly received: Flow
  readonly sent: Flow
}
type Flow = { readonly rate: number; readonly average: number }

type Slot = {
  readonly sinceMs: number
  count: number
  failed: number
  sumMs: number
  maxMs: number
  receivedBytes: number
  sentBytes: number
  sample: number[]
}

const SLOT_MS = 10_000
const SLOTS = 6
/** The number of latencies kept per slot; newer ones overwrite older ones. */
const SAMPLE_MAX = 512

/** Counts operations, failures, durations and bytes over the last minute, and operations and failures in total. */
export class Meter {
  readonly #nowMs: () => number
  #slots: readonly Slot[] = []
  #total = 0
  #failedTotal = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get succeededTotal(): number {
    return this.#total - this.#failedTotal
  }

  get failedTotal(): number {
    return this.#failedTotal
  }

  add(ms: number, failed: boolean, receivedBytes = 0, sentBytes = 0): void {
    const slot = this.#slot()
    this.#total += 1
    if (failed) this.#failedTotal += 1
    if (failed) slot.failed += 1
    slot.sample[slot.count % SAMPLE_MAX] = ms
    slot.count += 1
    slot.sumMs += ms
    slot.receivedBytes += receivedBytes
    slot.sentBytes += sentBytes
    slot.maxMs = Math.max(slot.maxMs, ms)
  }

  read(): OperationStatistics {
    const sinceMs = this.#nowMs() - SLOTS * SLOT_MS
    const slots = this.#slots.filter((slot) => slot.sinceMs > sinceMs)
    const sum = (of: (slot: Slot) => number) => slots.reduce((all, slot) => all + of(slot), 0)
    const count = sum((slot) => slot.count)
    const seconds = (SLOTS * SLOT_MS) / 1_000
    const sample = slots.flatMap((slot) => slot.sample).sort((a, b) => a - b)
    const flow = (bytes: number): Flow => ({ rate: bytes / seconds, average: count === 0 ? 0 : bytes / count })
    const quantile = (share: number) => sample[Math.ceil(sample.length * share) - 1] ?? 0
    return {
      total: this.#total,
      failedTotal: this.#failedTotal,
      rate: count / seconds,
      failedRate: sum((slot) => slot.failed) / seconds,
      averageMs: count === 0 ? 0 : sum((slot) => slot.sumMs) / count,
      maxMs: Math.max(0, ...slots.map((slot) => slot.maxMs)),
      p95Ms: quantile(0.95),
      p99Ms: quantile(0.99),
      received: flow(sum((slot) => slot.receivedBytes)),
      sent: flow(sum((slot) => slot.sentBytes)),
    }
  }

  #slot(): Slot {
    const nowMs = this.#nowMs()
    const last = this.#slots.at(-1)
    if (last && nowMs - last.sinceMs < SLOT_MS) return last
    const none = { count: 0, failed: 0, sumMs: 0, maxMs: 0, receivedBytes: 0, sentBytes: 0 }
    const slot: Slot = { sinceMs: nowMs, ...none, sample: [] }
    this.#slots = [...this.#slots, slot].slice(-SLOTS)
    return slot
  }
}
