import type { Broker, Isolation, PartitionOffset, PartitionRecords } from '../broker/broker.ts'
import { BrokerError, OpenTransactionError } from '../broker/broker-error.ts'

const POLL_MS = 500
const STALL_MS = 60_000

export type ReadToEndOptions = {
  /** `read_uncommitted`: the end of the log, after waiting for open transactions. Default: the offset before the first of them. */
  readonly end?: Isolation
  /** How long to wait without any progress, in ms. */
  readonly stallMs?: number
}

/**
 * The committed records from these offsets, or the beginning, to the end that the topic has when this is called. Rejects
 * with `transaction_open`, or with `timeout`, when nothing more can be read.
 */
export async function* readToEnd(
  broker: Broker,
  topic: string,
  from: readonly PartitionOffset[],
  { end = 'read_committed', stallMs = STALL_MS }: ReadToEndOptions = {},
): AsyncGenerator<readonly PartitionRecords[]> {
  const earliest = await broker.topics.offsets(topic, 'earliest')
  const ends = new Map(
    (await broker.topics.offsets(topic, 'latest', end)).map(({ partition, offset }) => [partition, offset]),
  )
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
    for (let stalledMs = 0; unfinished.size > 0; stalledMs += POLL_MS) {
      const polled = await reader.poll(POLL_MS)
      if (polled.length > 0) stalledMs = 0
      else if (stalledMs >= stallMs) throw await stallError(broker, topic, { unfinished, ends, stallMs })
      for (const { partition, nextOffset } of polled)
        if (nextOffset >= (ends.get(partition) ?? 0)) unfinished.delete(partition)
      yield polled
    }
  } finally {
    await reader.close()
  }
}

type Stall = {
  readonly unfinished: ReadonlySet<number>
  readonly ends: ReadonlyMap<number, number>
  readonly stallMs: number
}

async function stallError(broker: Broker, topic: string, { unfinished, ends, stallMs }: Stall): Promise<Error> {
  const stable = await broker.topics.offsets(topic, 'latest')
  const blocked = stable.filter(
    ({ partition, offset }) => unfinished.has(partition) && offset < (ends.get(partition) ?? 0),
  )
  const [first] = blocked
  return first === undefined
    ? new BrokerError('timeout', `no records of topic '${topic}' were received for ${stallMs} ms`)
    : new OpenTransactionError(
        `${topic}-${first.partition} cannot be read beyond offset ${first.offset}: a transaction is open there for more than ${stallMs} ms`,
        blocked,
      )
}

function partitionOf({ partition }: PartitionOffset): number {
  return partition
}
