import type { Broker, PartitionOffset } from '../broker/broker.ts'

/** The offsets of a partition that are read: `from` to before `to`. */
export type OffsetRange = { readonly partition: number; readonly from: number; readonly to: number }

export type RecordStart = 'beginning' | 'end' | { readonly offset: number } | { readonly timeMs: number }

export type RangeQuery = {
  readonly topic: string
  /** Default: all partitions. */
  readonly partition?: number | undefined
  /** With `end`, records are read backwards, so a range ends where reading starts. */
  readonly from: RecordStart
  /**
   * Where an earlier read in the same direction stopped: by partition, the next offset, or with `from: 'end'` the offset before which it
   * continues. Partitions that are not named are not read.
   */
  readonly positions?: ReadonlyMap<number, number> | undefined
}

export type TopicRanges = {
  readonly ranges: readonly OffsetRange[]
  /** The offsets that each partition has. */
  readonly partitions: readonly { readonly partition: number; readonly earliest: number; readonly end: number }[]
  /** The number of partitions of the topic. */
  readonly partitionCount: number
}

/** The offsets to read, in the order of the partitions. Undefined if the topic, or the partition, does not exist. */
export async function offsetRanges(
  broker: Broker,
  { topic, partition: wanted, from, positions }: RangeQuery,
  partitionsMax = Number.POSITIVE_INFINITY,
): Promise<TopicRanges | undefined> {
  if ((await broker.topics.describe(topic)) === undefined) return undefined
  const [starts, ends, startsAt] = await Promise.all([
    broker.topics.offsets(topic, 'earliest'),
    broker.topics.offsets(topic, 'latest'),
    typeof from === 'object' && 'timeMs' in from ? broker.topics.offsets(topic, from.timeMs) : [],
  ])
  const partitions = ends
    .map(({ partition, offset: end }) => ({ partition, earliest: offsetIn(starts, partition) ?? 0, end }))
    .filter(({ partition }) => wanted === undefined || partition === wanted)
    .sort((a, b) => a.partition - b.partition)
    .slice(0, partitionsMax)
  if (wanted !== undefined && partitions.length === 0) return undefined
  const ranges = partitions.flatMap(({ partition, earliest, end }): readonly OffsetRange[] => {
    const position = positions?.get(partition)
    if (positions !== undefined && position === undefined) return []
    const within = (offset: number) => Math.min(Math.max(offset, earliest), end)
    if (from === 'end') return [{ partition, from: earliest, to: within(position ?? end) }]
    const start =
      typeof from === 'object' ? ('offset' in from ? from.offset : (offsetIn(startsAt, partition) ?? end)) : 0
    return [{ partition, from: within(position ?? start), to: end }]
  })
  return { ranges, partitions, partitionCount: ends.length }
}

function offsetIn(offsets: readonly PartitionOffset[], partition: number): number | undefined {
  return offsets.find((one) => one.partition === partition)?.offset
}
