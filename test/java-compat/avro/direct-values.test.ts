import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { avroFormat, type ParsedAvro } from '../../../src/formats/avro/avro-format.ts'
import { avroCodec } from '../../../src/formats/avro/codec.ts'
import { ByteInput, UNREADABLE } from '../../../src/java-compat/avro/byte-input.ts'
import { ByteOutput } from '../../../src/java-compat/avro/byte-output.ts'
import { avroEncoder } from '../../../src/java-compat/avro/encoder.ts'
import { fromAvro } from '../../../src/java-compat/avro/from-avro.ts'
import { toAvroText } from '../../../src/java-compat/avro/to-avro.ts'
import { valueReader } from '../../../src/java-compat/avro/value-reader.ts'
import { valueWriter } from '../../../src/java-compat/avro/value-writer.ts'
import {
  array,
  BYTES,
  DATE,
  decimal,
  INT32,
  INT64,
  map,
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

/** The direct path of a Connect schema, and that with the codec. */
function pathsOf(schema: Schema) {
  const avro = (avroFormat.parse({ text: toAvroText(schema, OPTIONS) }, { validation: 'strict' }) as ParsedAvro).schema
  const codec = avroCodec(avro)
  const encode = avroEncoder(schema, avro, OPTIONS)
  const from = fromAvro(avro, OPTIONS)
  return {
    write: valueWriter(schema, avro, OPTIONS),
    read: valueReader(avro, from.schema),
    encode: (value: unknown) => Buffer.from(codec.encode(encode(value))),
    decode: (bytes: Uint8Array) => from.decode(codec.decode(bytes)),
  }
}

function written(write: ReturnType<typeof valueWriter>, value: unknown): Buffer | undefined {
  const output = new ByteOutput()
  return write?.(output, value) ? output.take() : undefined
}

function read(reader: ReturnType<typeof valueReader>, bytes: Uint8Array): unknown {
  const input = new ByteInput()
  input.open(Buffer.from(bytes), 0)
  return reader!(input)
}

describe('direct values', () => {
  it('have the same bytes and values as those of the codec', () => {
    fc.assert(
      fc.property(anyStruct, ({ schema, value }) => {
        const { write, read: reader, encode, decode } = pathsOf(schema)
        const bytes = encode(value)
        const direct = written(write, value)
        if (direct !== undefined) expect(direct.toString('hex')).toBe(bytes.toString('hex'))
        if (reader !== undefined) expect(read(reader, bytes)).toEqual(decode(bytes))
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
    const { write, read: reader, encode } = pathsOf(struct('Row', { value: INT64 }))
    const bytes = written(write, { value })!
    expect(bytes.toString('hex')).toBe(encode({ value }).toString('hex'))
    expect(read(reader, bytes)).toEqual({ value })
  })

  it.each([0n, 127n, 128n, -128n, -129n, 2n ** 47n - 1n, 2n ** 47n, -(2n ** 47n), -(2n ** 47n) - 1n, 2n ** 90n])(
    'keep the decimal with the unscaled value %s',
    (unscaled) => {
      const { write, read: reader, encode } = pathsOf(struct('Row', { value: decimal(2) }))
      const value = { unscaled, scale: 2 }
      const bytes = written(write, { value })!
      expect(bytes.toString('hex')).toBe(encode({ value }).toString('hex'))
      expect(read(reader, bytes)).toEqual({ value })
    },
  )

  it.each([0, 1, 21, 22, 64, 70_000])('keep texts of %i characters of one to four bytes', (length) => {
    const { write, read: reader, encode } = pathsOf(struct('Row', { value: STRING, end: STRING }))
    for (const character of ['a', 'é', '€', '😀']) {
      const value = { value: character.repeat(length), end: 'end' }
      const bytes = written(write, value)!
      expect(bytes.equals(encode(value))).toBe(true)
      expect(read(reader, bytes)).toEqual(value)
    }
  })

  it('do not share memory with the values before them', () => {
    const { write } = pathsOf(struct('Row', { value: BYTES }))
    const output = new ByteOutput()
    const values = [1, 2, 3].map((fill) => {
      write!(output, { value: Buffer.alloc(30_000, fill) })
      return output.take()
    })
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
    expect(written(pathsOf(schema).write, value)).toBeUndefined()
  })

  it.each([
    ['0a61', 'a text that ends too early'],
    ['01', 'a text of negative length'],
    ['ffffffffffffffffffff01', 'a length of more than 64 bits'],
  ])('are not read from %s: %s', (hex) => {
    const { read: reader } = pathsOf(struct('Row', { value: STRING }))
    expect(() => read(reader, Buffer.from(hex, 'hex'))).toThrow(UNREADABLE)
  })

  it('are not used for maps, which only the codec writes and reads', () => {
    const { write, read: reader } = pathsOf(struct('Row', { value: map(STRING, INT32) }))
    expect([write, reader]).toEqual([undefined, undefined])
  })

  it('are not used to read records without fields: the length of the data does not limit how many there are', () => {
    expect(pathsOf(struct('Row', { values: array(struct('Empty', {})) })).read).toBeUndefined()
  })
})
