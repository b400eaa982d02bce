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
  ])('evaluates %s on a struct', (expression, expected) => {
    expect(mapped(expression, record(order, ORDER))).toMatchObject({ value: expected, valueSchema: null })
  })

  it('evaluates expressions on schemaless data and on keys', () => {
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

  it('passes tombstones unchanged', () => {
    const tombstone = record(null, optional(ORDER))
    expect(mapped('value.id', tombstone)).toBe(tombstone)
  })

  it.each([
    ['value.nowhere', /No such key: nowhere/],
    ['value.count + value.price', /no such overload/],
    ['1 / (value.count - 3)', /division by zero/],
    ['value.buyer.name.matches("(")', /missing closing|error parsing/],
  ])('throws a DataError for a record on which %s fails', (expression, message) => {
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
    [Array.from({ length: 1_001 }, () => 'topic').join('+'), /maxAstNodes/],
  ])('rejects the invalid expression %s', (expression, message) => {
    expect(() => transformNamed('Map$Value', { expression })).toThrow(message)
  })

  const doubled = (times: number, first: string, twice: (name: string) => string, last: string): string => {
    const binds = Array.from({ length: times }, (_, n) => `cel.bind(x${n}, ${twice(n === 0 ? first : `x${n - 1}`)}, `)
    return `${binds.join('')}${last.replaceAll('LAST', `x${times - 1}`)}${')'.repeat(times)}`
  }

  it.each([
    ['nested loops', 'value.all(a, value.all(b, value.all(c, true)))'],
    ['loops that continue after an error', 'value.exists(a, value.exists(b, value.exists(c, false))) || true'],
    ['loops that filter', 'value.filter(a, value.exists_one(b, b in value))'],
    ['loops that create items', 'value.map(a, value.map(b, value))'],
    ['concatenations in loops', 'value.map(a, value.map(b, (value + value)[0]))'],
    ['list inspections in loops', 'value.map(a, value.map(b, size(value)))'],
    ['string searches in loops', 'value.map(a, value.map(b, topic.contains("z")))'],
    ['regular expressions in loops', 'value.map(a, value.map(b, topic.matches("z")))'],
    ['lists that grow exponentially', doubled(30, 'value', (name) => `${name} + ${name}`, 'LAST.size()')],
    ['strings that grow exponentially', doubled(30, 'topic', (name) => `${name} + ${name}`, 'LAST.size()')],
    [
      'joined strings that grow exponentially',
      doubled(30, 'topic', (name) => `[${name}, ${name}].join("")`, 'LAST.size()'),
    ],
    ['nested results that grow exponentially', doubled(30, 'value', (name) => `[${name}, ${name}]`, 'LAST')],
    ['comparisons of nested lists', doubled(30, 'value', (name) => `[${name}, ${name}]`, '[LAST] == [LAST] || true')],
    ['comparisons of nested maps', doubled(30, 'value', (name) => `{1: ${name}, 2: ${name}}`, '[LAST] != [LAST]')],
    ['searches in nested lists', doubled(30, 'value', (name) => `[${name}, ${name}]`, 'LAST in [LAST]')],
  ])('limits the steps of %s', { tags: ['slow'] }, (_what, expression) => {
    const given = { ...record(Array.from({ length: 250 }, (_, n) => n)), topic: 'a'.repeat(20_000) }
    expect(() => mapped(expression, given)).toThrow(
      expect.objectContaining({ code: 'data', message: expect.stringContaining('more than 1000000 steps') as string }),
    )
  })

  it('has enough steps per record to compare 700 items pairwise', () => {
    const items = (length: number) => record(Array.from({ length }, (_, n) => n))
    const pairs = (length: number) => mapped('value.all(a, a in value)', items(length))?.value
    expect([pairs(700), pairs(700)]).toEqual([true, true])
    expect(() => pairs(720)).toThrow('more than 1000000 steps')
  })

  it('accepts an expression with the maximum nesting', () => {
    const deep = doubled(45, 'topic', (name) => `${name}.trim()`, 'LAST')
    expect(mapped(deep, record(1))?.value).toBe('eu.orders')
  })

  it('cannot access the process', () => {
    for (const path of ['value.constructor', 'value.__proto__', 'value.toString', 'value.buyer.hasOwnProperty']) {
      expect(() => mapped(path, record(order, ORDER))).toThrow()
    }
  })
})

describe('FilterByExpression', () => {
  const kept = (config: Record<string, string>, given: ConnectRecord) =>
    transformNamed('FilterByExpression', config)(given) === given

  it('keeps records for which the condition is true', () => {
    expect(kept({ condition: 'value.count > 2 && topic.startsWith("eu.")' }, record(order, ORDER))).toBe(true)
    expect(kept({ condition: 'value.count > 2.5 && value.price > 3' }, record(order, ORDER))).toBe(false)
    expect(kept({ condition: 'value.status in ["open", "late"]' }, record({ status: 'late' }))).toBe(true)
  })

  it('keeps tombstones unless configured otherwise', () => {
    const condition = 'value != null'
    expect(kept({ condition }, record(null))).toBe(true)
    expect(kept({ condition, tombstones: 'drop' }, record(null))).toBe(false)
    expect(kept({ condition: 'value == null', tombstones: 'evaluate' }, record(null))).toBe(true)
  })

  it('converts only the parts of a record that the condition uses', () => {
    const given = {
      ...record(order, ORDER),
      get key(): unknown {
        throw new Error('looked at')
      },
    }
    expect(kept({ condition: 'value.count == 3' }, given)).toBe(true)
    expect(() => kept({ condition: 'value.count == 3 && key != null' }, given)).toThrow('looked at')
  })

  it('throws an error for a result that is not a boolean', () => {
    expect(() => kept({ condition: 'value.count' }, record(order, ORDER))).toThrow(
      'the condition must be true or false, got the number 3',
    )
  })

  it('matches regular expressions in linear time', () => {
    const given = record({ text: `${'a'.repeat(50_000)}!` })
    expect(kept({ condition: 'value.text.matches("^(a+)+$")' }, given)).toBe(false)
    expect(kept({ condition: '[value.text].exists(t, t.matches("a!$"))' }, given)).toBe(true)
  })
})
