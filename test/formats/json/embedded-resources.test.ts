import { describe, expect, it } from 'vitest'
import { jsonCodec } from '../../../src/formats/json/codec.ts'
import { jsonFormat } from '../../../src/formats/json/json-schema-format.ts'
import { SchemaLocation } from '../../../src/formats/json/schema-location.ts'
import type { PlainJson } from '../../../src/formats/json/schema-model.ts'
import { jsonFieldTransformer } from '../../../src/formats/json/transform-fields.ts'
import { SchemaError } from '../../../src/formats/schema-error.ts'
import { fromJsonSchema } from '../../../src/plugins/converters/json-schema/from-json-schema.ts'
import { recordingTransform } from '../recording-transform.ts'

// A subschema with an `$id` is a schema of its own: references in it are relative to it.

const OLD = 'http://json-schema.org/draft-04/schema#'
const SIX = 'http://json-schema.org/draft-06/schema#'
const SEVEN = 'http://json-schema.org/draft-07/schema#'
const NINE = 'https://json-schema.org/draft/2019-09/schema'
const TWENTY = 'https://json-schema.org/draft/2020-12/schema'

/** `a` has the given schema, which the embedded resource defines. A reference that is resolved against the root finds a boolean. */
type Compound = (innermost: PlainJson) => PlainJson

const outer = { type: 'boolean' }
const CASES: readonly (readonly [title: string, compound: Compound])[] = [
  ...([OLD, SIX, SEVEN, NINE, TWENTY] as const).flatMap(($schema): readonly (readonly [string, Compound])[] => {
    const id = $schema === OLD ? 'id' : '$id'
    const draft = $schema
      .replace(/#$/, '')
      .replace(/\/schema$/, '')
      .replace(/.*\//, '')
    const item = (own: object) => ({ [id]: 'https://ex.com/item', type: 'object', ...own })
    const root = (own: object, definitions: object) => ({
      $schema,
      [id]: 'https://ex.com/root',
      ...own,
      definitions: { x: outer, ...definitions },
    })
    return [
      [
        `${draft}: a pointer`,
        (x) =>
          root(
            { allOf: [{ $ref: 'https://ex.com/item' }] },
            { item: item({ properties: { a: { $ref: '#/definitions/x' } }, definitions: { x } }) },
          ),
      ],
      [
        `${draft}: a pointer in a schema that a pointer into another resource finds`,
        (x) =>
          root(
            { properties: { a: { $ref: '#/definitions/item/definitions/y' } } },
            { item: item({ definitions: { x, y: { $ref: '#/definitions/x' } } }) },
          ),
      ],
      [
        `${draft}: a relative reference`,
        (x) => ({
          $schema,
          [id]: 'https://ex.com/root',
          properties: { a: { [id]: 'folder/', allOf: [{ $ref: 'leaf' }] } },
          definitions: {
            wrong: { [id]: 'https://ex.com/leaf', ...outer },
            right: { [id]: 'https://ex.com/folder/leaf', allOf: [x] },
          },
        }),
      ],
      [
        `${draft}: a URN`,
        (x) => ({
          $schema,
          [id]: 'urn:example:root',
          properties: { a: { $ref: 'urn:example:item#/definitions/x' } },
          definitions: { x: outer, item: { [id]: 'urn:example:item', definitions: { x } } },
        }),
      ],
      [
        `${draft}: an anchor`,
        (x) => {
          const anchor = $schema === NINE || $schema === TWENTY ? { $anchor: 'x' } : { [id]: '#x' }
          return root(
            { allOf: [{ $ref: 'https://ex.com/item' }] },
            {
              x: { ...anchor, ...outer },
              item: item({ properties: { a: { $ref: '#x' } }, definitions: { x: { ...anchor, allOf: [x] } } }),
            },
          )
        },
      ],
    ]
  }),
  ...[OLD, SIX, SEVEN].map(($schema): readonly [string, Compound] => [
    `${$schema}: an id beside a $ref, which is ignored`,
    (x) => ({
      $schema,
      properties: { a: { [$schema === OLD ? 'id' : '$id']: 'https://ex.com/item', $ref: '#/definitions/x' } },
      definitions: { x },
    }),
  ]),
  [
    '2019-09: $recursiveRef to the outermost schema',
    (x) => ({
      $schema: NINE,
      $id: 'https://ex.com/root',
      $recursiveAnchor: true,
      $ref: 'item',
      properties: { b: x },
      $defs: {
        item: { $id: 'item', $recursiveAnchor: true, properties: { a: { $recursiveRef: '#' } } },
      },
    }),
  ],
  [
    '2020-12: $dynamicRef to the outermost anchor',
    (x) => ({
      $schema: TWENTY,
      $id: 'https://ex.com/root',
      $ref: 'item',
      $defs: {
        own: { $dynamicAnchor: 'x', allOf: [x] },
        item: { $id: 'item', properties: { a: { $dynamicRef: '#x' } }, $defs: { any: { $dynamicAnchor: 'x' } } },
      },
    }),
  ],
]
const RECURSIVE = '2019-09: $recursiveRef to the outermost schema'
/** With $recursiveRef, the property `a` is an object again; the innermost schema is that of its property `b`. */
const valueIn = (title: string, value: unknown) => ({ a: title === RECURSIVE ? { b: value } : value })

describe.each(CASES)('references in an embedded schema are resolved against it: %s', (title, compound) => {
  const integer = compound({ type: 'integer', 'confluent:tags': ['PII'] })
  const text = JSON.stringify(integer)

  it('in the comparison of schemas', () => {
    const old = jsonFormat.parse({ text })
    const now = jsonFormat.parse({ text: JSON.stringify(compound({ type: 'boolean' })) })
    const number = jsonFormat.parse({ text: JSON.stringify(compound({ type: 'number' })) })
    const changes = (reader: typeof now, writer: typeof now) =>
      reader.incompatibilities(writer, { roles: { reader: 'new', writer: 'old' } })
    expect(changes(now, old)).not.toEqual([])
    expect(changes(number, old)).toEqual([])
    expect(changes(old, old)).toEqual([])
  })

  it('in the validation of values', () => {
    const { encode } = jsonCodec({ text }, { validate: true })
    expect(() => encode(valueIn(title, 5))).not.toThrow()
    expect(() => encode(valueIn(title, true))).toThrow(`${title === RECURSIVE ? '#/a/b' : '#/a'} must be integer`)
  })
})

it('a schema with its own definitions is read as itself by rules and by converters', () => {
  const schema = {
    $id: 'https://ex.com/root',
    type: 'object',
    properties: { item: { $ref: 'https://ex.com/item' } },
    definitions: {
      x: { type: 'boolean' },
      item: {
        $id: 'https://ex.com/item',
        type: 'object',
        properties: { a: { $ref: '#/definitions/x' }, b: { oneOf: [{ $ref: '#/definitions/x' }, { type: 'null' }] } },
        definitions: { x: { type: 'string', 'confluent:tags': ['PII'] } },
      },
    },
  }
  const { transform, seen } = recordingTransform()
  const value = { item: { a: 'x', b: 'y' } }
  expect(jsonFieldTransformer({ text: JSON.stringify(schema) })(value, transform)).toEqual({
    item: { a: '<x>', b: '<y>' },
  })
  expect(seen).toEqual([
    ['$.item.a', 'STRING', 'x'],
    ['$.item.b', 'STRING', 'y'],
  ])
  const options = { optionalUnlessRequired: false, flattenSingletons: false, generalized: false, version: undefined }
  expect(fromJsonSchema(SchemaLocation.ofDocument(schema), options).fields).toEqual([
    {
      name: 'item',
      schema: {
        type: 'struct',
        fields: [
          { name: 'a', schema: { type: 'string' } },
          { name: 'b', schema: { type: 'string', optional: true } },
        ],
      },
    },
  ])
})

it('a rule is applied to the fields that a dynamic reference finds', () => {
  const { transform, seen } = recordingTransform()
  const schema = {
    $schema: TWENTY,
    $id: 'https://ex.com/root',
    $ref: 'item',
    $defs: {
      own: { $dynamicAnchor: 'x', type: 'object', properties: { secret: { type: 'string' } } },
      item: { $id: 'item', properties: { a: { $dynamicRef: '#x' } }, $defs: { any: { $dynamicAnchor: 'x' } } },
    },
  }
  jsonFieldTransformer({ text: JSON.stringify(schema) })({ a: { secret: 's' } }, transform)
  expect(seen).toEqual([['$.a.secret', 'STRING', 's']])
})

it('a reference to the meta-schema of a draft is one to its published text', () => {
  const { encode } = jsonCodec(
    { text: JSON.stringify({ properties: { schema: { $ref: SEVEN } } }) },
    { validate: true },
  )
  expect(() => encode({ schema: { type: 'string' } })).not.toThrow()
  expect(() => encode({ schema: { type: 'strin' } })).toThrow(
    '#/schema/type must be equal to one of the allowed values',
  )
  expect(() => jsonFormat.parse({ text: '{"$ref":"http://json-schema.org/geo"}' })).toThrow(
    'remote schemas are not fetched',
  )
})

it('a schema whose dynamic anchors have too many combinations is rejected', () => {
  const names = Array.from({ length: 12 }, (_, at) => `n${at}`)
  const next = (at: number) => [{ $ref: `a${at + 1}` }, { $ref: `b${at + 1}` }]
  const resources = names.flatMap((name, at) =>
    ['a', 'b'].map((letter) => ({
      $id: `${letter}${at}`,
      $defs: { own: { $dynamicAnchor: name } },
      anyOf: at === names.length - 1 ? [{ $dynamicRef: `#${name}` }] : next(at),
    })),
  )
  const defs = Object.fromEntries(resources.map((resource) => [resource.$id, resource]))
  const schema = { $schema: TWENTY, $id: 'https://ex.com/root', $ref: 'a0', $defs: defs }
  expect(() => jsonFormat.parse({ text: JSON.stringify(schema) })).toThrow(SchemaError)
  expect(() => jsonFormat.parse({ text: JSON.stringify(schema) })).toThrow('$dynamicAnchor: more than 100 combinations')
})

it('a schema that visits its parts too often for a value rejects the value', { tags: ['slow'] }, () => {
  const definitions = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => {
      const next = { $ref: `#/definitions/d${at + 1}` }
      return [`d${at}`, { allOf: [next, next] }]
    }),
  )
  const text = JSON.stringify({ $ref: '#/definitions/d0', definitions: { ...definitions, d40: { type: 'integer' } } })
  expect(() => jsonCodec({ text }, { validate: true }).encode(5)).toThrow('too many subschemas apply to the same value')
})
