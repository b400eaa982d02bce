import { describe, expect, it } from 'vitest'
import type { Policy } from '../../../src/formats/json/change.ts'
import { jsonSchemaChanges } from '../../../src/formats/json/compatibility.ts'
import { loadJsonSchema } from '../../../src/formats/json/load.ts'
import type { PlainJson } from '../../../src/formats/json/model.ts'

const between = (original: PlainJson, update: PlainJson, policy: Policy = 'STRICT') =>
  jsonSchemaChanges(loadJsonSchema(original), loadJsonSchema(update), policy).map(
    ({ type, path }) => `${type} #/${path}`,
  )

const closed = (properties: PlainJson, more: object = {}): PlainJson => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
})
const open = (properties: PlainJson, more: object = {}): PlainJson => ({ type: 'object', properties, ...more })
const text = { type: 'string' }
const number = { type: 'number' }

describe('a new JSON schema reads old data when', () => {
  it.each<[string, PlainJson, PlainJson]>([
    [
      'bounds widen or go',
      { type: 'string', minLength: 2, maxLength: 4, pattern: 'a' },
      { type: 'string', minLength: 1, maxLength: 5 },
    ],
    ['an integer becomes a number', { type: 'integer', multipleOf: 0.3 }, { type: 'number', multipleOf: 0.1 }],
    ['a closed object gets an optional member', closed({ a: text }), closed({ a: text, b: number })],
    [
      'a closed object gets a required member with a default',
      closed({}),
      closed({ b: { ...number, default: 1 } }, { required: ['b'] }),
    ],
    ['an open object loses a member', open({ a: text, b: number }), open({ a: text })],
    ['an open object gets a member that may be anything', open({}), open({ b: {} })],
    ['a removed member is covered by a pattern', open({ abc: text }), open({}, { patternProperties: { '^a': text } })],
    ['an enum grows', { enum: ['a'] }, { enum: ['a', 'b'] }],
    ['a type becomes one of several', text, { type: ['string', 'null'] }],
    ['a union grows', { oneOf: [text, number] }, { oneOf: [number, text, { type: 'boolean' }] }],
    ['a product shrinks', { allOf: [text, { minLength: 1 }] }, { allOf: [text] }],
    [
      'nothing was allowed before',
      { type: 'object', properties: { a: false } },
      { type: 'object', properties: { a: text } },
    ],
    ['less is excluded', { not: { type: ['string', 'number'] } }, { not: text }],
    [
      'a definition moves, and refers to itself',
      { $ref: '#/definitions/n', definitions: { n: open({ next: { $ref: '#/definitions/n' } }) } },
      open({ next: { $ref: '#' } }),
    ],
    [
      'a list of items becomes longer where nothing else was allowed',
      { type: 'array', items: [text], additionalItems: false },
      { type: 'array', items: [text, number], additionalItems: false },
    ],
    [
      'the draft changes its way to list items',
      { type: 'array', items: [text] },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'array', prefixItems: [text] },
    ],
    [
      'both are bytes of a converter',
      { type: 'number', 'connect.type': 'bytes' },
      { type: 'string', 'connect.type': 'bytes' },
    ],
  ])('%s', (_, original, update) => {
    expect(between(original, update)).toEqual([])
  })
})

describe('a new JSON schema breaks readers when', () => {
  it.each<[string, PlainJson, PlainJson, string[]]>([
    [
      'bounds tighten',
      { type: 'string', maxLength: 4 },
      { type: 'string', maxLength: 3, minLength: 1, pattern: 'x' },
      ['MAX_LENGTH_DECREASED #/maxLength', 'MIN_LENGTH_ADDED #/minLength', 'PATTERN_ADDED #/pattern'],
    ],
    ['a number becomes an integer', number, { type: 'integer' }, ['TYPE_NARROWED #/']],
    [
      'a type changes inside',
      open({ a: { type: 'array', items: text } }),
      open({ a: { type: 'array', items: number } }),
      ['TYPE_CHANGED #/properties/a/items'],
    ],
    [
      'an open object gets a member',
      open({}),
      open({ b: text }),
      ['OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b'],
    ],
    [
      'a closed object loses a member',
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
    ['other members are forbidden', open({}), closed({}), ['ADDITIONAL_PROPERTIES_REMOVED #/additionalProperties']],
    ['an enum shrinks', { enum: ['a', 'b'] }, { enum: ['a'] }, ['ENUM_ARRAY_NARROWED #/enum']],
    ['a union shrinks', { anyOf: [text, number] }, { anyOf: [text] }, ['SUM_TYPE_NARROWED #/']],
    [
      'a union has other branches',
      { oneOf: [text, number] },
      { oneOf: [text, { type: 'boolean' }] },
      ['COMBINED_TYPE_SUBSCHEMAS_CHANGED #/'],
    ],
    ['more is excluded', { not: text }, { not: { type: ['string', 'number'] } }, ['NOT_TYPE_EXTENDED #/not']],
    [
      'a recursive definition changes',
      { $ref: '#/definitions/n', definitions: { n: open({ v: text, n: { $ref: '#/definitions/n' } }) } },
      { $ref: '#/definitions/n', definitions: { n: open({ v: number, n: { $ref: '#/definitions/n' } }) } },
      ['TYPE_CHANGED #/properties/v', 'TYPE_CHANGED #/properties/n/properties/v'],
    ],
  ])('%s', (_, original, update, expected) => {
    expect(between(original, update)).toEqual(expected)
  })

  it('the policy is strict, and not when it is lenient', () => {
    expect(between(open({}), open({ b: text }), 'LENIENT')).toEqual([])
    expect(between(closed({ a: text }), closed({}), 'LENIENT')).toEqual([])
    expect(between(text, number, 'LENIENT')).toEqual(['TYPE_CHANGED #/'])
  })

  it('finds a change that only shows when a cycle is gone round again', () => {
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

  it('stays quick where many definitions refer to each other', () => {
    const names = Array.from({ length: 24 }, (_, at) => `d${at}`)
    const branch = { oneOf: names.map((name) => ({ $ref: `#/definitions/${name}` })) }
    const definitions = Object.fromEntries(
      names.map((name, at) => [name, closed({ [name]: { const: at }, next: branch }, { required: [name] })]),
    )
    const schema: PlainJson = { ...branch, definitions } as PlainJson
    expect(between(schema, structuredClone(schema))).toEqual([])
  })
})
