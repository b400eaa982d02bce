import { describe, expect, it } from 'vitest'
import { avroFormat, type ParsedAvro } from '../../../src/formats/avro/avro-format.ts'
import { transformAvroFields } from '../../../src/formats/avro/transform-fields.ts'
import { recordingTransform } from '../recording-transform.ts'

const parse = (schema: unknown) => (avroFormat.parse({ text: JSON.stringify(schema) }) as ParsedAvro).schema
const record = (type: unknown, more: object = {}) =>
  parse({ type: 'record', name: 'shop.Order', fields: [{ name: 'f', type, ...more }] })

describe('transformAvroFields', () => {
  it.each<[type: unknown, value: unknown, calls: readonly (readonly [type: string, value: unknown])[], after: unknown]>(
    [
      ['string', 'a', [['STRING', 'a']], '<a>'],
      ['long', 7n, [['LONG', 7n]], '<7>'],
      [{ type: 'enum', name: 'E', symbols: ['A'] }, 'A', [['ENUM', 'A']], '<A>'],
      [
        { type: 'array', items: 'int' },
        [1, 2],
        [
          ['INT', 1],
          ['INT', 2],
        ],
        ['<1>', '<2>'],
      ],
      [{ type: 'map', values: 'string' }, { k: 'a' }, [['STRING', 'a']], { k: '<a>' }],
      [['null', 'string'], null, [], null],
      [['null', 'string'], 'a', [['STRING', 'a']], '<a>'],
      [['int', 'long'], { long: 7 }, [['LONG', 7]], { long: '<7>' }],
      [['null', 'int'], 'a', [], 'a'],
    ],
  )('transforms a field of type %j with the value %o', (type, value, calls, after) => {
    const { transform, seen } = recordingTransform()
    expect(transformAvroFields(record(type), { f: value }, transform)).toEqual({ f: after })
    expect(seen).toEqual(calls.map(([fieldType, given]) => ['shop.Order.f', fieldType, given]))
  })

  it('names the fields of nested records after their record', () => {
    const line = { type: 'record', name: 'Line', fields: [{ name: 'sku', type: 'string' }] }
    const { transform, seen } = recordingTransform()
    const value = { f: [{ sku: 'a' }] }
    expect(transformAvroFields(record({ type: 'array', items: line }), value, transform)).toEqual({
      f: [{ sku: '<a>' }],
    })
    expect(seen).toEqual([['shop.Line.sku', 'STRING', 'a']])
    expect(value).toEqual({ f: [{ sku: 'a' }] })
  })

  it('passes the tags of the field', () => {
    const { transform, tags } = recordingTransform()
    transformAvroFields(record('string', { 'confluent:tags': ['PII'] }), { f: 'a' }, transform)
    expect(tags).toEqual([['PII']])
  })

  it('preserves a field named __proto__', () => {
    const schema = parse({ type: 'record', name: 'R', fields: [{ name: '__proto__', type: 'string' }] })
    const value = JSON.parse('{"__proto__":"a"}')
    expect(JSON.stringify(transformAvroFields(schema, value, recordingTransform().transform))).toBe(
      '{"__proto__":"<a>"}',
    )
  })
})
