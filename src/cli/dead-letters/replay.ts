import type { Broker, NewRecord, PartitionRecords } from '../../broker/broker.ts'
import { type DeadLetter, parseDeadLetter, toReplayRecord } from './dead-letter.ts'
import { readToEnd } from './read-to-end.ts'

export type ReplayOptions = {
  readonly topic: string
  /** Where records go; else back to the topic that each came from. */
  readonly to: string | undefined
  readonly matches: (letter: DeadLetter) => boolean
  /** The consumer group that keeps how far replays have come. */
  readonly groupId: string
  readonly fromBeginning: boolean
  /** Tells what would be done and does nothing. */
  readonly isDryRun: boolean
  /** A letter that can't be replayed, and why. */
  readonly onRejected: (letter: DeadLetter, reason: string) => void
}

export type ReplayResult = { readonly replayed: number; readonly rejected: number }

/**
 * Gives dead letters another try, in their order. How far it came is kept after each piece is stored: a replay that
 * was cut off goes on there, and gives a piece twice at most.
 */
export async function replayDeadLetters(broker: Broker, options: ReplayOptions): Promise<ReplayResult> {
  const { topic, groupId, fromBeginning, isDryRun } = options
  const known = fromBeginning ? [] : await broker.groups.offsets(groupId)
  const producer = await broker.producer()
  let replayed = 0
  let refused = 0
  try {
    for await (const polled of readToEnd(
      broker,
      topic,
      known.filter((position) => position.topic === topic),
    )) {
      const { records, refusals } = replayRecordsOf(polled, options)
      for (const [letter, reason] of refusals) options.onRejected(letter, reason)
      if (!isDryRun) {
        await producer.send(records)
        const positions = polled.map(({ partition, nextOffset }) => ({ topic, partition, offset: nextOffset }))
        if (positions.length > 0) await broker.groups.setOffsets(groupId, positions)
      }
      replayed += records.length
      refused += refusals.length
    }
  } finally {
    await producer.close()
  }
  return { replayed, rejected: refused }
}

function replayRecordsOf(polled: readonly PartitionRecords[], { matches: picks, to }: ReplayOptions) {
  const records: NewRecord[] = []
  const refusals: (readonly [DeadLetter, string])[] = []
  for (const { partition, records: stored } of polled) {
    for (const letter of stored.map((record) => parseDeadLetter(partition, record)).filter(picks)) {
      const again = toReplayRecord(letter, to)
      if (typeof again === 'string') refusals.push([letter, again])
      else records.push(again)
    }
  }
  return { records, refusals }
}
