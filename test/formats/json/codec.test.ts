import { describe, expect, it } from 'vitest'
import type { SchemaSource } from '../../../src/formats/format.ts'
import { jsonCodec } from '../../../src/formats/json/codec.ts'
import { jsonFormat } from '../../../src/formats/json/json-schema-format.ts'

const codec = (schema: object, references: Readonly<Record<string, object>> = {}) => {
  const named = Object.entries(references).map(([name, one]) => ({ name, text: JSON.stringify(one) }))
  const dependencies: SchemaSource['dependencies'] = named.map((one) => ({ ...one, subject: one.name, version: 1 }))
  return jsonCodec({ text: JSON.stringify(schema), dependencies }, { validate: true })
}
const decode = (schema: object, text: string) => codec(schema).decode(Buffer.from(text))

const TREE = { type: 'object', properties: { next: { $ref: '#' }, name: { type: 'string' } } }
const DRAFTS = {
  'draft-04': 'http://json-schema.org/draft-04/schema#',
  'draft-06': 'http://json-schema.org/draft-06/schema#',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

describe('jsonCodec with validation', () => {
  it.each(Object.entries(DRAFTS))('validates recursive schemas, with and without an id: %s', (draft, $schema) => {
    const id = draft === 'draft-04' ? 'id' : '$id'
    for (const schema of [
      { $schema, ...TREE },
      { $schema, [id]: 'http://host/tree.json', ...TREE },
    ]) {
      const { encode, decode: read } = codec(schema)
      const value = { next: { next: { name: 'x' } } }
      expect(read(encode(value) as Buffer)).toEqual(value)
      expect(() => encode({ next: { next: { name: 5 } } })).toThrow('#/next/next/name must be string')
    }
  })

  it('resolves `#` in a reference to that reference', () => {
    const schema = { properties: { tree: { $ref: 'tree.json' }, self: { $ref: '#' } }, required: ['tree'] }
    const { encode } = codec(schema, { 'tree.json': TREE })
    expect(() => encode({ tree: { next: {} }, self: { tree: {} } })).not.toThrow()
    expect(() => encode({ tree: { next: { name: 5 } } })).toThrow('#/tree/next/name must be string')
    expect(() => encode({ tree: {}, self: {} })).toThrow('#/self must have required property')
  })

  it.each<[string, object, Readonly<Record<string, object>>]>([
    [
      'under its own id',
      { properties: { a: { $ref: 'http://host/own' } } },
      { 'o.json': { $id: 'http://host/own', type: 'string' } },
    ],
    [
      'with the id of the schema',
      { $id: 'http://host/x', properties: { a: { $ref: 'o.json' } } },
      { 'o.json': { $id: 'http://host/x', type: 'string' } },
    ],
    [
      'with the id of another reference',
      { properties: { a: { $ref: 'o.json' }, b: { $ref: 'p.json' } } },
      { 'p.json': { $id: 'http://host/x', type: 'integer' }, 'o.json': { $id: 'http://host/x', type: 'string' } },
    ],
    [
      'from a reference with an id',
      { properties: { a: { $ref: 'o.json' } } },
      { 'p.json': { type: 'string' }, 'o.json': { $id: 'http://host/o.json', allOf: [{ $ref: 'p.json' }] } },
    ],
    [
      'with a space in its name',
      { properties: { a: { $ref: 'my schema.json' } } },
      { 'my schema.json': { type: 'string' } },
    ],
    [
      'beside another spelling',
      { properties: { a: { $ref: './o.json' } } },
      { './o.json': { type: 'string' }, 'o.json': { type: 'string' } },
    ],
  ])('finds a reference as the registry does: %s', (_, schema, references) => {
    const { encode } = codec(schema, references)
    expect(() => encode({ a: 'x' })).not.toThrow()
    expect(() => encode({ a: 5 })).toThrow('#/a must be string')
    const dependencies = Object.entries(references).map(([name, one]) => ({
      name,
      subject: name,
      version: 1,
      text: JSON.stringify(one),
    }))
    expect(() => jsonFormat.parse({ text: JSON.stringify(schema), dependencies })).not.toThrow()
  })

  it.each([
    [
      'the id of draft-04 in another draft',
      { id: 'http://host/x', type: 'object', properties: { a: { id: 'a', type: 'string' } } },
      { a: 5 },
    ],
    [
      '$async, which belongs to another library',
      { $async: true, type: 'object', properties: { a: { type: 'string' } } },
      { a: 5 },
    ],
    ['a required property that every object inherits', { required: ['a', 'toString'] }, { a: 5 }],
  ])('validates synchronously and without inherited properties: %s', (_, schema, value) => {
    expect(() => codec(schema).encode(value)).toThrow('the value is not valid for its schema')
  })

  it('matches patterns with flags at the start, which the registry accepts', () => {
    const { encode } = codec({ type: 'array', items: [{ pattern: '(?i)^abc$' }, { pattern: '^abc$' }] })
    expect(() => encode(['ABC', 'abc'])).not.toThrow()
    expect(() => encode(['ABC', 'ABC'])).toThrow('#/1 must match pattern')
  })

  it('does not take an inherited property as present', () => {
    expect(() => codec({ dependencies: { constructor: ['b'] } }).encode({})).not.toThrow()
  })

  it('compares the items of a large array in linear time', { tags: ['slow'] }, () => {
    const items = (last: number) =>
      JSON.stringify([...Array.from({ length: 50_000 }, (_, id) => ({ id })), { id: last }])
    expect(decode({ uniqueItems: true }, items(-1))).toHaveLength(50_001)
    expect(() => decode({ uniqueItems: true }, items(7))).toThrow('must NOT have duplicate items')
  })

  it('rejects data that is nested too deeply for a recursive schema', () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(() => decode({ type: 'array', items: { $ref: '#' } }, text)).toThrow(
      'the data is not valid for its schema: the value is nested too deeply',
    )
  })
})
