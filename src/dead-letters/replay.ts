import type { Broker, NewRecord, PartitionRecords } from '../broker/broker.ts'
import { type DeadLetterRecord, parseDeadLetter, toReplayRecord } from './dead-letter.ts'
import { readToEnd } from './read-to-end.ts'
import { isMarked, NO_MARKS, type ReplayMarks, readReplayMarks } from './replay-marks.ts'

export type ReplayOptions = {
  readonly topic: string
  /** Target topic; undefined: the original topic of each record. */
  readonly targetTopic: string | undefined
  readonly matches: (deadLetter: DeadLetterRecord) => boolean
  /**
   * Why a topic that a header names is no target; undefined if it is one. Anybody who can write to the dead-letter topic can write
   * headers, but not to the topics that programs use for themselves.
   */
  readonly targetProblem: (topic: string) => string | undefined
  /** Consumer group whose committed offsets record what was replayed. */
  readonly groupId: string
  readonly fromBeginning: boolean
  /** Counts and reports without writing. */
  readonly isDryRun: boolean
  /** Called for each record that cannot be replayed. */
  readonly onRejected: (deadLetter: DeadLetterRecord, reason: string) => void
}

/** How long a replay waits for its target topic, whose name a person may have given wrongly. */
export const MAX_BLOCK_MS = 5_000
/** The target topic decides how large a record may be. */
const RECORD_BYTES_MAX = 2 ** 31 - 1

/** `skipped` records were replayed before, one by one. */
export type ReplayResult = { readonly replayed: number; readonly rejected: number; readonly skipped: number }

/** The consumer group that records how far a dead-letter topic was replayed, for the records of each filter. */
export function replayGroupOf(topic: string, connector?: string, stage?: string): string {
  return ['weir-dlq', topic, connector, stage].filter((part) => part !== undefined).join('-')
}

/**
 * Produces the original records again, in their order. Offsets are committed after each poll. An interrupted replay
 * resumes at the committed offset and can duplicate at most the records of one poll.
 */
export async function replayDeadLetters(broker: Broker, options: ReplayOptions): Promise<ReplayResult> {
  const { topic, groupId, fromBeginning, isDryRun } = options
  const committed = fromBeginning ? [] : await broker.groups.offsets(groupId)
  const marks = fromBeginning ? NO_MARKS : await readReplayMarks(broker, topic)
  const producer = await broker.producer({ maxBlockMs: MAX_BLOCK_MS, recordBytesMax: RECORD_BYTES_MAX })
  let replayed = 0
  let rejected = 0
  let skipped = 0
  try {
    const from = committed.filter((position) => position.topic === topic)
    for await (const polled of readToEnd(broker, topic, from)) {
      const { records, rejections, marked } = replayRecordsOf(polled, marks, options)
      for (const [deadLetter, reason] of rejections) options.onRejected(deadLetter, reason)
      if (!isDryRun) {
        await producer.send(records)
        const positions = polled.map(({ partition, nextOffset }) => ({ topic, partition, offset: nextOffset }))
        if (positions.length > 0) await broker.groups.setOffsets(groupId, positions)
      }
      replayed += records.length
      rejected += rejections.length
      skipped += marked
    }
  } finally {
    await producer.close()
  }
  return { replayed, rejected, skipped }
}

function replayRecordsOf(
  polled: readonly PartitionRecords[],
  marks: ReplayMarks,
  { matches, targetTopic, targetProblem }: ReplayOptions,
) {
  const records: NewRecord[] = []
  const rejections: (readonly [DeadLetterRecord, string])[] = []
  let marked = 0
  for (const { partition, records: stored } of polled) {
    for (const deadLetter of stored.map((record) => parseDeadLetter(partition, record)).filter(matches)) {
      const original =
        targetTopic === undefined ? toOrigin(deadLetter, targetProblem) : toReplayRecord(deadLetter, targetTopic)
      if (isMarked(marks, { partition, offset: deadLetter.record.offset })) marked += 1
      else if (typeof original === 'string') rejections.push([deadLetter, original])
      else records.push(original)
    }
  }
  return { records, rejections, marked }
}

/** The record for the topic that its header names, or why it cannot be sent there. */
function toOrigin(deadLetter: DeadLetterRecord, targetProblem: ReplayOptions['targetProblem']): NewRecord | string {
  const original = toReplayRecord(deadLetter, undefined)
  return typeof original === 'string' ? original : (targetProblem(original.topic) ?? original)
}
