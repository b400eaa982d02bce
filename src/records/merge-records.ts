/** A record that was found, with what is shown of it. */
export type FoundRecord<View> = {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly view: View
  /** Memory that the view needs, in characters. */
  readonly size: number
}

/** What was found in one partition, in the order of the scan, and the position that it has reached. */
export type PartitionScan<View> = {
  readonly partition: number
  readonly records: readonly FoundRecord<View>[]
  readonly position: number
  /** Whether nothing is read beyond `position`. */
  readonly isComplete: boolean
}

export type MergedRecords<View> = {
  readonly records: readonly FoundRecord<View>[]
  /** Where a later scan continues in each partition. */
  readonly positions: ReadonlyMap<number, number>
  /** Partitions whose next record decides about the order, and is not read yet. */
  readonly starved: readonly number[]
}

export type MergeOptions = { readonly isNewestFirst: boolean; readonly limit: number; readonly sizeMax: number }

/**
 * The first records of all partitions in the order of their timestamps. Records of a partition keep their order, so that a later scan
 * continues exactly where these end.
 */
export function mergeRecords<View>(
  parts: readonly PartitionScan<View>[],
  { isNewestFirst, limit, sizeMax }: MergeOptions,
): MergedRecords<View> {
  const taken = parts.map(() => 0)
  const records: FoundRecord<View>[] = []
  let starved: readonly number[] = []
  let size = 0
  while (records.length < limit) {
    starved = parts.flatMap(({ partition, records: found, isComplete }, at) =>
      isComplete || (taken[at] ?? 0) < found.length ? [] : [partition],
    )
    if (starved.length > 0) break
    const first = firstOf(parts, taken, isNewestFirst)
    const record = first === undefined ? undefined : parts[first]?.records[taken[first] ?? 0]
    if (first === undefined || record === undefined) break
    size += record.size
    // One record is always returned, so that the next scan continues after it.
    if (size > sizeMax && records.length > 0) break
    records.push(record)
    taken[first] = (taken[first] ?? 0) + 1
  }
  const positions = parts.map(({ partition, records: found, position }, at) => {
    const excluded = found[taken[at] ?? 0]
    if (excluded === undefined) return [partition, position] as const
    return [partition, isNewestFirst ? excluded.offset + 1 : excluded.offset] as const
  })
  return { records, positions: new Map(positions), starved }
}

/** The part with the first record that is not taken; undefined if all are. */
function firstOf(
  parts: readonly PartitionScan<unknown>[],
  taken: readonly number[],
  isNewestFirst: boolean,
): number | undefined {
  let first: { readonly record: FoundRecord<unknown>; readonly at: number } | undefined
  for (const [at, { records }] of parts.entries()) {
    const record = records[taken[at] ?? 0]
    if (record === undefined) continue
    if (first === undefined || isBefore(record, first.record, isNewestFirst)) first = { record, at }
  }
  return first?.at
}

function isBefore(a: FoundRecord<unknown>, b: FoundRecord<unknown>, isNewestFirst: boolean): boolean {
  return isNewestFirst ? a.timestampMs > b.timestampMs : a.timestampMs < b.timestampMs
}
