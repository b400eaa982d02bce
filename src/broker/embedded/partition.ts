import type { ProducerState } from './producer-state.ts'

/** Where a partition stands on disk when it is opened. */
export type PartitionRow = {
  readonly id: number
  readonly topic: string
  readonly number: number
  readonly startOffset: number
  readonly endOffset: number
}

/**
 * What is known of a partition without reading it. Producers are remembered in memory only: none of them outlives
 * this process, and a new process gives out new producer ids.
 */
export class Partition {
  readonly id: number
  readonly topic: string
  readonly number: number
  startOffset: number
  endOffset: number
  /** Where each open transaction began here, by producer id. */
  readonly openTransactions = new Map<bigint, number>()
  readonly producers = new Map<bigint, ProducerState>()
  readonly #waiting = new Set<() => void>()

  constructor(row: PartitionRow) {
    this.id = row.id
    this.topic = row.topic
    this.number = row.number
    this.startOffset = row.startOffset
    this.endOffset = row.endOffset
  }

  /** First offset that may still turn out not to be there: the last stable offset. */
  get stableOffset(): number {
    return Math.min(this.endOffset, ...this.openTransactions.values())
  }

  /** Calls back at every `wake`, until `offWake`. */
  onWake(listener: () => void): void {
    this.#waiting.add(listener)
  }

  offWake(listener: () => void): void {
    this.#waiting.delete(listener)
  }

  /** There is more to read, or the partition is gone. */
  wake(): void {
    for (const listener of this.#waiting) listener()
  }
}
