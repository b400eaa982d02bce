import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { avroFormat } from '../../../src/formats/avro/avro-format.ts'
import { avroPair } from '../../support/avro-schemas.ts'
import { propertyRuns } from '../../support/property-seed.ts'

const parse = (schema: unknown) =>
  avroFormat.parse({ text: typeof schema === 'string' ? schema : JSON.stringify(schema) }, { validation: 'loose' })
const equivalent = (one: unknown, other: unknown) => parse(one).isEquivalent(parse(other))

const record = (more: object, field: object = {}) => ({
  type: 'record',
  name: 'n.R',
  fields: [{ name: 'a', type: 'int', ...field }],
  ...more,
})

describe('avroEquivalent is true', () => {
  it.each([
    [
      'properties of a logical type in a different order',
      '{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}',
      '{"type":"bytes","scale":2,"precision":4,"logicalType":"decimal"}',
    ],
    ['members of a property in a different order', record({ p: { a: 1, b: 2 } }), record({ p: { b: 2, a: 1 } })],
    ['aliases in a different order', record({ aliases: ['S', 'T'] }), record({ aliases: ['T', 'S'] })],
    [
      'aliases of a field in a different order',
      record({}, { aliases: ['b', 'c'] }),
      record({}, { aliases: ['c', 'b'] }),
    ],
    ['an alias with and without its namespace', record({ aliases: ['S'] }), record({ aliases: ['n.S'] })],
    ['an error type and a record', record({ type: 'error' }), record({})],
    ['different notations of the same number', '{"type":"int","p":1.0}', '{"type":"int","p":1.00}'],
  ])('for %s', (_, one, other) => expect(equivalent(one, other)).toBe(true))

  it('for recursive schemas', () => {
    const list = (p: object) => ({
      type: 'record',
      name: 'List',
      fields: [{ name: 'next', type: ['null', 'List'] }],
      ...p,
    })
    expect(equivalent(list({ a: 1, b: 2 }), list({ b: 2, a: 1 }))).toBe(true)
    expect(equivalent(list({ a: 1 }), list({ a: 2 }))).toBe(false)
  })
})

describe('avroEquivalent is false', () => {
  it.each([
    ['documentation', record({ doc: 'x' }), record({})],
    ['documentation of a field', record({}, { doc: 'x' }), record({})],
    ['a default', record({}, { default: 1 }), record({}, { default: 2 })],
    ['the order of a field', record({}, { order: 'ignore' }), record({})],
    ['a property', '{"type":"int","p":1}', '{"type":"int","p":2}'],
    ['a property that only one of them has', '{"type":"int","p":1}', '"int"'],
    ['the numbers 1 and 1.0', '{"type":"int","p":1}', '{"type":"int","p":1.0}'],
    ['an alias', record({ aliases: ['S'] }), record({})],
    ['the order of union branches', ['int', 'null'], ['null', 'int']],
    [
      'the order of enum symbols',
      { type: 'enum', name: 'E', symbols: ['A', 'B'] },
      { type: 'enum', name: 'E', symbols: ['B', 'A'] },
    ],
    [
      'the default of an enum',
      { type: 'enum', name: 'E', symbols: ['A'], default: 'A' },
      { type: 'enum', name: 'E', symbols: ['A'] },
    ],
    ['the size of a fixed', { type: 'fixed', name: 'F', size: 1 }, { type: 'fixed', name: 'F', size: 2 }],
    ['a namespace', record({}), record({ name: 'm.R' })],
  ])('for schemas that differ in %s', (_, one, other) => expect(equivalent(one, other)).toBe(false))
})

describe('canEqual', () => {
  const text = (schema: unknown) => (typeof schema === 'string' ? schema : JSON.stringify(schema))
  const canEqual = (one: unknown, other: unknown) => parse(one).canEqual?.(text(other))

  it('is true for the text of each equivalent schema', () => {
    let records = 0
    fc.assert(
      fc.property(avroPair, (pair) => {
        const [one, other] = pair.map((schema) => JSON.stringify(schema)) as [string, string]
        for (const candidate of [one, other, parse(one).canonical, `/* note */ ${one}`]) {
          if (!equivalent(one, candidate)) continue
          records += parse(one).fields.length > 0 ? 1 : 0
          expect(canEqual(one, candidate)).toBe(true)
        }
      }),
    )
    expect(records).toBeGreaterThan(propertyRuns(50))
  })

  it.each([
    ['has another field', record({ fields: [...record({}).fields, { name: 'b', type: 'int' }] }), false],
    ['has a field of another name', record({ fields: [{ name: 'b', type: 'int' }] }), false],
    ['has a field of another type', record({ fields: [{ name: 'a', type: 'long' }] }), true],
    ['names a type, with members that have no meaning', { type: 'n.R', fields: [] }, true],
    ['is no record', '"int"', true],
    ['is not JSON', '{', true],
  ])('tells from the fields of a record whether the text can be equal, if it %s', (_, other, expected) => {
    expect(canEqual(record({}), other)).toBe(expected)
  })
})
