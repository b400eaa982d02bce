import { describe, expect, it } from 'vitest'
import type { SchemaSource } from '../../../src/formats/format.ts'
import { jsonCodec } from '../../../src/formats/json/codec.ts'

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
