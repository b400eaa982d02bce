/**
 * The fields of a record that compaction and search by timestamp need. Records are never re-encoded: offsets and
 * timestamps are stored as deltas to the batch header, so the bytes of a record can be kept or dropped unchanged.
 */
export type RecordSpan = {
  readonly offset: number
  readonly timestampMs: number
  /** Undefined for a record without a key. */
  readonly key: string | undefined
  readonly tombstone: boolean
  /** Start of the record in the payload, in bytes; `to` is the exclusive end. */
  readonly from: number
  readonly to: number
}

/** Yields the records of a batch. Keys are decoded as latin1, one character per byte, so that they can be map keys. */
export function* recordSpans(batch: {
  readonly offset: number
  readonly timestampMs: number
  readonly recordCount: number
  /** The decompressed records. */
  readonly payload: Buffer
}): Generator<RecordSpan, undefined> {
  const { payload } = batch
  const cursor = { payload, at: 0 }
  for (let left = batch.recordCount; left > 0; left--) {
    const from = cursor.at
    const length = readVarint(cursor)
    const to = cursor.at + length
    cursor.at += 1 // Skips the attributes, which are unused.
    const timestampMs = batch.timestampMs + readVarint(cursor)
    const offset = batch.offset + readVarint(cursor)
    const keyLength = readVarint(cursor)
    const keyAt = cursor.at
    cursor.at += Math.max(0, keyLength)
    const tombstone = readVarint(cursor) < 0
    const key = keyLength < 0 ? undefined : payload.toString('latin1', keyAt, keyAt + keyLength)
    yield { offset, timestampMs, key, tombstone, from, to }
    cursor.at = to
  }
}

/** Reads a zigzag varint. Multiplies instead of shifting, because shifts truncate to 32 bits; exact up to 2^53. */
function readVarint(cursor: { readonly payload: Buffer; at: number }): number {
  let value = 0
  let factor = 1
  for (;;) {
    const byte = cursor.payload[cursor.at++] ?? 0
    value += (byte & 0x7f) * factor
    if (byte < 0x80) break
    factor *= 128
  }
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}
