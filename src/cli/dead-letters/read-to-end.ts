import type { Broker, PartitionOffset, PartitionRecords } from '../../broker/broker.ts'

const POLL_MS = 500

/** What stands in a topic from these positions to its end as it is now, in the pieces it comes in. */
export async function* readToEnd(
  broker: Broker,
  topic: string,
  from: readonly PartitionOffset[],
): AsyncGenerator<readonly PartitionRecords[]> {
  const earliest = await broker.topics.offsets(topic, 'earliest')
  const ends = new Map((await broker.topics.offsets(topic, 'latest')).map((end) => [end.partition, end.offset]))
  const starts = earliest.map(({ partition, offset }) => {
    const wanted = from.find((position) => position.partition === partition)?.offset ?? 0
    return { topic, partition, offset: Math.max(offset, wanted) }
  })
  const left = new Set(starts.filter(({ partition, offset }) => offset < (ends.get(partition) ?? 0)).map(partitionOf))
  const reader = broker.reader()
  try {
    reader.seek(starts.filter(({ partition }) => left.has(partition)))
    while (left.size > 0) {
      const polled = await reader.poll(POLL_MS)
      for (const { partition, nextOffset } of polled)
        if (nextOffset >= (ends.get(partition) ?? 0)) left.delete(partition)
      yield polled
    }
  } finally {
    await reader.close()
  }
}

function partitionOf({ partition }: PartitionOffset): number {
  return partition
}
