import { describe, expect, it } from 'vitest'
import { jsonSchemaChanges } from '../../../src/formats/json/compatibility.ts'
import { loadJsonSchema } from '../../../src/formats/json/load-json-schema.ts'
import type { Policy } from '../../../src/formats/json/schema-change.ts'
import { SchemaLocation } from '../../../src/formats/json/schema-location.ts'
import type { PlainJson } from '../../../src/formats/json/schema-model.ts'

const modelOf = (schema: PlainJson) => loadJsonSchema(SchemaLocation.ofDocument(schema))

const between = (original: PlainJson, update: PlainJson, policy: Policy = 'STRICT') =>
  jsonSchemaChanges(modelOf(original), modelOf(update), policy).map(({ type, path }) => `${type} #/${path}`)

const closed = (properties: PlainJson, more: object = {}): PlainJson => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
})
const open = (properties: PlainJson, more: object = {}): PlainJson => ({ type: 'object', properties, ...more })
const text = { type: 'string' }
const number = { type: 'number' }

describe('a JSON schema change is compatible if', () => {
  it.each<[string, PlainJson, PlainJson]>([
    [
      'bounds are relaxed or removed',
      { type: 'string', minLength: 2, maxLength: 4, pattern: 'a' },
      { type: 'string', minLength: 1, maxLength: 5 },
    ],
    ['an integer becomes a number', { type: 'integer', multipleOf: 0.3 }, { type: 'number', multipleOf: 0.1 }],
    ['an optional member is added to a closed object', closed({ a: text }), closed({ a: text, b: number })],
    [
      'a required member with a default is added to a closed object',
      closed({}),
      closed({ b: { ...number, default: 1 } }, { required: ['b'] }),
    ],
    ['a member is removed from an open object', open({ a: text, b: number }), open({ a: text })],
    ['a member of any type is added to an open object', open({}), open({ b: {} })],
    ['a removed member is covered by a pattern', open({ abc: text }), open({}, { patternProperties: { '^a': text } })],
    ['enum values are added', { enum: ['a'] }, { enum: ['a', 'b'] }],
    ['types are added', text, { type: ['string', 'null'] }],
    ['union branches are added', { oneOf: [text, number] }, { oneOf: [number, text, { type: 'boolean' }] }],
    ['a schema is removed from an allOf', { allOf: [text, { minLength: 1 }] }, { allOf: [text] }],
    [
      'a forbidden member becomes allowed',
      { type: 'object', properties: { a: false } },
      { type: 'object', properties: { a: text } },
    ],
    ['the schema of a not is narrowed', { not: { type: ['string', 'number'] } }, { not: text }],
    [
      'a recursive definition is moved',
      { $ref: '#/definitions/n', definitions: { n: open({ next: { $ref: '#/definitions/n' } }) } },
      open({ next: { $ref: '#' } }),
    ],
    [
      'a tuple without additional items gets another item',
      { type: 'array', items: [text], additionalItems: false },
      { type: 'array', items: [text, number], additionalItems: false },
    ],
    [
      'the keyword for tuples changes with the draft',
      { type: 'array', items: [text] },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'array', prefixItems: [text] },
    ],
    [
      'both types are bytes of the Connect converter',
      { type: 'number', 'connect.type': 'bytes' },
      { type: 'string', 'connect.type': 'bytes' },
    ],
  ])('%s', (_, original, update) => {
    expect(between(original, update)).toEqual([])
  })
})

describe('a JSON schema change is incompatible if', () => {
  it.each<[string, PlainJson, PlainJson, string[]]>([
    [
      'bounds are tightened',
      { type: 'string', maxLength: 4 },
      { type: 'string', maxLength: 3, minLength: 1, pattern: 'x' },
      ['MAX_LENGTH_DECREASED #/maxLength', 'MIN_LENGTH_ADDED #/minLength', 'PATTERN_ADDED #/pattern'],
    ],
    ['a number becomes an integer', number, { type: 'integer' }, ['TYPE_NARROWED #/']],
    [
      'the type of array items changes',
      open({ a: { type: 'array', items: text } }),
      open({ a: { type: 'array', items: number } }),
      ['TYPE_CHANGED #/properties/a/items'],
    ],
    [
      'a member is added to an open object',
      open({}),
      open({ b: text }),
      ['OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b'],
    ],
    [
      'a member is removed from a closed object',
      closed({ a: text }),
      closed({}),
      ['PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/a'],
    ],
    [
      'a member becomes required',
      open({ a: text }),
      open({ a: text }, { required: ['a'] }),
      ['REQUIRED_ATTRIBUTE_ADDED #/required/a'],
    ],
    [
      'additional members become forbidden',
      open({}),
      closed({}),
      ['ADDITIONAL_PROPERTIES_REMOVED #/additionalProperties'],
    ],
    ['enum values are removed', { enum: ['a', 'b'] }, { enum: ['a'] }, ['ENUM_ARRAY_NARROWED #/enum']],
    ['union branches are removed', { anyOf: [text, number] }, { anyOf: [text] }, ['SUM_TYPE_NARROWED #/']],
    [
      'union branches are replaced',
      { oneOf: [text, number] },
      { oneOf: [text, { type: 'boolean' }] },
      ['COMBINED_TYPE_SUBSCHEMAS_CHANGED #/'],
    ],
    [
      'the schema of a not is extended',
      { not: text },
      { not: { type: ['string', 'number'] } },
      ['NOT_TYPE_EXTENDED #/not'],
    ],
    [
      'a recursive definition changes',
      { $ref: '#/definitions/n', definitions: { n: open({ v: text, n: { $ref: '#/definitions/n' } }) } },
      { $ref: '#/definitions/n', definitions: { n: open({ v: number, n: { $ref: '#/definitions/n' } }) } },
      ['TYPE_CHANGED #/properties/v', 'TYPE_CHANGED #/properties/n/properties/v'],
    ],
  ])('%s', (_, original, update, expected) => {
    expect(between(original, update)).toEqual(expected)
  })

  it('the policy is STRICT, for some changes that LENIENT allows', () => {
    expect(between(open({}), open({ b: text }), 'LENIENT')).toEqual([])
    expect(between(closed({ a: text }), closed({}), 'LENIENT')).toEqual([])
    expect(between(text, number, 'LENIENT')).toEqual(['TYPE_CHANGED #/'])
  })
})

describe('comparing JSON schemas with circular references', () => {
  it('finds a change that shows only in the second pass', () => {
    const tree = (leaf: PlainJson): PlainJson => ({
      $ref: '#/definitions/a',
      definitions: {
        a: { oneOf: [{ $ref: '#/definitions/b' }, { type: 'null' }] },
        b: open({ a: { $ref: '#/definitions/a' }, leaf }),
      },
    })
    expect(between(tree(text), tree(text))).toEqual([])
    expect(between(tree(text), tree(number))).toEqual(['COMBINED_TYPE_SUBSCHEMAS_CHANGED #/'])
  })

  it('takes no exponential time if many definitions refer to each other', () => {
    const names = Array.from({ length: 24 }, (_, at) => `d${at}`)
    const branch = { oneOf: names.map((name) => ({ $ref: `#/definitions/${name}` })) }
    const definitions = Object.fromEntries(
      names.map((name, at) => [name, closed({ [name]: { const: at }, next: branch }, { required: [name] })]),
    )
    const schema: PlainJson = { ...branch, definitions } as PlainJson
    expect(between(schema, structuredClone(schema))).toEqual([])
  })
})
