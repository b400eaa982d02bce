import { expect, it } from 'vitest'
import type { PlainJson } from '../../../src/formats/json/model.ts'
import { fromJsonSchema } from '../../../src/plugins/converters/json-schema/from-json-schema.ts'
import { INT64, optional, type Schema, STRING } from '../../../src/sdk/index.ts'

const OPTIONS = { optionalUnlessRequired: false, flattenSingletons: true, generalized: false, version: undefined }

function read(schema: PlainJson, references: Readonly<Record<string, PlainJson>> = {}): Schema {
  return fromJsonSchema(schema, new Map(Object.entries(references)), OPTIONS)
}

it.each([
  ['an object', { type: 'object', properties: { id: { $ref: '#/definitions/id' } } }, [{ name: 'id', schema: INT64 }]],
  [
    'a choice',
    { oneOf: [{ $ref: '#/definitions/id' }, { type: 'string' }] },
    [
      { name: 'io.confluent.connect.json.OneOf.field.0', schema: optional(INT64) },
      { name: 'io.confluent.connect.json.OneOf.field.1', schema: optional(STRING) },
    ],
  ],
])('%s of another document that holds at once is read with the definitions of that document', (_, other, fields) => {
  const documents = { 'other.json': { ...other, definitions: { id: { type: 'integer' } } } }
  expect(read({ allOf: [{ $ref: 'other.json' }] }, documents).fields).toEqual(fields)
})

it.each([
  ['references that lead in a circle', { $ref: '#/definitions/b' }],
  ['an object of which it is a part itself', { properties: { x: {} }, allOf: [{ $ref: '#/definitions/a' }] }],
])('%s are refused', (_, a) => {
  const schema = { allOf: [{ $ref: '#/definitions/a' }], definitions: { a, b: { $ref: '#/definitions/a' } } }
  expect(() => read(schema)).toThrow('JSON schemas that contain themselves are not supported')
})
