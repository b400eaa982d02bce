import { describe, expect, it } from 'vitest'
import type { FieldTransform } from '../../../src/formats/field-transform.ts'
import { ProtobufMessages } from '../../../src/formats/protobuf/codec.ts'
import { transformProtobufFields } from '../../../src/formats/protobuf/transform-fields.ts'
import { SchemaError } from '../../../src/formats/schema-error.ts'

const messages = new ProtobufMessages({
  text: `syntax = "proto3"; package shop; import "confluent/meta.proto";
    message Order {
      string note = 1 [(confluent.field_meta) = { tags: "PII" }];
      repeated int32 counts = 2;
      map<string, string> labels = 3;
      map<string, Line> lines = 4;
      oneof payment { string card = 5; int64 cash = 6; }
      Line first = 7;
    }
    message Line { string sku = 1; }`,
})

function run(value: object, change: (value: unknown) => unknown) {
  const seen: (readonly [fullName: string, type: string, tags: readonly string[]])[] = []
  const transform: FieldTransform = ({ fullName, tags }, type, given) => {
    seen.push([fullName, type, tags])
    return change(given)
  }
  const result = transformProtobufFields(
    messages.descriptor(messages.find()),
    value,
    messages.tagsByName(),
    transform,
  ) as Record<string, unknown>
  return { seen, result }
}

describe('transformProtobufFields', () => {
  it('transforms fields, list items and the set member of a oneof, with their tags', () => {
    const { seen, result } = run({ note: 'a', counts: [1, 2], payment: { case: 'cash', value: 5n } }, (value) =>
      typeof value === 'string' ? `<${value}>` : value,
    )
    expect(result).toMatchObject({ note: '<a>', counts: [1, 2], payment: { case: 'cash', value: 5n } })
    expect(seen).toEqual([
      ['shop.Order.note', 'STRING', ['PII']],
      ['shop.Order.counts', 'INT', []],
      ['shop.Order.counts', 'INT', []],
      ['shop.Order.cash', 'LONG', []],
    ])
  })

  it('transforms a map of scalars as a whole, and the messages in a map field by field', () => {
    const { seen, result } = run({ labels: { k: 'a' }, lines: { l: { sku: 'b' } } }, (value) =>
      typeof value === 'string' ? `<${value}>` : { k: 'changed' },
    )
    expect(result).toMatchObject({ labels: { k: 'changed' }, lines: { l: { sku: '<b>' } } })
    expect(seen.map(([name, type]) => [name, type])).toEqual([
      ['shop.Order.note', 'STRING'],
      ['shop.Order.labels', 'MAP'],
      ['shop.Line.sku', 'STRING'],
    ])
  })

  it('does not change the given message', () => {
    const value = { note: 'a', first: { sku: 'b' } }
    const { result } = run(value, () => 'changed')
    expect(result).toMatchObject({ note: 'changed', first: { sku: 'changed' } })
    expect(value).toEqual({ note: 'a', first: { sku: 'b' } })
  })

  it('throws a SchemaError for a value that is not valid for the schema', () => {
    expect(() => run({ first: 7 }, (value) => value)).toThrow(SchemaError)
  })
})
