import { describe, expect, it } from 'vitest'
import { jsonFormat } from '../../../src/formats/json/json-schema-format.ts'
import type { PlainJson } from '../../../src/formats/json/schema-model.ts'
import { SchemaError } from '../../../src/formats/schema-error.ts'

// What Confluent's registry accepts was recorded with the two libraries it reads schemas with: everit-json-schema 1.14
// up to draft 7, json-sKema from 2019-09 on.

const DANGLING = { $ref: '#/definitions/gone' }
/** Linted as a thenable where it is a plain member. */
const THEN = 'then'
const OLD = 'http://json-schema.org/draft-04/schema#'
const DRAFT_6 = 'http://json-schema.org/draft-06/schema#'
const MODERN = 'https://json-schema.org/draft/2020-12/schema'

const read = (schema: PlainJson, validation: 'strict' | 'loose' = 'strict') =>
  jsonFormat.parse({ text: JSON.stringify(schema) }, { validation })

describe('a new JSON schema with a dangling $ref', () => {
  it.each<PlainJson>([
    { contains: DANGLING },
    { type: 'string', contains: DANGLING },
    { propertyNames: DANGLING },
    { if: DANGLING },
    { if: {}, [THEN]: DANGLING },
    { if: {}, else: DANGLING },
    { [THEN]: DANGLING },
    { not: DANGLING },
    { items: DANGLING },
    { items: {}, additionalItems: DANGLING },
    { type: 'string', properties: { a: DANGLING } },
    { patternProperties: { a: DANGLING } },
    { additionalProperties: DANGLING },
    { dependencies: { a: DANGLING } },
    { properties: { a: { if: DANGLING } } },
    { $schema: DRAFT_6, contains: DANGLING },
    { $schema: MODERN, contains: DANGLING },
    { $schema: MODERN, if: DANGLING },
    { $schema: MODERN, unevaluatedItems: DANGLING },
    { $schema: MODERN, dependentSchemas: { a: DANGLING } },
    { $schema: MODERN, $defs: { a: DANGLING } },
    { $schema: MODERN, properties: { a: { $defs: { b: DANGLING } } } },
    { $schema: MODERN, $dynamicRef: '#/definitions/gone' },
    { $schema: MODERN, $ref: '#/$defs/a', $defs: { a: {} }, contains: DANGLING },
  ])('is rejected: %j', (schema) => {
    expect(() => read(schema)).toThrow("$ref '#/definitions/gone' does not exist in the schema")
    expect(read(schema, 'loose').canonical).toBe(JSON.stringify(schema))
  })

  it.each<PlainJson>([
    { definitions: { a: DANGLING } },
    { $ref: '#/definitions/a', definitions: { a: {} }, contains: DANGLING },
    { $schema: OLD, contains: DANGLING },
    { $schema: OLD, propertyNames: DANGLING },
    { $schema: OLD, if: DANGLING },
    { $schema: DRAFT_6, if: DANGLING },
    { $schema: MODERN, [THEN]: DANGLING },
    { $schema: MODERN, contentSchema: DANGLING },
    { $schema: MODERN, definitions: { a: { b: DANGLING } } },
  ])('is accepted if the draft ignores the keyword: %j', (schema) => {
    expect(read(schema).canonical).toBe(JSON.stringify(schema))
  })
})

describe('a JSON schema with a $ref that is no URI', () => {
  it.each<[schema: PlainJson, message: string]>([
    [{ $ref: 'http://[x' }, "'http://[x' is not a URI"],
    [{ $id: 'urn:example:a', properties: { a: { $ref: 'other.json' } } }, "'other.json' is not a URI"],
    [{ $ref: '#/definitions/%zz' }, "$ref '#/definitions/%zz' does not exist in the schema"],
  ])('is invalid: %j', (schema, message) => {
    expect(() => read(schema)).toThrow(message)
    expect(() => read(schema)).toThrow(SchemaError)
    const stored = read(schema, 'loose')
    expect(() => stored.incompatibilities(stored, { roles: { reader: 'new', writer: 'old' } })).toThrow(SchemaError)
  })

  it('is valid if an invalid escape is the name of a definition', () => {
    expect(read({ $ref: '#/definitions/%zz', definitions: { '%zz': {} } }).type).toBe('JSON')
  })
})

describe('a new JSON schema with a pattern that is invalid in Java', () => {
  it.each<PlainJson>([
    { type: 'string', pattern: '(' },
    { type: 'boolean', pattern: '(' },
    { patternProperties: { '(': {} } },
    { contains: { pattern: '[^]' } },
    { not: { type: 'integer', pattern: 'a{1' } },
    { $schema: MODERN, pattern: '\\q' },
    { $schema: MODERN, $defs: { a: { pattern: '*' } } },
  ])('is rejected: %j', (schema) => {
    expect(() => read(schema)).toThrow(/^the pattern '.+' is invalid: .+ near index \d+$/)
    expect(read(schema, 'loose').canonical).toBe(JSON.stringify(schema))
  })

  it.each<PlainJson>([
    { pattern: '(?<=a)b++' },
    { definitions: { a: { pattern: '(' } } },
    { enum: [{ pattern: '(' }] },
  ])('is accepted if the pattern is valid in Java or is not a keyword: %j', (schema) => {
    expect(read(schema).canonical).toBe(JSON.stringify(schema))
  })
})

describe('keywords of a type other than the declared type', () => {
  const changesBetween = (before: PlainJson, after: PlainJson) =>
    read(after)
      .incompatibilities(read(before), { roles: { reader: 'new', writer: 'old' } })
      .map(({ type }) => type)

  it.each<[before: PlainJson, after: PlainJson, changes: readonly string[]]>([
    [{ type: 'boolean' }, { type: 'boolean', maxLength: 5 }, ['TYPE_CHANGED']],
    [{ type: 'boolean', maxLength: 5 }, { type: 'boolean' }, []],
    [{ type: 'boolean', maxLength: 5 }, { type: 'boolean', maxLength: 3 }, ['COMBINED_TYPE_SUBSCHEMAS_CHANGED']],
    [{ type: 'boolean', maxLength: 3 }, { type: 'boolean', maxLength: 5 }, []],
    [{ type: 'string' }, { type: 'string', required: ['a'] }, ['TYPE_CHANGED']],
    [{ type: 'integer' }, { type: 'integer', format: 'int32' }, ['TYPE_CHANGED']],
    [{ type: 'string' }, { type: 'string', format: 'date' }, []],
    [{ type: 'integer' }, { type: 'integer', minimum: -1 }, ['MINIMUM_ADDED']],
    [{ type: ['boolean', 'null'] }, { type: ['boolean', 'null'], maxLength: 5 }, ['COMBINED_TYPE_CHANGED']],
    [{ type: ['string', 'null'], maxLength: 3 }, { type: ['string', 'null'], maxLength: 5 }, []],
    [{ $schema: MODERN, type: 'boolean' }, { $schema: MODERN, type: 'boolean', maxLength: 5 }, ['TYPE_CHANGED']],
    [{ $schema: MODERN, type: 'integer' }, { $schema: MODERN, type: 'integer', format: 'int32' }, []],
    [{ $schema: OLD, type: 'string' }, { $schema: OLD, type: 'string', contains: {} }, []],
  ])('are compared as part of the schema: from %j to %j', (before, after, changes) => {
    expect(changesBetween(before, after)).toEqual(changes)
  })
})
