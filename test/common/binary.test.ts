import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BinaryReader } from '../../src/common/binary-reader.ts'
import { BinaryWriter } from '../../src/common/binary-writer.ts'
import { propertyRuns } from '../support/property-seed.ts'

const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
/** A bigint as a number if that is exact, as the reader returns it. */
const exact = (value: bigint) => (Number.isSafeInteger(Number(value)) ? Number(value) : value)
/** A value, how it is written, how it is read, and how many bytes it has. */
const FIELDS = fc.oneof(
  fc
    .integer({ min: -128, max: 127 })
    .map((n) => ({ n, write: (to: BinaryWriter) => to.int8(n), read: (from: BinaryReader) => from.int8() })),
  fc
    .integer({ min: 0, max: 255 })
    .map((n) => ({ n, write: (to: BinaryWriter) => to.uint8(n), read: (from: BinaryReader) => from.uint8() })),
  fc
    .integer({ min: -32_768, max: 32_767 })
    .map((n) => ({ n, write: (to: BinaryWriter) => to.int16(n), read: (from: BinaryReader) => from.int16() })),
  fc
    .integer()
    .map((n) => ({ n, write: (to: BinaryWriter) => to.int32(n), read: (from: BinaryReader) => from.int32() })),
  long.map((n) => ({ n, write: (to: BinaryWriter) => to.int64(n), read: (from: BinaryReader) => from.bigInt64() })),
  fc.maxSafeInteger().map((n) => ({
    n,
    write: (to: BinaryWriter) => to.int64(n),
    read: (from: BinaryReader) => Number(from.bigInt64()),
  })),
  fc
    .double()
    .map((n) => ({ n, write: (to: BinaryWriter) => to.float64(n), read: (from: BinaryReader) => from.float64() })),
  fc
    .double()
    .map((n) => ({ n, write: (to: BinaryWriter) => to.float64LE(n), read: (from: BinaryReader) => from.float64LE() })),
  fc
    .float()
    .map((n) => ({ n, write: (to: BinaryWriter) => to.float32(n), read: (from: BinaryReader) => from.float32() })),
  fc
    .float()
    .map((n) => ({ n, write: (to: BinaryWriter) => to.float32LE(n), read: (from: BinaryReader) => from.float32LE() })),
  fc
    .nat({ max: 2 ** 31 })
    .map((n) => ({ n, write: (to: BinaryWriter) => to.varint(n), read: (from: BinaryReader) => from.varint() })),
  fc
    .integer()
    .map((n) => ({ n, write: (to: BinaryWriter) => to.zigzag(n), read: (from: BinaryReader) => from.zigzag32() })),
  fc
    .maxSafeInteger()
    .map((n) => ({ n, write: (to: BinaryWriter) => to.zigzag(n), read: (from: BinaryReader) => from.zigzag64() })),
  long.map((n) => ({
    n: exact(n),
    write: (to: BinaryWriter) => to.zigzag(n),
    read: (from: BinaryReader) => from.zigzag64(),
  })),
  fc.string({ unit: 'binary', maxLength: 200 }).map((n) => ({
    n,
    write: (to: BinaryWriter) => to.varintText(n),
    read: (from: BinaryReader) => from.utf8(from.varint()),
  })),
  fc.string({ unit: 'binary', maxLength: 200 }).map((n) => ({
    n,
    write: (to: BinaryWriter) => to.zigzagText(n),
    read: (from: BinaryReader) => from.utf8(from.zigzag32()),
  })),
  fc.string({ unit: 'binary', maxLength: 200 }).map((n) => ({
    n,
    write: (to: BinaryWriter) => to.int32Text(n),
    read: (from: BinaryReader) => from.utf8(from.int32()),
  })),
)

describe('binary data', () => {
  it('is read as it was written, and not beyond its end', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(fc.array(FIELDS, { minLength: 1, maxLength: 30 }), fc.nat({ max: 64 }), (fields, chunkBytes) => {
        const writer = new BinaryWriter(chunkBytes)
        const parts = fields.map(({ write }) => write(writer).take())
        const reader = new BinaryReader(Buffer.concat(parts))
        for (const { n, read } of fields) expect(read(reader)).toEqual(n)
        reader.expectEnd()
        for (const [index, { read }] of fields.entries()) {
          expect(() => read(new BinaryReader(parts[index]!.subarray(0, -1)))).toThrow(
            'the data is truncated: expected ',
          )
        }
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it.each([
    ['a varint of 33 bits', (from: BinaryReader) => from.varint(), [0xff, 0xff, 0xff, 0xff, 0x1f]],
    ['a zigzag varint of 33 bits', (from: BinaryReader) => from.zigzag32(), [0xff, 0xff, 0xff, 0xff, 0x1f]],
    ['a varint of six bytes', (from: BinaryReader) => from.varint(), [0x80, 0x80, 0x80, 0x80, 0x80, 0]],
    ['a zigzag varint of 65 bits', (from: BinaryReader) => from.zigzag64(), [...Array(9).fill(0xff), 2]],
    ['a negative length', (from: BinaryReader) => from.view(from.int8()), [0xff, 1]],
  ])('rejects %s', (_, read, bytes) => {
    expect(() => read(new BinaryReader(Buffer.from(bytes)))).toThrow(/has (?:a number of more than|the length -1)/)
  })

  it('names what is damaged with the error of the reader', () => {
    class DamagedMessage extends Error {}
    const reader = new BinaryReader(Buffer.from([0, 1, 2]), (reason) => new DamagedMessage(`the message ${reason}`), 1)
    expect(() => reader.int32()).toThrow(
      new DamagedMessage('the message is truncated: expected 4 bytes at byte 1 of 3'),
    )
    expect(() => reader.zeroTerminated()).toThrow(DamagedMessage)
    expect(reader.uint8()).toBe(1)
    expect(() => reader.expectEnd()).toThrow('the message has 1 bytes after its end')
  })

  it('is not changed by what is written after it was taken', () => {
    const writer = new BinaryWriter(4)
    const first = writer.uint8(1).take()
    const before = writer.uint8(2).length
    writer.int32(3).truncate(before)
    expect([
      [...first],
      [
        ...writer
          .uint8(4)
          .raw(Buffer.from([5, 6, 7]), 1, 2)
          .take(),
      ],
    ]).toEqual([[1], [2, 4, 6]])
  })
})
