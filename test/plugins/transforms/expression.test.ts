import { describe, expect, it } from 'vitest'
import {
  type ConnectRecord,
  decimal,
  FLOAT64,
  INT32,
  INT64,
  optional,
  type Schema,
  STRING,
  struct,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { transformNamed } from './transform-named.ts'

const ORDER = struct('Order', {
  id: INT64,
  count: INT32,
  price: FLOAT64,
  tax: decimal(2),
  at: TIMESTAMP,
  note: optional(STRING),
  buyer: struct('Buyer', { name: STRING }),
})
const order = {
  id: 2n ** 60n,
  count: 3,
  price: 2.5,
  tax: { unscaled: 125n, scale: 2 },
  at: new Date('2026-01-02T03:04:05Z'),
  note: null,
  buyer: { name: 'Ada' },
}
const record = (value: unknown, valueSchema: Schema | null = null): ConnectRecord => ({
  topic: 'eu.orders',
  partition: 2,
  key: 'k',
  keySchema: STRING,
  value,
  valueSchema,
  headers: [
    { key: 'trace', schema: STRING, value: 'a' },
    { key: 'trace', schema: STRING, value: 'b' },
  ],
  timestampMs: Date.UTC(2026, 0, 1),
})

describe('Map', () => {
  const mapped = (expression: string, given: ConnectRecord) => transformNamed('Map$Value', { expression })(given)

  it.each<[string, unknown]>([
    ['{"id": value.id, "who": value.buyer.name}', { id: 2n ** 60n, who: 'Ada' }],
    ['value.price * double(value.count)', 7.5],
    ['value.count * 2', 6],
    ['value.tax + 0.25', 1.5],
    ['value.note == null ? "none" : value.note', 'none'],
    ['value.at.getFullYear()', 2026],
    ['value.at + duration("1h")', new Date('2026-01-02T04:04:05Z')],
    ['[topic, key, headers["trace"], string(partition)]', ['eu.orders', 'k', 'b', '2']],
    ['timestamp < timestamp("2026-06-01T00:00:00Z")', true],
    ['offset == null', true],
    ['has(value.nowhere)', false],
    ['value.?nowhere.orValue("else")', 'else'],
    ['value', { ...order, tax: 1.25 }],
  ])('makes of a struct what %s says', (expression, expected) => {
    expect(mapped(expression, record(order, ORDER))).toMatchObject({ value: expected, valueSchema: null })
  })

  it('works on data without a schema, and on keys', () => {
    const given = record({
      lines: [
        { sku: 'a', n: 1 },
        { sku: 'b', n: 0 },
      ],
      rate: 1.5,
    })
    expect(mapped('value.lines.filter(l, l.n > 0).map(l, l.sku)', given)?.value).toEqual(['a'])
    expect(mapped('value.rate * 2.0', given)?.value).toBe(3)
    const keyed = transformNamed('Map$Key', { expression: 'topic + "/" + key' })(given)
    expect([keyed?.key, keyed?.value]).toEqual(['eu.orders/k', given.value])
  })

  it('leaves tombstones as they are', () => {
    const tombstone = record(null, optional(ORDER))
    expect(mapped('value.id', tombstone)).toBe(tombstone)
  })

  it.each([
    ['value.nowhere', /No such key: nowhere/],
    ['value.count + value.price', /no such overload/],
    ['1 / (value.count - 3)', /division by zero/],
    ['value.buyer.name.matches("(")', /missing closing|error parsing/],
  ])('tells a record that %s does not work for', (expression, message) => {
    expect(() => mapped(expression, record(order, ORDER))).toThrow(
      expect.objectContaining({ code: 'data', message: expect.stringMatching(message) as string }),
    )
  })

  it.each([
    ['', /must be non-empty/],
    ['value.', /for configuration expression: Expected IDENTIFIER/],
    ['amount > 1', /Unknown variable: amount/],
    ['"a" + 1', /no such overload|not defined/],
    ['value.constructor.constructor("return 1")()', /Unexpected|call/],
    [`${'('.repeat(200)}1${')'.repeat(200)}`, /depth/i],
  ])('refuses %s in the configuration', (expression, message) => {
    expect(() => transformNamed('Map$Value', { expression })).toThrow(message)
  })

  it('reaches nothing of the program it runs in', () => {
    for (const path of ['value.constructor', 'value.__proto__', 'value.toString', 'value.buyer.hasOwnProperty']) {
      expect(() => mapped(path, record(order, ORDER))).toThrow()
    }
  })
})

describe('FilterByExpression', () => {
  const kept = (config: Record<string, string>, given: ConnectRecord) =>
    transformNamed('FilterByExpression', config)(given) === given

  it('keeps what the condition is true of', () => {
    expect(kept({ condition: 'value.count > 2 && topic.startsWith("eu.")' }, record(order, ORDER))).toBe(true)
    expect(kept({ condition: 'value.count > 2.5 && value.price > 3' }, record(order, ORDER))).toBe(false)
    expect(kept({ condition: 'value.status in ["open", "late"]' }, record({ status: 'late' }))).toBe(true)
  })

  it('keeps tombstones unless told otherwise', () => {
    const condition = 'value != null'
    expect(kept({ condition }, record(null))).toBe(true)
    expect(kept({ condition, tombstones: 'drop' }, record(null))).toBe(false)
    expect(kept({ condition: 'value == null', tombstones: 'evaluate' }, record(null))).toBe(true)
  })

  it('refuses what is neither true nor false', () => {
    expect(() => kept({ condition: 'value.count' }, record(order, ORDER))).toThrow('neither true nor false but 3')
  })

  it('matches in time that grows with the text alone', () => {
    const given = record({ text: `${'a'.repeat(50_000)}!` })
    expect(kept({ condition: 'value.text.matches("^(a+)+$")' }, given)).toBe(false)
    expect(kept({ condition: '[value.text].exists(t, t.matches("a!$"))' }, given)).toBe(true)
  })
})
