import { DataError, type SinkPartition, type SinkPosition, type SinkRecord } from '../../../../sdk/index.ts'

/** Some of the records are written already, or the offset of a partition is missing. */
export class WrittenBeforeError extends DataError {}

/** The offset of the first record of a partition, and the offset after the last one. */
export type PartitionRange = SinkPartition & { readonly firstOffset: number; nextOffset: number }

/** Returns the offsets of each partition. Consecutive records usually have the same one, and then cost a comparison. */
export function partitionRanges(records: readonly SinkRecord[]): readonly PartitionRange[] {
  const ranges = new Map<string, PartitionRange>()
  let current: PartitionRange | undefined
  for (const { origin } of records) {
    if (!isSamePartition(origin, current)) {
      const { topic, partition, offset } = origin
      const key = partitionKey(origin)
      current = ranges.get(key) ?? { topic, partition, firstOffset: offset, nextOffset: offset }
      ranges.set(key, current)
    }
    current!.nextOffset = origin.offset + 1
  }
  return [...ranges.values()]
}

/**
 * Returns the records that are not written yet. Throws if the stored offset of a partition is missing: then it is unknown which
 * records are written, and their offset could not be stored.
 */
export function remainingRecords(
  records: readonly SinkRecord[],
  stored: readonly SinkPosition[],
  table: string,
): readonly SinkRecord[] {
  const next = new Map(stored.map((position) => [partitionKey(position), position.offset]))
  let previous: SinkPartition | undefined
  let from = 0
  return records.filter(({ origin }) => {
    if (!isSamePartition(origin, previous)) from = next.get(partitionKey(origin)) ?? failMissing(origin, table)
    previous = origin
    return origin.offset >= from
  })
}

function failMissing({ topic, partition }: SinkPartition, table: string): never {
  throw new Error(
    `the offset of partition ${partition} of topic '${topic}' was deleted from ${table} while the task was running; restart the ` +
      'task to add it',
  )
}

function isSamePartition({ topic, partition }: SinkPartition, other: SinkPartition | undefined): boolean {
  return other !== undefined && partition === other.partition && topic === other.topic
}

function partitionKey({ topic, partition }: SinkPartition): string {
  return `${topic}/${partition}`
}
