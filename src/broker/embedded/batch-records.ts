/**
 * Records inside a batch, as far as compaction and search by time look at them. They are never decoded and encoded
 * again: a record's bytes hold only differences to the header, so they can be left out or kept as they stand.
 */
export type RecordSpan = {
  readonly offset: number
  readonly timestampMs: number
  /** Undefined for a record without a key. */
  readonly key: string | undefined
  readonly tombstone: boolean
  /** Where its bytes stand in the payload. */
  readonly from: number
  readonly to: number
}

/** Bytes of keys become characters one to one, for use in a map. */
export function* recordSpans(batch: {
  readonly offset: number
  readonly timestampMs: number
  readonly recordCount: number
  /** Decompressed. */
  readonly payload: Buffer
}): Generator<RecordSpan, undefined> {
  const { payload } = batch
  const cursor = { payload, at: 0 }
  for (let left = batch.recordCount; left > 0; left--) {
    const from = cursor.at
    const length = readVarint(cursor)
    const to = cursor.at + length
    cursor.at += 1 // Attributes: none in use.
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

/** Zigzag; exact up to 2^53, so by multiplication where shifting would cut. */
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
