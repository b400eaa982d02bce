import { expect, it } from 'vitest'
import { SchemaLocation } from '../../../src/formats/json/schema-location.ts'
import type { PlainJson } from '../../../src/formats/json/schema-model.ts'
import { fromJsonSchema } from '../../../src/plugins/converters/json-schema/from-json-schema.ts'
import { INT64, optional, type Schema, STRING } from '../../../src/sdk/index.ts'

const OPTIONS = { optionalUnlessRequired: false, flattenSingletons: true, generalized: false, version: undefined }

function read(schema: PlainJson, references: Readonly<Record<string, PlainJson>> = {}): Schema {
  return fromJsonSchema(SchemaLocation.ofDocument(schema, new Map(Object.entries(references))), OPTIONS)
}

it.each([
  ['an object', { type: 'object', properties: { id: { $ref: '#/definitions/id' } } }, [{ name: 'id', schema: INT64 }]],
  [
    'a oneOf',
    { oneOf: [{ $ref: '#/definitions/id' }, { type: 'string' }] },
    [
      { name: 'io.confluent.connect.json.OneOf.field.0', schema: optional(INT64) },
      { name: 'io.confluent.connect.json.OneOf.field.1', schema: optional(STRING) },
    ],
  ],
])('an allOf reference to another document resolves the definitions of that document: %s', (_, other, fields) => {
  const documents = { 'other.json': { ...other, definitions: { id: { type: 'integer' } } } }
  expect(read({ allOf: [{ $ref: 'other.json' }] }, documents).fields).toEqual(fields)
})

it.each([
  ['circular references', { $ref: '#/definitions/b' }],
  ['an object that includes itself by allOf', { properties: { x: {} }, allOf: [{ $ref: '#/definitions/a' }] }],
])('recursive JSON schemas are rejected: %s', (_, a) => {
  const schema = { allOf: [{ $ref: '#/definitions/a' }], definitions: { a, b: { $ref: '#/definitions/a' } } }
  expect(() => read(schema)).toThrow('recursive JSON schemas are not supported')
})

it.each([
  ['by properties', (next: PlainJson) => ({ type: 'object', properties: { a: next, b: next } })],
  ['by items', (next: PlainJson) => ({ oneOf: [{ type: 'array', items: next }, next] })],
  ['by allOf', (next: PlainJson) => ({ allOf: [next, next] })],
])(
  'a chain of JSON schemas that each refer to the next one twice is rejected, because the Connect schema grows exponentially: %s',
  { tags: ['slow'] },
  (_, twice) => {
    const definitions = Object.fromEntries(
      Array.from({ length: 40 }, (_all, at) => [`d${at}`, twice({ $ref: `#/definitions/d${at + 1}` })]),
    )
    const schema = { $ref: '#/definitions/d0', definitions: { ...definitions, d40: { type: 'integer' } } }
    expect(() => read(schema)).toThrow('has more than 100000 fields')
  },
)

it('the properties of an allOf can have any name', () => {
  const text = '{"allOf":[{"properties":{"__proto__":{"type":"string"}}},{"properties":{"b":{"type":"integer"}}}]}'
  expect(
    read(JSON.parse(text) as PlainJson)
      .fields?.map(({ name }) => name)
      .sort(),
  ).toEqual(['__proto__', 'b'])
})
