import type { ProducerState } from './producer-state.ts'

/** The stored state of a partition. */
export type PartitionRow = {
  readonly id: number
  readonly topic: string
  readonly number: number
  readonly startOffset: number
  readonly endOffset: number
}

/**
 * The in-memory state of a partition. Producers are kept in memory only: they do not outlive this process, and a new
 * process assigns new producer ids.
 */
export class Partition {
  readonly id: number
  readonly topic: string
  readonly number: number
  startOffset: number
  endOffset: number
  /** First offset of each open transaction, by producer id. */
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

  /** The last stable offset: the first offset of an open transaction, or the end. */
  get stableOffset(): number {
    return Math.min(this.endOffset, ...this.openTransactions.values())
  }

  /** Calls the listener at every `notifyListeners`, until `offChange`. */
  onChange(listener: () => void): void {
    this.#waiting.add(listener)
  }

  offChange(listener: () => void): void {
    this.#waiting.delete(listener)
  }

  /** Notifies listeners that records were appended or the partition was deleted. */
  notifyListeners(): void {
    for (const listener of this.#waiting) listener()
  }
}
