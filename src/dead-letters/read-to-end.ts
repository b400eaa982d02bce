import type { Broker, PartitionOffset, PartitionRecords } from '../broker/broker.ts'

const POLL_MS = 500

/** The records from these offsets, or the beginning, to the end that the topic has when this is called. */
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
  const unfinished = new Set(
    starts.filter(({ partition, offset }) => offset < (ends.get(partition) ?? 0)).map(partitionOf),
  )
  const reader = broker.reader()
  try {
    reader.seek(starts.filter(({ partition }) => unfinished.has(partition)))
    while (unfinished.size > 0) {
      const polled = await reader.poll(POLL_MS)
      for (const { partition, nextOffset } of polled)
        if (nextOffset >= (ends.get(partition) ?? 0)) unfinished.delete(partition)
      yield polled
    }
  } finally {
    await reader.close()
  }
}

function partitionOf({ partition }: PartitionOffset): number {
  return partition
}
