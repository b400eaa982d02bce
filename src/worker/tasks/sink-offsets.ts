import type { PartitionOffset, PartitionRecords, TopicPartition } from '../../broker/broker.ts'
import type { PartitionLag } from './task-spec.ts'

/** The offsets up to which a sink accepted and committed records, by partition. */
export class SinkOffsets {
  readonly #delivered = new Map<string, PartitionOffset>()
  readonly #committed = new Map<string, number>()
  /** Where a partition is read again after a failed flush: its last committed offset, or the first one that was put. */
  readonly #restarts = new Map<string, PartitionOffset>()
  readonly #lags = new Map<string, number>()

  delivered(polled: readonly PartitionRecords[]): void {
    for (const { topic, partition, records, nextOffset, endOffset } of polled) {
      const key = partitionKey({ topic, partition })
      this.#lags.set(key, Math.max(0, endOffset - nextOffset))
      this.#delivered.set(key, { topic, partition, offset: nextOffset })
      if (!this.#restarts.has(key))
        this.#restarts.set(key, { topic, partition, offset: records[0]?.offset ?? nextOffset })
    }
  }

  /** The sink reads these partitions from other offsets, which are committed next. */
  sought(positions: readonly PartitionOffset[]): void {
    for (const position of positions) {
      this.#delivered.set(partitionKey(position), position)
      this.#restarts.set(partitionKey(position), position)
    }
  }

  committed(offsets: readonly PartitionOffset[]): void {
    for (const offset of offsets) {
      this.#committed.set(partitionKey(offset), offset.offset)
      this.#restarts.set(partitionKey(offset), offset)
    }
  }

  /** The sink did not store what was delivered since the last commit. Returns the offsets from which it is read again. */
  rewound(): readonly PartitionOffset[] {
    const positions = [...this.#restarts.values()]
    for (const position of positions) this.#delivered.set(partitionKey(position), position)
    return positions
  }

  forget(partitions: readonly TopicPartition[]): void {
    for (const partition of partitions) {
      this.#delivered.delete(partitionKey(partition))
      this.#committed.delete(partitionKey(partition))
      this.#restarts.delete(partitionKey(partition))
      this.#lags.delete(partitionKey(partition))
    }
  }

  /** The highest lag among the partitions, in records. */
  lagMax(): number {
    return Math.max(0, ...this.#lags.values())
  }

  /** The highest lags, at most `countMax`. */
  highestLags(countMax: number): readonly PartitionLag[] {
    return [...this.#lags].sort(([, a], [, b]) => b - a).slice(0, countMax)
  }

  /** Whether the offset can be committed without skipping a record: the sink has accepted all records before it. */
  isDelivered(position: PartitionOffset): boolean {
    const delivered = this.#delivered.get(partitionKey(position))
    return delivered !== undefined && position.offset <= delivered.offset
  }

  /** Offsets that were delivered and are not committed. */
  pending(): readonly PartitionOffset[] {
    return [...this.#delivered.values()].filter((at) => this.#committed.get(partitionKey(at)) !== at.offset)
  }
}

export function partitionKey({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`
}
