import type { Broker, CommittedOffset } from '../broker/broker.ts'

/** The offset in a partition of a dead-letter topic. */
export type DeadLetterPosition = { readonly partition: number; readonly offset: number }

/** The dead letters that were replayed one by one, by partition. */
export type ReplayMarks = ReadonlyMap<number, readonly OffsetRange[]>
/** A range of offsets, including both ends. */
type OffsetRange = readonly [from: number, to: number]

export const NO_MARKS: ReplayMarks = new Map()

/** Kafka accepts 4,096 bytes of metadata for each offset (`offset.metadata.max.bytes`). */
const METADATA_LENGTH_MAX = 4_000

/**
 * The consumer group whose offsets have the marks as metadata. So marks are shared by all workers and by `weir dlq`, and the
 * broker forgets them like offsets of a group without members.
 */
function marksGroupOf(topic: string): string {
  return `weir-replayed-${topic}`
}

export async function readReplayMarks(broker: Broker, topic: string): Promise<ReplayMarks> {
  const stored = await broker.groups.offsets(marksGroupOf(topic))
  return new Map(stored.filter((one) => one.topic === topic).map((one) => [one.partition, parseRanges(one)]))
}

/** Adds marks. Marks that another process adds at the same moment can be lost. */
export async function addReplayMarks(
  broker: Broker,
  topic: string,
  positions: readonly DeadLetterPosition[],
): Promise<void> {
  const marks = await readReplayMarks(broker, topic)
  const changed = [...Map.groupBy(positions, ({ partition }) => partition)].map(([partition, added]) => {
    const ranges = [...(marks.get(partition) ?? []), ...added.map(({ offset }) => [offset, offset] as const)]
    const metadata = printRanges(joinRanges(ranges))
    // The offset itself has no meaning, but is shown by tools.
    return { topic, partition, offset: Math.max(...ranges.map(([, to]) => to)) + 1, metadata }
  })
  await broker.groups.setOffsets(marksGroupOf(topic), changed)
}

export function isMarked(marks: ReplayMarks, { partition, offset }: DeadLetterPosition): boolean {
  return marks.get(partition)?.some(([from, to]) => from <= offset && offset <= to) ?? false
}

function joinRanges(ranges: readonly OffsetRange[]): readonly OffsetRange[] {
  const joined: [number, number][] = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** The newest ranges that fit. */
function printRanges(ranges: readonly OffsetRange[]): string {
  let text = ''
  for (const [from, to] of ranges.toReversed()) {
    const range = from === to ? `${from}` : `${from}-${to}`
    if (text.length + range.length >= METADATA_LENGTH_MAX) break
    text = text === '' ? range : `${range},${text}`
  }
  return text
}

/** Anybody can commit offsets of this group, so what is not a range is ignored. */
function parseRanges({ metadata = '' }: CommittedOffset): readonly OffsetRange[] {
  return metadata
    .slice(0, METADATA_LENGTH_MAX)
    .split(',')
    .flatMap((range) => {
      const [, from, to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(range) ?? []
      return from === undefined ? [] : [[Number(from), Number(to)] as const]
    })
}
