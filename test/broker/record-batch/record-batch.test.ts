import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Compression, Header } from '../../../src/broker/broker.ts'
import {
  batchesOf,
  CRC_AT,
  checkBatch,
  HEADER_BYTES,
  LENGTH_AT,
  MAGIC_AT,
  singleBatch,
} from '../../../src/broker/record-batch/batch-header.ts'
import {
  type BatchRecord,
  BatchRecords,
  encodeBatch,
  filterBatch,
  recordBytesMax,
  recordsOf,
} from '../../../src/broker/record-batch/record-batch.ts'
import { arbitraryText } from '../../support/arbitrary-text.ts'
import { propertyRuns } from '../../support/property-seed.ts'

const CODECS: readonly Compression[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const producer = { producerId: 5n, epoch: 2, baseSequence: 7 }

const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 300 })
const nullable = fc.option(bytes, { nil: null })
const header: fc.Arbitrary<Header> = fc.tuple(arbitraryText({ maxLength: 20 }), nullable)
const record: fc.Arbitrary<BatchRecord> = fc.record({
  key: nullable,
  value: nullable,
  headers: fc.array(header, { maxLength: 3 }),
  timestampMs: fc.integer({ min: 0, max: 2 ** 45 }),
})

describe('record batch', () => {
  it('is decoded as it was encoded, with any codec, and is never larger than its calculated size', {
    tags: ['slow'],
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(...CODECS),
        async (records, compression) => {
          const encoded = await encodeBatch(records, { nowMs: 0, compression, producer, transactional: false })
          const [batch, ...others] = [...batchesOf(encoded)]
          expect(others).toEqual([])
          checkBatch(batch!)
          expect(batch).toMatchObject({ baseOffset: 0, nextOffset: records.length, producerId: 5n, isControl: false })
          expect((await recordsOf(batch!)).map(plain)).toEqual(records.map((one, offset) => plain({ ...one, offset })))
          if (compression === 'none') {
            const most = records.reduce((sum, one) => sum + recordBytesMax(one), HEADER_BYTES)
            expect(encoded.length).toBeLessThanOrEqual(most)
          }
        },
      ),
      { numRuns: propertyRuns(100) },
    )
  })

  it('is decoded one record at a time', async () => {
    const records = await BatchRecords.open(singleBatch(await letters('abc')))
    const next = () => [records.hasNext, String(records.next().value)]
    expect([next(), next(), next(), records.hasNext]).toEqual([[true, 'a'], [true, 'b'], [true, 'c'], false])
  })

  it('is omitted when the response ends within it', async () => {
    const [one, other] = [await letters('ab'), await letters('cd')]
    for (const cut of [1, other.length - HEADER_BYTES, other.length - 1]) {
      const batches = [...batchesOf(Buffer.concat([one, other]).subarray(0, one.length + other.length - cut))]
      expect(batches.map((batch) => batch.bytes.length)).toEqual([one.length])
    }
  })

  it('keeps the offsets and bytes of the records that a filter keeps, with any codec', async () => {
    for (const compression of CODECS) {
      const records = [...'abcd'].map((letter) => ({ key: Buffer.from(letter), value: Buffer.from(letter) }))
      const batch = singleBatch(await encodeBatch(records, { nowMs: 1, compression, producer }))
      const kept = singleBatch((await filterBatch(batch, ({ offset }) => offset % 2 === 1))!)
      checkBatch(kept)
      expect(kept).toMatchObject({ baseOffset: 0, nextOffset: 4, recordCount: 2, producerId: 5n, producerEpoch: 2 })
      expect((await recordsOf(kept)).map(({ offset, key }) => [offset, String(key)])).toEqual([
        [1, 'b'],
        [3, 'd'],
      ])
      expect(await filterBatch(batch, () => true)).toBe(batch.bytes)
      expect(await filterBatch(batch, () => false)).toBeUndefined()
    }
  })

  it('is rejected when a record ends after it, whether it is read or filtered', async () => {
    const batch = singleBatch(await letters('abc'))
    // The length of the last record and of its value: one byte more than there is.
    const bytes = Buffer.from(batch.bytes)
    for (const back of [8, 3]) bytes[bytes.length - back]! += 2
    await expect(recordsOf({ ...batch, bytes })).rejects.toThrow('it ends inside a record')
    await expect(filterBatch({ ...batch, bytes }, () => true)).rejects.toThrow('it ends inside a record')
  })

  it('is rejected when its checksum, length or magic byte is invalid', async () => {
    const good = await letters('abc')
    const damaged = (at: number, value: number) => {
      const copy = Buffer.from(good)
      copy[at] = value
      return copy
    }
    const [flipped] = [...batchesOf(damaged(good.length - 1, good.at(-1)! ^ 1))]
    expect(() => checkBatch(flipped!)).toThrow('checksum')
    const [forged] = [...batchesOf(damaged(CRC_AT, good[CRC_AT]! ^ 1))]
    expect(() => checkBatch(forged!)).toThrow('checksum')
    expect(() => [...batchesOf(damaged(MAGIC_AT, 1))]).toThrow('record format v1')
    const short = Buffer.from(good)
    short.writeInt32BE(3, LENGTH_AT)
    expect(() => [...batchesOf(short)]).toThrow('its header has a length of 15 bytes')
  })
})

function letters(text: string): Promise<Buffer> {
  const records = [...text].map((letter) => ({ key: null, value: Buffer.from(letter) }))
  return encodeBatch(records, { nowMs: 1, compression: 'none', producer, transactional: false })
}

/** Converts bytes to text, so that buffers and arrays are comparable. */
function plain({ offset, key, value, headers = [], timestampMs }: BatchRecord & { readonly offset: number }) {
  const text = (part: Uint8Array | null) => part && Buffer.from(part).toString('hex')
  return {
    offset,
    timestampMs,
    key: text(key),
    value: text(value),
    headers: headers.map(([name, of]) => [name, text(of)]),
  }
}
