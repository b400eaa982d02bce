import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BinaryWriter } from '../../../src/common/binary-writer.ts'
import { avroFormat, type ParsedAvro } from '../../../src/formats/avro/avro-format.ts'
import { AvroInput } from '../../../src/formats/avro/avro-input.ts'
import { avroCodec } from '../../../src/formats/avro/codec.ts'
import { avroBytes } from '../../../src/formats/avro/writer.ts'
import { fromAvro } from '../../../src/java-compat/avro/from-avro.ts'
import { toAvroText } from '../../../src/java-compat/avro/to-avro.ts'
import { valueWriter } from '../../../src/java-compat/avro/value-writer.ts'
import {
  array,
  BYTES,
  bigintToBytes,
  DATE,
  decimal,
  INT32,
  INT64,
  optional,
  type Schema,
  STRING,
  struct,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { anyStruct } from '../../plugins/converters/arbitrary-data.ts'
import { propertyRuns } from '../../support/property-seed.ts'

const OPTIONS = {
  metadata: true,
  enums: false,
  shared: false,
  scrub: false,
  optionalKeys: false,
  keepSingletons: false,
  discardTypeDocs: false,
  keepNulls: false,
}

/** The writer and the reader of a Connect schema, and the codec of its Avro schema. */
function pathsOf(schema: Schema) {
  const avro = (avroFormat.parse({ text: toAvroText(schema, OPTIONS) }, { validation: 'strict' }) as ParsedAvro).schema
  const codec = avroCodec(avro)
  const write = valueWriter(schema, avro, OPTIONS)
  const { read } = fromAvro(avro, OPTIONS)
  return {
    codec,
    encode: (value: unknown) => Buffer.from(codec.encode(value)),
    write: (value: unknown) => avroBytes(write, value),
    read: (bytes: Uint8Array) => read(new AvroInput(Buffer.from(bytes))),
  }
}

describe('direct values', () => {
  it('have the bytes of the codec, and are read as they were written', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(anyStruct, ({ schema, value }) => {
        const { codec, encode, write, read } = pathsOf(schema)
        const bytes = write(value)
        // An object of the codec has keys that are numbers first, so that the order of maps can differ.
        const byCodec = encode(codec.decode(bytes))
        expect([byCodec.length, read(byCodec)]).toEqual([bytes.length, read(bytes)])
        expect(write(read(bytes)).toString('hex')).toBe(bytes.toString('hex'))
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it.each([
    0,
    -1,
    63,
    64,
    -65,
    2 ** 31,
    -(2 ** 31) - 1,
    2 ** 49,
    2 ** 52 - 1,
    -(2 ** 52) + 1,
    2 ** 52,
    -(2 ** 52),
    Number.MAX_SAFE_INTEGER,
    2n ** 62n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ])('keep the long %s', (value) => {
    const { codec, encode, write, read } = pathsOf(struct('Row', { value: INT64 }))
    const bytes = write({ value })
    expect(bytes.toString('hex')).toBe(encode({ value }).toString('hex'))
    expect([codec.decode(bytes), read(bytes)]).toEqual([{ value }, { value }])
  })

  it.each([0n, 127n, 128n, -128n, -129n, 2n ** 47n - 1n, 2n ** 47n, -(2n ** 47n), -(2n ** 47n) - 1n, 2n ** 90n])(
    'keep the decimal with the unscaled value %s',
    (unscaled) => {
      const { encode, write, read } = pathsOf(struct('Row', { value: decimal(2) }))
      const value = { unscaled, scale: 2 }
      const bytes = write({ value })
      expect(bytes.toString('hex')).toBe(encode({ value: bigintToBytes(unscaled) }).toString('hex'))
      expect(read(bytes)).toEqual({ value })
    },
  )

  it.each([0, 1, 21, 22, 64, 70_000])('keep texts of %i characters of one to four bytes', (length) => {
    const { encode, write, read } = pathsOf(struct('Row', { value: STRING, end: STRING }))
    for (const character of ['a', 'é', '€', '😀']) {
      const value = { value: character.repeat(length), end: 'end' }
      const bytes = Buffer.from(write(value))
      expect(bytes.equals(encode(value))).toBe(true)
      expect(read(bytes)).toEqual(value)
    }
  })

  it('do not share memory with the values before them', () => {
    const { write } = pathsOf(struct('Row', { value: BYTES }))
    const values = [1, 2, 3].map((fill) => write({ value: Buffer.alloc(30_000, fill) }))
    expect(values.map((bytes) => [bytes.length, bytes.at(3), bytes.at(-1)])).toEqual(
      [1, 2, 3].map((fill) => [30_003, fill, fill]),
    )
  })

  it.each([
    [struct('Row', { value: INT32 }), { value: 2 ** 31 }],
    [struct('Row', { value: INT32 }), { value: 1.5 }],
    [struct('Row', { value: INT64 }), { value: 2n ** 63n }],
    [struct('Row', { value: STRING }), { value: 5 }],
    [struct('Row', { value: STRING }), {}],
    [struct('Row', { value: STRING }), null],
    [struct('Row', { value: decimal(2) }), { value: { unscaled: 1n, scale: 3 } }],
    [struct('Row', { value: TIMESTAMP }), { value: new Date(Number.NaN) }],
    [struct('Row', { value: DATE }), { value: 5 }],
    [struct('Row', { value: array(optional(STRING)) }), { value: ['a', 5] }],
  ])('are not written if the value does not fit the schema: %# %o', (schema, value) => {
    expect(() => pathsOf(schema).write(value)).toThrow(/^expected |not valid for its schema|mismatching scale/)
  })

  it.each([
    ['0a61', 'a text that ends too early'],
    ['01', 'a text of negative length'],
    ['ffffffffffffffffffff01', 'a length of more than 64 bits'],
  ])('are not read from %s: %s', (hex) => {
    const { read } = pathsOf(struct('Row', { value: STRING }))
    expect(() => read(Buffer.from(hex, 'hex'))).toThrow('the bytes are not valid for their schema')
  })

  it('are at most 65,536 records without fields, whose number the length of the data does not limit', () => {
    const { read } = pathsOf(struct('Row', { values: array(struct('Empty', {})) }))
    expect(() => read(new BinaryWriter().zigzag(2 ** 40).uint8(0).bytes)).toThrow('too many values without bytes')
  })
})
