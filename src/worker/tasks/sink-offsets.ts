import type { PartitionOffset, PartitionRecords, TopicPartition } from '../../broker/broker.ts'

/** How far a sink was given records, partition by partition. */
export class SinkOffsets {
  readonly #delivered = new Map<string, PartitionOffset>()
  readonly #committed = new Map<string, number>()

  delivered(polled: readonly PartitionRecords[]): void {
    for (const { topic, partition, nextOffset } of polled) {
      this.#delivered.set(keyOf({ topic, partition }), { topic, partition, offset: nextOffset })
    }
  }

  committed(offsets: readonly PartitionOffset[]): void {
    for (const offset of offsets) this.#committed.set(keyOf(offset), offset.offset)
  }

  forget(partitions: readonly TopicPartition[]): void {
    for (const partition of partitions) {
      this.#delivered.delete(keyOf(partition))
      this.#committed.delete(keyOf(partition))
    }
  }

  /** What was given and is not committed. */
  pending(): readonly PartitionOffset[] {
    return [...this.#delivered.values()].filter((at) => this.#committed.get(keyOf(at)) !== at.offset)
  }
}

export function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`
}
