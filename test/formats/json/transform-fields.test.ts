import { describe, expect, it } from 'vitest'
import { jsonFieldTransformer } from '../../../src/formats/json/transform-fields.ts'
import { SchemaError } from '../../../src/formats/schema-error.ts'
import { recordingTransform } from '../recording-transform.ts'

type Call = readonly [fullName: string, type: string, value: unknown]

const object = (property: unknown, more: object = {}) => ({ type: 'object', properties: { f: property }, ...more })

describe('jsonFieldTransformer', () => {
  it.each<[schema: unknown, value: unknown, calls: readonly Call[], after: unknown]>([
    [object({ type: 'string' }), { f: 'a' }, [['$.f', 'STRING', 'a']], { f: '<a>' }],
    [object({ type: 'integer' }), { f: 7 }, [['$.f', 'INT', 7]], { f: '<7>' }],
    [object({ type: 'number' }), { f: 7 }, [['$.f', 'DOUBLE', 7]], { f: '<7>' }],
    [object({ enum: ['a'] }), { f: 'a' }, [['$.f', 'ENUM', 'a']], { f: '<a>' }],
    [object({ type: 'array', items: { type: 'string' } }), { f: ['a'] }, [['$.f', 'STRING', 'a']], { f: ['<a>'] }],
    [object({ type: 'array', items: [{ type: 'string' }] }), { f: ['a'] }, [], { f: ['a'] }],
    [object(object({ type: 'string' })), { f: { f: 'a' } }, [['$.f.f', 'STRING', 'a']], { f: { f: '<a>' } }],
    [object({ type: 'string' }), { f: null, other: 'a' }, [], { f: null, other: 'a' }],
    [
      object({ $ref: '#/definitions/d' }, { definitions: { d: { type: 'string' } } }),
      { f: 'a' },
      [['$.f', 'STRING', 'a']],
      { f: '<a>' },
    ],
    [object({ oneOf: [{ type: 'integer' }, { type: 'string' }] }), { f: 'a' }, [['$.f', 'STRING', 'a']], { f: '<a>' }],
    [
      { allOf: [object({ type: 'string' }), { properties: { g: { type: 'string' } } }] },
      { f: 'a', g: 'b' },
      [
        ['$.f', 'STRING', 'a'],
        ['$.g', 'STRING', 'b'],
      ],
      { f: '<a>', g: '<b>' },
    ],
  ])('with the schema %j transforms %j', (schema, value, calls, after) => {
    const { transform, seen } = recordingTransform()
    expect(jsonFieldTransformer({ text: JSON.stringify(schema) })(value, transform)).toEqual(after)
    expect(seen).toEqual(calls)
  })

  it('transforms values by the first matching schema of a oneOf, and by every matching schema of an anyOf', () => {
    const both = [{ type: 'string' }, { type: 'string', minLength: 1 }]
    const transformed = (keyword: string) =>
      jsonFieldTransformer({ text: JSON.stringify(object({ [keyword]: both })) })(
        { f: 'a' },
        recordingTransform().transform,
      )
    expect(transformed('oneOf')).toEqual({ f: '<a>' })
    expect(transformed('anyOf')).toEqual({ f: '<<a>>' })
  })

  it('rejects a schema whose branches name each other twice, in bounded time', () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => {
        const next = { $ref: `#/definitions/d${at + 1}` }
        return [`d${at}`, at < 59 ? { allOf: [next, next] } : { properties: { f: { type: 'string' } } }]
      }),
    )
    const transform = jsonFieldTransformer({ text: JSON.stringify({ $ref: '#/definitions/d0', definitions }) })
    expect(() => transform({ f: 'a' }, recordingTransform().transform)).toThrow(
      '$: too many subschemas apply to the same value',
    )
  })

  it('transforms a value with many members', () => {
    const value = { f: Array.from({ length: 100_000 }, () => 'a') }
    const { transform, seen } = recordingTransform()
    jsonFieldTransformer({ text: JSON.stringify(object({ items: { type: 'string' } })) })(value, transform)
    expect(seen).toHaveLength(100_000)
  })

  it('passes the tags of the property, also of a referenced document', () => {
    const { transform, tags } = recordingTransform()
    const text = JSON.stringify(object({ type: 'string', 'confluent:tags': ['PII'] }))
    jsonFieldTransformer({
      text: '{"$ref":"order.json"}',
      dependencies: [{ name: 'order.json', subject: 'order', version: 1, text }],
    })({ f: 'a' }, transform)
    expect(tags).toEqual([['PII']])
  })

  it('throws a SchemaError for a circular $ref and for a dangling $ref', () => {
    const { transform } = recordingTransform()
    for (const text of ['{"$ref":"#"}', '{"$ref":"#/definitions/gone"}']) {
      expect(() => jsonFieldTransformer({ text })({ f: 'a' }, transform)).toThrow(SchemaError)
    }
  })
})
