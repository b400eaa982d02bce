import { describe, expect, it } from 'vitest'
import { avroFormat, type ParsedAvro } from '../../../src/formats/avro/avro-format.ts'
import { AvroInput } from '../../../src/formats/avro/avro-input.ts'
import { type FromAvro, fromAvro } from '../../../src/java-compat/avro/from-avro.ts'
import { toAvroText } from '../../../src/java-compat/avro/to-avro.ts'
import {
  array,
  BYTES,
  DATE,
  decimal,
  INT8,
  INT32,
  INT64,
  map,
  optional,
  type Schema,
  STRING,
  struct,
  TIME,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'

const avroOf = (schema: Schema, enums = false): unknown => JSON.parse(toAvroText(schema, { metadata: true, enums }))
const parse = (avro: unknown) => avroFormat.parse({ text: JSON.stringify(avro) }) as ParsedAvro
const connectOf = (avro: unknown, version?: number): FromAvro =>
  fromAvro(parse(avro).schema, { metadata: true, version })

const ENUM = 'io.confluent.connect.avro.Enum'

describe('converting a Connect schema to Avro', () => {
  it('preserves names, order and defaults of a struct', () => {
    const schema = struct('shop.Order', {
      id: INT64,
      note: optional(STRING),
      count: { type: 'int32', default: 1 },
      limit: { type: 'int32', optional: true, default: 5 },
    })
    expect(avroOf(schema)).toEqual({
      type: 'record',
      name: 'shop.Order',
      fields: [
        { name: 'id', type: { type: 'long' } },
        { name: 'note', type: ['null', { type: 'string' }], default: null },
        { name: 'count', type: { type: 'int', 'connect.default': 1 }, default: 1 },
        { name: 'limit', type: [{ type: 'int', 'connect.default': 5 }, 'null'], default: 5 },
      ],
      'connect.name': 'shop.Order',
    })
  })

  it.each<[string, Schema, unknown]>([
    ['a small integer', INT8, { type: 'int', 'connect.type': 'int8' }],
    ['a map with text keys', map(STRING, INT32), { type: 'map', values: { type: 'int' } }],
    [
      'a map with other keys',
      map(INT32, STRING),
      {
        type: 'array',
        items: {
          type: 'record',
          name: 'io.confluent.connect.avro.MapEntry',
          fields: [
            { name: 'key', type: { type: 'int' } },
            { name: 'value', type: { type: 'string' } },
          ],
        },
      },
    ],
    [
      'a decimal',
      decimal(2),
      {
        type: 'bytes',
        scale: 2,
        precision: 64,
        'connect.version': 1,
        'connect.parameters': { scale: '2' },
        'connect.name': 'org.apache.kafka.connect.data.Decimal',
        logicalType: 'decimal',
      },
    ],
    [
      'a date',
      DATE,
      { type: 'int', 'connect.version': 1, 'connect.name': 'org.apache.kafka.connect.data.Date', logicalType: 'date' },
    ],
    [
      'bytes with a default',
      { type: 'bytes', default: Buffer.from([0, 255]) },
      { type: 'bytes', 'connect.default': '\u0000\u00ff' },
    ],
    [
      'a bigint default',
      { type: 'int64', default: 9_007_199_254_740_993n },
      { type: 'long', 'connect.default': Number('9007199254740993') },
    ],
  ])("represents %s as Confluent's converter does", (_what, schema, expected) => {
    expect(avroOf(schema)).toEqual(expected)
  })

  it('formats numeric defaults like Java', () => {
    const options = { metadata: false, enums: false }
    const schema = struct('S', { a: { type: 'float64', default: 1 }, b: { type: 'int64', default: 2n ** 62n } })
    expect(toAvroText(schema, options)).toContain('"default":1.0')
    expect(toAvroText(schema, options)).toContain(`"default":${2n ** 62n}`)
  })

  it('refers to a repeated struct by name, and rejects two structs with the same name', () => {
    const address = struct('Address', { city: STRING })
    expect(avroOf(struct('P', { home: address, work: optional(address) }))).toMatchObject({
      fields: [{ name: 'home' }, { name: 'work', type: ['null', 'Address'] }],
    })
    const other = struct('Address', { street: STRING })
    expect(() => avroOf(struct('P', { home: address, work: other }))).toThrow(
      "two different structs are named 'Address'",
    )
  })

  it('uses different names for the entries of different maps', () => {
    const [byInt, byLong] = [map(INT32, STRING), map(INT64, STRING)]
    const schema = struct('S', { a: byInt, b: byLong, c: byInt })
    const entries = (avroOf(schema) as { fields: { type: { items: { name?: string } | string } }[] }).fields.map(
      ({ type: { items } }) => (typeof items === 'string' ? items : items.name),
    )
    const name = 'io.confluent.connect.avro.MapEntry'
    expect(entries).toEqual([name, `${name}2`, name])
    expect(connectOf(avroOf(schema)).schema).toEqual(schema)
  })

  it('writes a string that was read from an enum as an enum only with enhanced.avro.schema.support', () => {
    const color: Schema = {
      type: 'string',
      parameters: { [ENUM]: 'Color', [`${ENUM}.RED`]: 'RED', [`${ENUM}.BLUE`]: 'BLUE' },
    }
    expect(avroOf(color)).toMatchObject({ type: 'string' })
    expect(avroOf(color, true)).toMatchObject({ type: 'enum', name: 'Color', symbols: ['RED', 'BLUE'] })
  })
})

describe('converting an Avro schema to Connect', () => {
  it('restores a converted Connect schema', () => {
    const schema = struct('shop.Order', {
      id: INT64,
      tiny: INT8,
      price: decimal(2),
      day: DATE,
      at: optional(TIMESTAMP),
      time: TIME,
      tags: array(optional(STRING)),
      byId: map(INT32, BYTES),
      count: { type: 'int32', default: 1, doc: 'how many' },
    })
    expect(connectOf(avroOf(schema)).schema).toEqual(schema)
  })

  it('sets the version of the subject unless the schema has connect.version', () => {
    const record = { type: 'record', name: 'R', fields: [] }
    expect(connectOf(record, 7).schema.version).toBe(7)
    expect(connectOf({ ...record, 'connect.version': 3 }, 7).schema.version).toBe(3)
  })

  it('converts a union of several types to a struct with a field for each', () => {
    const avro = ['null', 'string', 'int', { type: 'record', name: 'a.R', fields: [] }]
    const { schema, read } = connectOf(avro)
    expect(schema).toMatchObject({ type: 'struct', name: 'io.confluent.connect.avro.Union', optional: true })
    expect(schema.fields?.map(({ name }) => name)).toEqual(['string', 'int', 'R'])
    expect(['00', '040a', '06'].map((hex) => read(new AvroInput(Buffer.from(hex, 'hex'))))).toEqual([
      null,
      { int: 5 },
      { R: {} },
    ])
  })

  it('stores documentation and enum symbols as parameters', () => {
    const avro = {
      type: 'record',
      name: 'R',
      doc: 'a record',
      fields: [{ name: 'color', doc: 'a field', type: { type: 'enum', name: 'Color', symbols: ['RED'] } }],
    }
    expect(connectOf(avro).schema).toEqual({
      type: 'struct',
      name: 'R',
      parameters: {
        'io.confluent.connect.avro.record.doc': 'a record',
        'io.confluent.connect.avro.field.doc.color': 'a field',
      },
      fields: [
        {
          name: 'color',
          schema: { type: 'string', name: 'Color', parameters: { [ENUM]: 'Color', [`${ENUM}.RED`]: 'RED' } },
        },
      ],
    })
  })

  it('converts the defaults of fields', () => {
    const avro = {
      type: 'record',
      name: 'R',
      fields: [
        { name: 'n', type: 'long', default: 5 },
        { name: 'b', type: 'bytes', default: '\u00ff' },
        { name: 'd', type: { type: 'int', logicalType: 'date' }, default: 1 },
        { name: 'l', type: { type: 'array', items: 'int' }, default: [1, 2] },
      ],
    }
    const defaults = connectOf(avro).schema.fields?.map(({ schema }) => schema.default)
    expect(defaults).toEqual([5, Buffer.from([255]), new Date(86_400_000), [1, 2]])
  })

  it('rejects a chain of records that each have two fields of the next one, because the Connect schema grows exponentially', {
    tags: ['slow'],
  }, () => {
    const [last, ...others] = Array.from({ length: 40 }, (_, at) => `R${at}`)
    let nested: object = { type: 'record', name: last, fields: [] }
    let before = last
    for (const name of others) {
      const fields = [nested, before].map((type, at) => ({ name: `f${at}`, type }))
      nested = { type: 'record', name, fields }
      before = name
    }
    expect(() => connectOf(nested)).toThrow('has more than 100000 fields')
  })

  it('rejects recursive schemas and the type null', () => {
    const list = { type: 'record', name: 'L', fields: [{ name: 'next', type: ['null', 'L'] }] }
    expect(() => connectOf(list)).toThrow("'L' is recursive")
    expect(() => connectOf('null')).toThrow('Standalone null schemas')
  })
})
