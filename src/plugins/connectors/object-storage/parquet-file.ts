import { createRequire } from 'node:module'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { AVRO_PRECISION, PRECISION_DEFAULT } from '../../../java-compat/avro/names.ts'
import {
  bigintToBytes,
  DataError,
  decimalScale,
  isDecimal,
  isInteger,
  LOGICAL,
  type Schema,
  type SchemaType,
  unscaledAt,
  valueLabel,
} from '../../../sdk/index.ts'
import type { FileEncoder, FileFormat } from './file-format.ts'
import type { ParquetCodec } from './parquet-codec.ts'

/** Estimated bytes of values that are written at once. They are in memory until then. */
const ROW_GROUP_BYTES = 16_777_216
const PAGE_BYTES = 1_048_576

const CODECS = {
  none: { codec: 'UNCOMPRESSED', extension: '.parquet' },
  snappy: { codec: 'SNAPPY', extension: '.snappy.parquet' },
  gzip: { codec: 'GZIP', extension: '.gz.parquet' },
  zstd: { codec: 'ZSTD', extension: '.zstd.parquet' },
} as const

const require = createRequire(import.meta.url)
const COMPRESSORS = {
  SNAPPY: (bytes: Uint8Array) => (require('snappy') as typeof import('snappy')).compressSync(Buffer.from(bytes)),
  GZIP: (bytes: Uint8Array) => gzipSync(bytes),
  ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes),
}

/** Files of Parquet, each with the values of one struct. */
export function parquetFormat(codec: ParquetCodec): FileFormat {
  return {
    extension: CODECS[codec].extension,
    isCompressible: false,
    needsStruct: true,
    pieceBytes: ROW_GROUP_BYTES,
    open(schema) {
      if (schema?.type !== 'struct')
        throw new DataError('only a struct can be written as Parquet: use a converter with schemas, or JSON')
      return new ParquetEncoder(schema, codec)
    },
  }
}

class ParquetEncoder implements FileEncoder {
  readonly #writer: ParquetWriter
  readonly #bytes = new ByteWriter()
  readonly #columns: readonly Column[]
  readonly #names: readonly string[]
  #rows: (readonly unknown[])[] = []
  #lastSize = 0
  length = 0

  constructor(schema: Schema, codec: ParquetCodec) {
    const fields = schema.fields ?? []
    if (fields.length === 0) throw new DataError('a struct without fields cannot be written as Parquet')
    this.#names = fields.map(({ name }) => name)
    this.#columns = fields.map((field) => columnOf(field.name, field.schema))
    const root: SchemaElement = { name: schema.name ?? 'ConnectDefault', num_children: fields.length }
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [root, ...this.#columns.flatMap(({ elements }) => elements)],
      codec: CODECS[codec].codec,
      compressors: COMPRESSORS,
      createdBy: 'weir',
    })
  }

  add(value: unknown): void {
    if (typeof value !== 'object' || value === null) throw new DataError(`expected a struct, got ${valueLabel(value)}`)
    const struct = value as Readonly<Record<string, unknown>>
    const size = { bytes: 0 }
    this.#rows.push(this.#columns.map(({ convert }, at) => convert(struct[this.#names[at]!], size)))
    this.#lastSize = size.bytes
    this.length += size.bytes
  }

  removeLast(): void {
    this.#rows.pop()
    this.length -= this.#lastSize
  }

  take(): Buffer {
    if (this.#rows.length > 0) {
      const columnData: ColumnSource[] = this.#names.map((name, at) => ({
        name,
        data: this.#rows.map((row) => row[at]),
      }))
      void this.#writer.write({ columnData, rowGroupSize: this.#rows.length, pageSize: PAGE_BYTES })
      this.#rows = []
      this.length = 0
    }
    return this.#written()
  }

  end(): Buffer {
    const rows = this.take()
    void this.#writer.finish()
    return Buffer.concat([rows, this.#written()])
  }

  #written(): Buffer {
    const written = Buffer.from(this.#bytes.getBytes())
    this.#bytes.index = 0
    return written
  }
}

type Size = { bytes: number }
/** Throws a `DataError` for a value that does not match the schema. */
type Convert = (value: unknown, size: Size) => unknown
/** The elements of a column in the schema of the file, and the conversion of its values. */
type Column = { readonly elements: readonly SchemaElement[]; readonly convert: Convert }

function columnOf(name: string, schema: Schema): Column {
  const { elements, convert } = presentColumn(name, schema)
  const [first, ...others] = elements
  const { optional, default: fallback } = schema
  const repetition_type = optional ? 'OPTIONAL' : 'REQUIRED'
  return {
    elements: [{ ...first!, repetition_type }, ...others],
    convert(value, size) {
      const given = value ?? fallback
      if (given !== null && given !== undefined) return convert(given, size)
      if (optional) return null
      throw new DataError(`expected ${schema.name ?? schema.type} for '${name}', got null: the schema is not optional`)
    },
  }
}

function presentColumn(name: string, schema: Schema): Column {
  switch (schema.type) {
    case 'struct': {
      const fields = schema.fields ?? []
      if (fields.length === 0) throw new DataError(`the struct '${name}' without fields cannot be written as Parquet`)
      const columns = fields.map((field) => ({ name: field.name, column: columnOf(field.name, field.schema) }))
      return {
        elements: [{ name, num_children: fields.length }, ...columns.flatMap(({ column }) => column.elements)],
        convert(value, size) {
          if (typeof value !== 'object' || value === null) misfit(name, schema, value)
          const struct = value as Readonly<Record<string, unknown>>
          return Object.fromEntries(
            columns.map((field) => [field.name, field.column.convert(struct[field.name], size)]),
          )
        },
      }
    }
    case 'array': {
      const item = columnOf('element', schema.items!)
      return {
        elements: [
          { name, num_children: 1, converted_type: 'LIST' },
          { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
          ...item.elements,
        ],
        convert(value, size) {
          if (!Array.isArray(value)) return misfit(name, schema, value)
          return value.map((one: unknown) => item.convert(one, size))
        },
      }
    }
    case 'map': {
      const [key, item] = [columnOf('key', { ...schema.keys!, optional: false }), columnOf('value', schema.items!)]
      return {
        elements: [
          { name, num_children: 1, converted_type: 'MAP' },
          { name: 'key_value', num_children: 2, repetition_type: 'REPEATED' },
          ...key.elements,
          ...item.elements,
        ],
        convert(value, size) {
          if (!(value instanceof Map)) return misfit(name, schema, value)
          return [...value].map(([one, held]) => ({ key: key.convert(one, size), value: item.convert(held, size) }))
        },
      }
    }
    default:
      return scalarColumn(name, schema)
  }
}

/** A type of the file, the bytes that a value takes without its text, and the conversion of a value; undefined if it does not match. */
type Scalar = {
  readonly element: Omit<SchemaElement, 'name'>
  readonly bytes: number
  readonly read: (value: unknown) => unknown
}

function scalarColumn(name: string, schema: Schema): Column {
  const { element, bytes, read } = logicalScalar(schema) ?? SCALARS[schema.type as keyof typeof SCALARS]
  return {
    elements: [{ name, ...element }],
    convert(value, size) {
      const converted = read(value)
      if (converted === undefined) misfit(name, schema, value)
      size.bytes += bytes + (typeof converted === 'string' || converted instanceof Uint8Array ? converted.length : 0)
      return converted
    },
  }
}

const int32 = (type: 'int8' | 'int16' | 'int32'): Scalar => ({
  element: { type: 'INT32' },
  bytes: 4,
  read: (value) => (isInteger(type, value) ? Number(value) : undefined),
})
const ofType = (element: Scalar['element'], bytes: number, type: 'boolean' | 'number' | 'string'): Scalar => ({
  element,
  bytes,
  read: (value) => (typeof value === type ? value : undefined),
})

const SCALARS: Readonly<Record<Exclude<SchemaType, 'struct' | 'array' | 'map'>, Scalar>> = {
  int8: int32('int8'),
  int16: int32('int16'),
  int32: int32('int32'),
  int64: {
    element: { type: 'INT64' },
    bytes: 8,
    read: (value) => (isInteger('int64', value) ? BigInt(value) : undefined),
  },
  float32: ofType({ type: 'FLOAT' }, 4, 'number'),
  float64: ofType({ type: 'DOUBLE' }, 8, 'number'),
  boolean: ofType({ type: 'BOOLEAN' }, 1, 'boolean'),
  string: ofType({ type: 'BYTE_ARRAY', converted_type: 'UTF8' }, 4, 'string'),
  bytes: {
    element: { type: 'BYTE_ARRAY' },
    bytes: 4,
    read: (value) => (value instanceof Uint8Array ? value : undefined),
  },
}

const DAY_MS = 86_400_000

function logicalScalar(schema: Schema): Scalar | undefined {
  if (schema.name === LOGICAL.time) return ofType({ type: 'INT32', converted_type: 'TIME_MILLIS' }, 4, 'number')
  if (schema.name === LOGICAL.date)
    return {
      element: { type: 'INT32', converted_type: 'DATE' },
      bytes: 4,
      read: (value) => (value instanceof Date ? Math.floor(value.getTime() / DAY_MS) : undefined),
    }
  if (schema.name === LOGICAL.timestamp)
    return {
      element: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
      bytes: 8,
      read: (value) => (value instanceof Date ? BigInt(value.getTime()) : undefined),
    }
  if (schema.name !== LOGICAL.decimal) return undefined
  const scale = decimalScale(schema)
  const precision = Number(schema.parameters?.[AVRO_PRECISION] ?? PRECISION_DEFAULT)
  return {
    // With `converted_type`, the library would write zero as no bytes, which readers reject.
    element: { type: 'BYTE_ARRAY', logical_type: { type: 'DECIMAL', scale, precision }, scale, precision },
    bytes: 4,
    read: (value) => (isDecimal(value) ? bigintToBytes(unscaledAt(scale, value)) : undefined),
  }
}

function misfit(name: string, schema: Schema, value: unknown): never {
  throw new DataError(`expected ${schema.name ?? schema.type} for '${name}', got ${valueLabel(value)}`)
}
