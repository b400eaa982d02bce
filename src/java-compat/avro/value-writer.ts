import type { AvroRecord, AvroSchema, AvroUnion } from '../../formats/avro/avro-schema.ts'
import { decimalScale, type IntegerType, isDecimal, isInteger, LOGICAL, type Schema } from '../../sdk/index.ts'
import type { ByteOutput } from './byte-output.ts'
import { type EncoderOptions, isLike, withoutDefault } from './encoder.ts'
import { isUnion, scrubbedPart } from './names.ts'

/** Writes a value. Returns false for a value that it does not write: then `avroEncoder` and the codec decide. */
export type ValueWriter = (to: ByteOutput, value: unknown) => boolean

/**
 * Creates a writer from a Connect value directly to Avro's binary encoding, in half of the time of `avroEncoder` and the
 * codec, which need objects in between. Returns undefined for the schemas that only those support: unions of several types,
 * enums, maps, fixed, and fields that have only an Avro schema.
 */
export function valueWriter(schema: Schema, avro: AvroSchema, options: EncoderOptions): ValueWriter | undefined {
  const write = avro.type === 'union' ? unionWriter(schema, avro, options) : presentWriter(schema, avro, options)
  const { default: fallback, optional } = schema
  if (write === undefined || fallback === undefined || fallback === null || (options.keepNulls && optional))
    return write
  return (to, value) => write(to, value ?? fallback)
}

function unionWriter(schema: Schema, { branches }: AvroUnion, options: EncoderOptions): ValueWriter | undefined {
  const index = branches.findIndex(({ type }) => type !== 'null')
  const nullIndex = branches.findIndex(({ type }) => type === 'null')
  if (isUnion(schema) || branches.length > 2 || index < 0 || (branches.length === 2 && nullIndex < 0)) return undefined
  const write = presentWriter(schema, branches[index]!, options)
  if (write === undefined) return undefined
  return (to, value) => {
    if (value === null || value === undefined) {
      to.long(nullIndex)
      return nullIndex >= 0
    }
    to.long(index)
    return write(to, value)
  }
}

function presentWriter(schema: Schema, avro: AvroSchema, options: EncoderOptions): ValueWriter | undefined {
  if (!isLike(schema, avro, options)) return undefined
  if (schema.name === LOGICAL.decimal) {
    return avro.type === 'bytes' ? decimalWriter(decimalScale(schema)) : undefined
  }
  if (schema.name === LOGICAL.date) {
    return (to, value) => value instanceof Date && writeInt(to, Math.floor(value.getTime() / 86_400_000))
  }
  if (schema.name === LOGICAL.timestamp) return (to, value) => value instanceof Date && writeLong(to, value.getTime())
  switch (avro.type) {
    case 'record':
      return recordWriter(schema, avro, options)
    case 'array':
      return schema.type === 'array' ? arrayWriter(schema, avro.items, options) : undefined
    case 'int':
    case 'long': {
      const write = avro.type === 'int' ? writeInt : writeLong
      if (schema.type !== 'int8' && schema.type !== 'int16') return write
      const type: IntegerType = schema.type
      return (to, value) => isInteger(type, value) && write(to, value)
    }
    default:
      return SCALARS[avro.type]
  }
}

const SCALARS: Readonly<Partial<Record<AvroSchema['type'], ValueWriter>>> = {
  boolean(to, value) {
    to.byte(value === true ? 1 : 0)
    return typeof value === 'boolean'
  },
  float(to, value) {
    if (typeof value !== 'number') return false
    to.float(value)
    return true
  },
  double(to, value) {
    if (typeof value !== 'number') return false
    to.double(value)
    return true
  },
  bytes(to, value) {
    if (!(value instanceof Uint8Array)) return false
    to.sized(value)
    return true
  },
  string(to, value) {
    if (typeof value !== 'string') return false
    to.text(value)
    return true
  },
}

function writeInt(to: ByteOutput, value: unknown): boolean {
  if (typeof value !== 'number' || value !== (value | 0)) return false
  to.long(value)
  return true
}

function writeLong(to: ByteOutput, value: unknown): boolean {
  if (!isInteger('int64', value)) return false
  to.long(value)
  return true
}

function decimalWriter(scale: number): ValueWriter {
  return (to, value) => {
    if (!isDecimal(value) || value.scale !== scale) return false
    to.unscaled(value.unscaled)
    return true
  }
}

function arrayWriter(schema: Schema, avro: AvroSchema, options: EncoderOptions): ValueWriter | undefined {
  const item = valueWriter(withoutDefault(schema.items!), avro, options)
  if (item === undefined) return undefined
  return (to, value) => {
    if (!Array.isArray(value)) return false
    if (value.length > 0) to.long(value.length)
    for (const one of value) if (!item(to, one)) return false
    to.long(0)
    return true
  }
}

function recordWriter(schema: Schema, avro: AvroRecord, options: EncoderOptions): ValueWriter | undefined {
  const fieldOf = new Map(
    schema.fields?.map((field) => [options.scrub ? scrubbedPart(field.name) : field.name, field] as const),
  )
  const fields: { readonly name: string; readonly write: ValueWriter }[] = []
  for (const { name, schema: own } of avro.fields) {
    const field = fieldOf.get(name)
    const write = field && valueWriter(field.schema, own, options)
    if (write === undefined) return undefined
    fields.push({ name: field!.name, write })
  }
  return (to, value) => {
    if (typeof value !== 'object' || value === null) return false
    for (let index = 0; index < fields.length; index++) {
      const { name, write } = fields[index]!
      if (!write(to, (value as Record<string, unknown>)[name])) return false
    }
    return true
  }
}
