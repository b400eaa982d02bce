import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BinaryWriter } from '../../../../src/common/binary-writer.ts'
import { UTC } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import { binaryTypeOf } from '../../../../src/plugins/connectors/postgres/sink/binary-type.ts'
import {
  DATE,
  type Decimal,
  decimal,
  FLOAT32,
  INT16,
  INT32,
  INT64,
  type Schema,
  STRING,
  TIME,
  TIMESTAMP,
} from '../../../../src/sdk/index.ts'

/** The bytes of a value with its length, or undefined if it has no binary form. */
function bytesOf(schema: Schema, columnType: string, value: unknown): Buffer | undefined {
  const to = new BinaryWriter()
  return binaryTypeOf(schema, columnType, { zone: UTC, dateZone: UTC })!.write(to, value) ? to.bytes : undefined
}

/** Reads the digits to the base 10,000 as PostgreSQL does. */
function readNumeric(bytes: Buffer): Decimal {
  const [count, weight, sign, scale] = [4, 6, 8, 10].map((at) => bytes.readInt16BE(at)) as [
    number,
    number,
    number,
    number,
  ]
  expect(bytes.readInt32BE(0)).toBe(bytes.length - 4)
  expect(bytes.length).toBe(12 + 2 * count)
  let digits = 0n
  for (let index = 0; index < count; index += 1) digits = digits * 10_000n + BigInt(bytes.readInt16BE(12 + 2 * index))
  // The digits are a multiple of this power of ten.
  const power = 4 * (weight + 1 - count) + scale
  const unscaled = power < 0 ? digits / 10n ** BigInt(-power) : digits * 10n ** BigInt(power)
  return { unscaled: sign === 0 ? unscaled : -unscaled, scale }
}

describe('binaryTypeOf', () => {
  it.each([
    [INT64, 'integer'],
    [INT32, 'smallint'],
    [FLOAT32, 'real'],
    [STRING, 'uuid'],
    [STRING, 'jsonb'],
    [DATE, 'timestamp with time zone'],
    [TIMESTAMP, 'date'],
    [decimal(2), 'bigint'],
  ])('returns nothing for a field whose values are converted: %j and %s', (schema, columnType) => {
    expect(binaryTypeOf(schema, columnType, { zone: UTC, dateZone: UTC })).toBeUndefined()
  })

  it.each([
    [STRING, 'text', 'a\0b'],
    [STRING, 'text', 5],
    [INT16, 'smallint', 40_000],
    [INT64, 'bigint', 2n ** 63n],
    [INT64, 'bigint', 1.5],
    [TIMESTAMP, 'timestamp with time zone', new Date(Number.NaN)],
    [TIME, 'time without time zone', 86_400_000],
    [decimal(2), 'numeric', { unscaled: 1n, scale: -1 }],
    [decimal(2), 'numeric', { unscaled: 10n ** 131_100n, scale: 2 }],
    [decimal(2), 'numeric', 1.5],
  ])('has no binary form for values that the text reports or converts: %j as %s', (schema, columnType, value) => {
    expect(bytesOf(schema, columnType, value)).toBeUndefined()
  })

  it('writes the decimals that PostgreSQL reads', () => {
    const small = fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n })
    const decimals = fc.record({ unscaled: fc.oneof(small, fc.bigInt()), scale: fc.integer({ min: 0, max: 40 }) })
    fc.assert(
      fc.property(decimals, (value) => {
        expect(readNumeric(bytesOf(decimal(value.scale), 'numeric', value)!)).toEqual(value)
      }),
    )
  })

  it('writes the integers that PostgreSQL reads', () => {
    const wide = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), wide), (value) => {
        expect(bytesOf(INT64, 'bigint', value)?.readBigInt64BE(4)).toBe(BigInt(value))
      }),
    )
  })

  it.each([
    ['timestamp with time zone', new Date('2000-01-01T00:00:00.001Z'), 1_000n],
    ['timestamp with time zone', new Date('-004713-11-24T00:00:00Z'), -211_813_488_000_000_000n],
    ['timestamp with time zone', new Date(8.64e15), 2n ** 63n - 1n],
    ['timestamp without time zone', new Date(-8.64e15), -(2n ** 63n)],
  ])('writes %s in microseconds since 2000: %s', (columnType, value, micros) => {
    expect(bytesOf(TIMESTAMP, columnType, value)?.readBigInt64BE(4)).toBe(micros)
  })

  it('grows for texts of any length', () => {
    const text = 'é€𝄞'.repeat(100_000)
    const bytes = bytesOf(STRING, 'text', text)!
    expect(bytes.readInt32BE(0)).toBe(bytes.length - 4)
    expect(bytes.toString('utf8', 4) === text).toBe(true)
  })
})
