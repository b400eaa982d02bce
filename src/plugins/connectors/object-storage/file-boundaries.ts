// The boundaries between files, as a text that is committed with an offset of the consumer group. A task commits them before it makes a
// file visible, so that the next owner of the partition writes the same files again, whatever its clock and its settings say.

export type Boundary = {
  /** The offset after the last record of a set of files. */
  readonly endOffset: number
  /** The time that partitioned the records of the set, in ms; undefined if their partitions do not depend on a clock. */
  readonly clockMs?: number | undefined
}

const PREFIX = 'weir-files-1:'
/** Below `offset.metadata.max.bytes` of brokers, which is 4,096 by default. */
const CHARACTERS_MAX = 3_500
/** Digits and letters, to save characters. */
const RADIX = 36

/** The text for the first boundaries, as many as fit, after the committed offset `offset`. */
export function encodeBoundaries(
  offset: number,
  boundaries: readonly Boundary[],
): { readonly text: string; readonly count: number } {
  let text = PREFIX
  let count = 0
  let before = offset
  for (const { endOffset, clockMs } of boundaries) {
    const clock = clockMs === undefined ? '' : `@${clockMs.toString(RADIX)}`
    const item = `${count === 0 ? '' : ','}${(endOffset - before).toString(RADIX)}${clock}`
    if (text.length + item.length > CHARACTERS_MAX) break
    text += item
    before = endOffset
    count += 1
  }
  return { text, count }
}

/** Parses the metadata of a committed offset. A text of other programs has no boundaries. Throws if it is damaged. */
export function parseBoundaries(offset: number, metadata: string | undefined): readonly Boundary[] {
  if (!metadata?.startsWith(PREFIX)) return []
  let before = offset
  return metadata
    .slice(PREFIX.length)
    .split(',')
    .map((item) => {
      const [, length, clock] = /^([0-9a-z]{1,11})(?:@([0-9a-z]{1,11}))?$/.exec(item) ?? []
      const records = Number.parseInt(length ?? '', RADIX)
      if (!(records > 0 && Number.isSafeInteger(before + records)))
        throw new Error(
          `the metadata '${metadata}' of the committed offset ${offset} is damaged: commit the offset again`,
        )
      before += records
      return { endOffset: before, ...(clock !== undefined && { clockMs: Number.parseInt(clock, RADIX) }) }
    })
}
