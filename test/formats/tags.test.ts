import { describe, expect, it } from 'vitest'
import { avroFormat } from '../../src/formats/avro/avro-format.ts'
import type { Format, ParsedSchema } from '../../src/formats/format.ts'
import { jsonFormat } from '../../src/formats/json/json-schema-format.ts'
import { protobufFormat } from '../../src/formats/protobuf/protobuf-format.ts'
import type { SchemaTags } from '../../src/formats/tags.ts'

const at = (entityPath: string, entityType: 'sr_record' | 'sr_field', ...tags: string[]): SchemaTags => ({
  schemaEntity: { entityPath, entityType },
  tags,
})
const parse = (format: Format, text: string): ParsedSchema => format.parse({ text })
const tagged = (format: Format, text: string, add: readonly SchemaTags[], remove: readonly SchemaTags[] = []): string =>
  parse(format, parse(format, text).tagged({ add, remove })).canonical

const LINE = { type: 'record', name: 'Line', fields: [{ name: 'sku', type: 'string' }] }
const ORDER = JSON.stringify({
  type: 'record',
  name: 'Order',
  namespace: 'shop',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'lines', type: ['null', { type: 'array', items: LINE }] },
    { name: 'more', type: { type: 'map', values: 'Line' } },
  ],
})

describe('Avro tags', () => {
  it('can be set on records and fields at any level', () => {
    const changed = tagged(avroFormat, ORDER, [
      at('shop.Order', 'sr_record', 'A'),
      at('.shop.Order.id', 'sr_field', 'B'),
      at('shop.Line.sku', 'sr_field', 'C'),
      // A path without a namespace means a record in any.
      at('Line', 'sr_record', 'D', 'E'),
    ])
    expect(JSON.parse(changed)).toMatchObject({
      'confluent:tags': ['A'],
      fields: [
        { 'confluent:tags': ['B'] },
        {
          type: ['null', { items: { 'confluent:tags': ['D', 'E'], fields: [{ 'confluent:tags': ['C'] }] } }],
        },
        {},
      ],
    })
    expect(parse(avroFormat, changed).tags()).toEqual([
      at('shop.Order', 'sr_record', 'A'),
      at('shop.Order.id', 'sr_field', 'B'),
      at('shop.Line', 'sr_record', 'D', 'E'),
      at('shop.Line.sku', 'sr_field', 'C'),
    ])
  })

  it('include those of referenced types, but can be changed only in the schema itself', () => {
    const schema = avroFormat.parse({
      text: '{"type":"record","name":"Outer","fields":[{"name":"inner","type":"Inner"}]}',
      dependencies: [
        {
          name: 'Inner',
          subject: 'inner',
          version: 1,
          text: '{"type":"record","name":"Inner","fields":[],"confluent:tags":["A"]}',
        },
      ],
    })
    expect(schema.tags()).toEqual([at('Inner', 'sr_record', 'A')])
    expect(() => schema.tagged({ add: [at('Inner', 'sr_record', 'B')], remove: [] })).toThrow(
      "No matching path 'Inner' found in the schema",
    )
  })
})

const PROTO = `syntax = "proto3";
package com.example;

import "confluent/meta.proto";

message Order {
  option (confluent.message_meta).tags = "OTHER";

  int32 id = 1 [
    (confluent.field_meta).tags = "OTHER",
    (confluent.field_meta).tags = "PRIVATE"
  ];
  Line line = 2 [(confluent.field_meta) = {
    doc: "of an order"
  }];
  oneof payment {
    string card = 3;
  }

  message Line {
    int64 sku = 4;
  }
}
`

describe('Protobuf tags', () => {
  it('are stored in options of messages and fields, and are merged with existing tags', () => {
    const changed = tagged(protobufFormat, PROTO, [
      at('Order', 'sr_record', 'PII'),
      at('Order.id', 'sr_field', 'PII', 'PRIVATE'),
      at('.Order.line', 'sr_field', 'PII'),
      at('Order.payment.card', 'sr_field', 'CARD'),
      at('Order.Line.sku', 'sr_field', 'SKU'),
    ])
    expect(changed).toBe(`syntax = "proto3";
package com.example;

import "confluent/meta.proto";

message Order {
  option (confluent.message_meta) = {
    tags: [
      "OTHER",
      "PII"
    ]
  };

  int32 id = 1 [(confluent.field_meta) = {
    tags: [
      "OTHER",
      "PRIVATE",
      "PII"
    ]
  }];
  Line line = 2 [(confluent.field_meta) = {
    doc: "of an order",
    tags: [
      "PII"
    ]
  }];

  oneof payment {
    string card = 3 [(confluent.field_meta) = {
      tags: [
        "CARD"
      ]
    }];
  }

  message Line {
    int64 sku = 4 [(confluent.field_meta) = {
      tags: [
        "SKU"
      ]
    }];
  }
}
`)
    expect(parse(protobufFormat, changed).tags()).toEqual([
      at('Order', 'sr_record', 'OTHER', 'PII'),
      at('Order.card', 'sr_field', 'CARD'),
      at('Order.id', 'sr_field', 'OTHER', 'PRIVATE', 'PII'),
      at('Order.line', 'sr_field', 'PII'),
      at('Order.Line.sku', 'sr_field', 'SKU'),
    ])
  })

  it('are removed together with the option that contains nothing else', () => {
    const left = tagged(
      protobufFormat,
      PROTO,
      [],
      [
        at('Order', 'sr_record', 'OTHER'),
        at('Order.id', 'sr_field', 'OTHER', 'PRIVATE', 'NONE'),
        at('Order.line', 'sr_field', 'NONE'),
      ],
    )
    expect(left).toContain(
      'message Order {\n  int32 id = 1;\n  Line line = 2 [(confluent.field_meta) = {\n    doc: "of an order"\n  }];',
    )
  })
})

const OBJECT = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    'a.b': { type: 'string' },
    lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } } },
    either: { oneOf: [{ type: 'string' }, { type: 'object', properties: { x: {} } }, { type: 'null' }] },
    nullable: { type: ['object', 'null'], properties: { y: {} } },
    both: { type: 'object', properties: { z: {} }, anyOf: [{ not: { type: 'object', properties: { q: {} } } }] },
    when: { if: {}, else: { type: 'object', properties: { t: {} } } },
  },
  definitions: { d: { type: 'object', properties: { w: {} } } },
  $defs: { e: { type: 'object', properties: { v: {} } } },
}

describe('JSON Schema tags', () => {
  const paths = [
    ['object', 'sr_record'],
    ['object.id', 'sr_field'],
    ['object.a.b', 'sr_field'],
    ['object.lines.array.object', 'sr_record'],
    ['object.lines.array.object.sku', 'sr_field'],
    // In the order of their kinds: null, object, string.
    ['object.either.oneof.1.object.x', 'sr_field'],
    ['object.nullable', 'sr_field'],
    ['object.nullable.anyof.1.object.y', 'sr_field'],
    // Two criteria: the combination, then the object.
    ['object.both.allof.0.anyof.0.not.object.q', 'sr_field'],
    ['object.both.allof.1.object.z', 'sr_field'],
    ['object.when.conditional.else.object.t', 'sr_field'],
    ['object.definitions.d.object', 'sr_record'],
    ['object.definitions.d.object.w', 'sr_field'],
    ['object.$defs.e.object.v', 'sr_field'],
  ] as const

  it("can be set on objects and properties, with the paths of Confluent's registry", () => {
    const all = paths.map(([path, type], number) => at(path, type, `T${number}`))
    const changed = tagged(jsonFormat, JSON.stringify(OBJECT), all)
    expect(parse(jsonFormat, changed).tags()).toEqual(expect.arrayContaining(all))
    expect(parse(jsonFormat, changed).tags()).toHaveLength(all.length)
    expect(JSON.parse(changed)).toMatchObject({
      'confluent:tags': ['T0'],
      properties: {
        either: { oneOf: [{}, { properties: { x: { 'confluent:tags': ['T5'] } } }, {}] },
        both: { properties: { z: { 'confluent:tags': ['T9'] } } },
      },
    })
    expect(tagged(jsonFormat, changed, [], all)).toBe(JSON.stringify(OBJECT))
  })

  it('do not follow $refs, which may be circular', () => {
    const loop = '{"type":"object","properties":{"self":{"$ref":"#","confluent:tags":["A"]}}}'
    expect(parse(jsonFormat, loop).tags()).toEqual([at('object.self', 'sr_field', 'A')])
  })
})

describe.each([
  ['AVRO', avroFormat, ORDER, 'shop.Order'],
  ['JSON', jsonFormat, JSON.stringify(OBJECT), 'object'],
  ['PROTOBUF', protobufFormat, PROTO, 'Order'],
])('changing tags in %s', (_, format, text, path) => {
  const gone = at(`${path}.gone`, 'sr_field', 'A')

  it('throws an error for a path that does not exist, unless ignoreMissing is set', () => {
    for (const change of [
      { add: [gone], remove: [] },
      { add: [], remove: [gone] },
    ]) {
      expect(() => parse(format, text).tagged(change)).toThrow(`No matching path '${path}.gone' found in the schema`)
    }
    expect(parse(format, parse(format, text).tagged({ add: [gone], remove: [], ignoreMissing: true })).canonical).toBe(
      parse(format, text).canonical,
    )
  })

  it('adds tags before it removes tags', () => {
    const both = at(path, 'sr_record', 'B')
    const schema = parse(format, tagged(format, text, [at(path, 'sr_record', 'A', 'B')], [both]))
    expect(schema.tags().find(({ schemaEntity }) => schemaEntity.entityPath === path)?.tags).not.toContain('B')
  })
})
