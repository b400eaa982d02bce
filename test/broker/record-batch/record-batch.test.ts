import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Compression, Header } from '../../../src/broker/broker.ts'
import {
  type BatchRecord,
  batchesOf,
  checkBatch,
  encodeBatch,
  recordBytesMax,
  recordsOf,
} from '../../../src/broker/record-batch/record-batch.ts'
import { CRC_AT, HEADER_BYTES, LENGTH_AT, MAGIC_AT } from '../../../src/broker/record-batch/record-batch-layout.ts'
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
  it('is decoded as it was encoded, with any codec, and is never larger than its calculated size', async () => {
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

  it('is decoded from a given offset', async () => {
    const [batch] = [...batchesOf(await letters('abc'))]
    expect((await recordsOf(batch!, 1)).map(({ offset, value }) => [offset, String(value)])).toEqual([
      [1, 'b'],
      [2, 'c'],
    ])
  })

  it('is omitted when the response ends within it', async () => {
    const [one, other] = [await letters('ab'), await letters('cd')]
    for (const cut of [1, other.length - HEADER_BYTES, other.length - 1]) {
      const batches = [...batchesOf(Buffer.concat([one, other]).subarray(0, one.length + other.length - cut))]
      expect(batches.map((batch) => batch.bytes.length)).toEqual([one.length])
    }
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
