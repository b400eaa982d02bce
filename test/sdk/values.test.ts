import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  array,
  bigintFromBytes,
  bigintToBytes,
  checkValue,
  decimal,
  decimalFromText,
  decimalToText,
  INT8,
  INT64,
  int64,
  isInteger,
  map,
  optional,
  rescale,
  STRING,
  struct,
  TIMESTAMP,
  unscaledAt,
} from '../../src/sdk/index.ts'

const anyBigint = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n })

describe('decimals', () => {
  it('round-trip through text', () => {
    fc.assert(
      fc.property(anyBigint, fc.integer({ min: 0, max: 60 }), (unscaled, scale) => {
        expect(decimalFromText(decimalToText({ unscaled, scale }))).toEqual({ unscaled, scale })
      }),
    )
  })

  it('with exponents whose digits would take too much time and memory are rejected', () => {
    const beyond = 999_999_999
    for (const convert of [
      () => decimalFromText(`12345678901234567e${beyond}`, 2),
      () => decimalFromText(`1e-${beyond}`, 2),
      () => rescale({ unscaled: 1n, scale: -beyond }, 0),
      () => decimalToText({ unscaled: 1n, scale: beyond }),
      () => decimalToText({ unscaled: 1n, scale: -beyond }),
    ]) {
      expect(convert).toThrow(expect.objectContaining({ code: 'data', message: expect.stringContaining('200000') }))
    }
    expect(rescale({ unscaled: 1n, scale: -200_000 }, 0).unscaled).toBe(10n ** 200_000n)
  })

  it('of any length are converted in linear time', () => {
    // Loops that need the square of the time would take a minute for each of these.
    const bytes = Buffer.alloc(1_000_000, 0x77)
    expect(bigintToBytes(bigintFromBytes(bytes)).equals(bytes)).toBe(true)
    expect(() => decimalFromText(`${'1'.repeat(200_000)}x`)).toThrow('not a decimal number')
  })

  it('have the bytes of the shortest two’s complement', () => {
    for (const edge of [0n, 1n, 2n ** 7n, 2n ** 8n, 2n ** 15n, 2n ** 16n, 2n ** 63n, 2n ** 64n, 2n ** 200n]) {
      for (const value of [edge - 1n, edge, edge + 1n, -edge - 1n, -edge, -edge + 1n]) {
        const bytes = bigintToBytes(value)
        expect(bigintFromBytes(bytes)).toBe(value)
        expect(bytes.length === 1 || BigInt.asIntN(bytes.length * 8 - 8, value) !== value).toBe(true)
      }
    }
  })

  it('are parsed with exponents and missing parts', () => {
    expect(decimalFromText('-1.50e2')).toEqual({ unscaled: -150n, scale: 0 })
    expect(decimalFromText('.5')).toEqual({ unscaled: 5n, scale: 1 })
    expect(decimalFromText('7', 3)).toEqual({ unscaled: 7000n, scale: 3 })
    for (const text of ['', '.', 'x', '1.2.3', '0x1'])
      expect(() => decimalFromText(text)).toThrow('not a decimal number')
  })

  it('are parsed at a scale as they are without one and converted to it, or rejected like them', () => {
    const number = fc.stringMatching(/^[-+]?\d{0,10}\.?\d{0,10}(e-?\d)?$/)
    fc.assert(
      fc.property(fc.oneof(number, fc.string()), fc.integer({ min: 0, max: 20 }), (text, scale) => {
        const parse = (read: () => unknown) => {
          try {
            return read()
          } catch (error) {
            return (error as Error).message
          }
        }
        expect(parse(() => decimalFromText(text, scale))).toEqual(parse(() => rescale(decimalFromText(text), scale)))
      }),
    )
  })

  it('are rejected at a scale that would lose digits', () => {
    expect(rescale({ unscaled: 1200n, scale: 3 }, 1)).toEqual({ unscaled: 12n, scale: 1 })
    expect(() => rescale({ unscaled: 1234n, scale: 3 }, 1)).toThrow('1.234 has more than 1 fractional digits')
  })
})

describe('big integers', () => {
  it('are parsed back from their bytes, which have minimal length', () => {
    fc.assert(
      fc.property(anyBigint, (value) => {
        const bytes = bigintToBytes(value)
        expect(bigintFromBytes(bytes)).toBe(value)
        expect(BigInt.asIntN((bytes.length - 1) * 8, value)).not.toBe(bytes.length === 1 ? undefined : value)
      }),
    )
  })

  it("are encoded like Java's BigInteger", () => {
    const hex = (value: bigint) => bigintToBytes(value).toString('hex')
    expect([0n, 1n, -1n, 127n, 128n, -128n, -129n, 12345n].map(hex)).toEqual([
      '00',
      '01',
      'ff',
      '7f',
      '0080',
      '80',
      'ff7f',
      '3039',
    ])
  })

  it('are converted to numbers only if these are exact', () => {
    expect(int64(2n ** 53n - 1n)).toBe(2 ** 53 - 1)
    expect(int64(2n ** 53n)).toBe(2n ** 53n)
  })
})

describe('integer types', () => {
  it.each([
    ['int8', -(2n ** 7n), 2n ** 7n - 1n],
    ['int16', -(2n ** 15n), 2n ** 15n - 1n],
    ['int32', -(2n ** 31n), 2n ** 31n - 1n],
    ['int64', -(2n ** 63n), 2n ** 63n - 1n],
  ] as const)('%s accepts %i to %i only', (type, min, max) => {
    expect([min, max, 0, int64(min), int64(max)].filter((value) => !isInteger(type, value))).toEqual([])
    const beyond = [min - 1n, max + 1n, Number(max) + 1, Number(min) * 2, 1.5, Number.NaN, '1', null, undefined]
    expect(beyond.filter((value) => isInteger(type, value))).toEqual([])
  })
})

describe('unscaledAt', () => {
  it('returns the unscaled value of a decimal with the scale of its schema', () => {
    expect(unscaledAt(2, { unscaled: 150n, scale: 2 })).toBe(150n)
  })

  it("rejects another scale with the message of Java's Decimal.fromLogical", () => {
    expect(() => unscaledAt(2, { unscaled: 15n, scale: 1 })).toThrow(
      'Decimal value has mismatching scale for given Decimal schema. Schema has scale 2, value has scale 1.',
    )
  })
})

describe('checkValue', () => {
  it('rejects a decimal with a scale other than that of its schema', () => {
    expect(() => checkValue(decimal(2), { unscaled: 15n, scale: 1 })).toThrow('got the decimal 1.5')
    checkValue(decimal(2), { unscaled: 150n, scale: 2 })
  })

  const order = struct('Order', {
    id: INT64,
    at: TIMESTAMP,
    prices: array(decimal(2)),
    tags: map(STRING, optional(INT8)),
  })
  const good = {
    id: 5n,
    at: new Date(0),
    prices: [{ unscaled: 1n, scale: 2 }],
    tags: new Map([
      ['a', 1],
      ['b', null],
    ]),
  }

  it('accepts valid values', () => {
    checkValue(order, good)
  })

  it.each([
    [{ ...good, id: 1.5 }, '$.id: expected int64, got the number 1.5'],
    [{ ...good, id: 2n ** 63n }, '$.id: expected int64, got the bigint 9223372036854775808'],
    [{ ...good, at: 5 }, '$.at: expected int64 org.apache.kafka.connect.data.Timestamp, got the number 5'],
    [{ ...good, prices: [1] }, '$.prices[0]: expected bytes org.apache.kafka.connect.data.Decimal, got the number 1'],
    [{ ...good, tags: new Map([['a', 128]]) }, '$.tags[a]: expected int8, got the number 128'],
    [{ ...good, tags: { a: 1 } }, '$.tags: expected map, got a Object'],
    [
      { id: 1 },
      '$.at: expected int64 org.apache.kafka.connect.data.Timestamp, got null: the schema is not optional and has no default',
    ],
  ])('reports the path of an invalid value: case %#', (value, message) => {
    expect(() => checkValue(order, value)).toThrow(message)
  })
})
