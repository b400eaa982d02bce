import { describe, expect, it } from 'vitest'
import { fileFormat } from '../../../../src/plugins/connectors/object-storage/file-format.ts'
import { valuePart } from '../../../../src/plugins/connectors/object-storage/record-part.ts'
import {
  SCHEMA_COMPATIBILITIES,
  type SchemaCompatibility,
  SchemaProjector,
} from '../../../../src/plugins/connectors/object-storage/schema-compatibility.ts'
import {
  array,
  FLOAT32,
  FLOAT64,
  INT32,
  INT64,
  map,
  OPTIONAL_STRING,
  optional,
  type Schema,
  STRING,
  struct,
  TIMESTAMP,
} from '../../../../src/sdk/index.ts'
import { MemoryBucket } from '../../../support/memory-object-store.ts'
import { PartitionLog, sinkSettings } from '../../../support/object-sink-run.ts'

const AT = [{ topic: 'orders', partition: 0 }]
const version = (number: number, schema: Schema): Schema => ({ ...schema, version: number })
const V1 = version(1, struct('Order', { n: INT32 }))
const V2 = version(2, struct('Order', { n: INT32, note: { ...OPTIONAL_STRING, default: 'none' } }))
const convert = (mode: SchemaCompatibility, from: Schema | null, to: Schema | null) =>
  new SchemaProjector(mode).conversion(from, to)

/** The files that a sink writes for records with these schemas, as their lines. */
async function filesOf(mode: SchemaCompatibility, schemas: readonly (Schema | null)[]): Promise<readonly string[]> {
  const log = new PartitionLog()
  const bucket = new MemoryBucket()
  const rotation = { ...sinkSettings().rotation, recordsMax: 4 }
  const sink = log.start(sinkSettings({ rotation, projector: new SchemaProjector(mode) }), bucket)
  await sink.open(AT)
  await sink.put(schemas.map((valueSchema, n) => log.record(n, { value: { n, other: true }, valueSchema })))
  await sink.put(Array.from({ length: 4 }, (_, at) => log.record(schemas.length + at)))
  return [...bucket.objects.values()].map((bytes) => bytes.toString().trimEnd().replaceAll('\n', ' ')).slice(0, -1)
}

describe('a record whose schema is not that of its file', () => {
  const alternating = [V1, V1, V2, V1, V2]

  it.each<[SchemaCompatibility, readonly string[]]>([
    ['NONE', ['{"n":0} {"n":1}', '{"n":2,"note":"none"}', '{"n":3}', '{"n":4,"note":"none"}']],
    ['BACKWARD', ['{"n":0} {"n":1}', '{"n":2,"note":"none"} {"n":3,"note":"none"} {"n":4,"note":"none"}']],
    ['FULL', ['{"n":0} {"n":1}', '{"n":2,"note":"none"} {"n":3,"note":"none"} {"n":4,"note":"none"}']],
    ['FORWARD', ['{"n":0} {"n":1} {"n":2} {"n":3}', '{"n":4,"note":"none"}']],
  ])('begins another file or is converted, with %s', async (mode, files) => {
    expect(await filesOf(mode, alternating)).toEqual(files)
  })

  it.each(SCHEMA_COMPATIBILITIES)('begins another file if one of them has no schema, with %s', (mode) => {
    expect(convert(mode, V1, null)).toBeUndefined()
    expect(convert(mode, null, V1)).toBeUndefined()
    expect(convert(mode, null, null)!(7)).toBe(7)
  })

  it('is rejected if a schema has no version, except if no value is converted', async () => {
    const { version: _, ...unversioned } = V2
    expect(() => convert('BACKWARD', V1, unversioned)).toThrow('requires schemas with a version')
    expect(convert('NONE', V1, unversioned)).toBeUndefined()
    expect(convert('FULL', { ...unversioned }, unversioned)!(7)).toBe(7)
    const log = new PartitionLog()
    const sink = log.start(sinkSettings({ projector: new SchemaProjector('FULL') }), new MemoryBucket())
    await sink.open(AT)
    await sink.put([V1, unversioned, V1].map((valueSchema, n) => log.record(n, { value: { n }, valueSchema })))
    expect(log.rejected.map(({ offset }) => offset)).toEqual([1])
  })
})

describe('the conversion to the schema of a file', () => {
  const toNewer = (from: Schema, to: Schema) => convert('BACKWARD', version(1, from), version(2, to))
  const inStruct = (from: Schema, to: Schema) => toNewer(struct('S', { f: from }), struct('S', { f: to }))

  it('widens numbers in all places', () => {
    const schema = (item: Schema) => struct('S', { list: array(item), named: map(STRING, struct('T', { item })) })
    const value = { list: [1.1, null], named: new Map([['a', { item: 2 }]]) }
    expect(toNewer(schema(optional(FLOAT32)), schema(optional(FLOAT64)))!(value)).toEqual(value)
    expect(inStruct(INT64, FLOAT64)!({ f: 2n ** 60n })).toEqual({ f: 2 ** 60 })
    expect(inStruct(INT64, FLOAT32)!({ f: 16_777_217 })).toEqual({ f: 16_777_216 })
    expect(inStruct(INT64, INT32)).toBeUndefined()
    expect(inStruct(INT64, STRING)).toBeUndefined()
  })

  it('takes defaults for what is absent, and needs another file without one', () => {
    const withDefault = { ...INT32, default: 7 }
    expect(inStruct(optional(INT32), withDefault)!({ f: null })).toEqual({ f: 7 })
    expect(inStruct(optional(INT32), INT32)).toBeUndefined()
    expect(inStruct(withDefault, INT64)!({})).toEqual({ f: 7 })
    const other = (schema: Schema) => toNewer(struct('S', { f: INT32 }), struct('S', { g: schema }))
    expect(other(withDefault)!({ f: 1 })).toEqual({ g: 7 })
    expect(other(optional(INT32))!({ f: 1 })).toEqual({ g: null })
    expect(other(INT32)).toBeUndefined()
  })

  it('leaves values of logical types, and needs another file for another type or name', () => {
    const value = { f: new Date(0), g: 1 }
    const from = struct('S', { f: TIMESTAMP, g: INT32 })
    expect(toNewer(from, struct('S', { f: TIMESTAMP, g: INT64 }))!(value)).toEqual(value)
    expect(inStruct(TIMESTAMP, INT64)).toBeUndefined()
    expect(toNewer(struct('S', { f: INT32 }), struct('T', { f: INT32 }))).toBeUndefined()
  })

  it('accepts an enum with more symbols and other documentation, but no other parameters', () => {
    const symbols = (...names: readonly string[]): Schema => ({
      ...STRING,
      parameters: Object.fromEntries(['', ...names].map((name) => [`io.confluent.connect.avro.Enum${name}`, 'E'])),
    })
    expect(inStruct(symbols('.A'), symbols('.A', '.B'))!({ f: 'A' })).toEqual({ f: 'A' })
    expect(inStruct(symbols('.A', '.B'), symbols('.A'))).toBeUndefined()
    const parameters = (text: string): Schema => ({ ...STRING, parameters: { unit: text } })
    expect(inStruct(parameters('m'), parameters('km'))).toBeUndefined()
    expect(inStruct(STRING, { ...STRING, parameters: { 'connect.record.doc': 'text' } })!({ f: 'a' })).toEqual({
      f: 'a',
    })
  })

  it('makes values that Avro can write with the schema of the file', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    const format = fileFormat({ format: 'avro', codec: 'null', options: { metadata: true, enums: true } })
    const settings = sinkSettings({ parts: [valuePart(format)], projector: new SchemaProjector('BACKWARD') })
    const sink = log.start(settings, bucket)
    await sink.open(AT)
    await sink.put([V2, V1, V1].map((valueSchema, n) => log.record(n, { value: { n }, valueSchema })))
    expect(log.rejected).toEqual([])
    expect([...bucket.objects.keys()]).toEqual(['topics/orders/partition=0/orders+0+0000000000.avro'])
  })
})
