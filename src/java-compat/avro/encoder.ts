import {
  type AvroField,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
  branchName,
} from '../../formats/avro/avro-schema.ts'
import { defineMember } from '../../formats/define-member.ts'
import { toBuffer } from '../../sdk/bytes.ts'
import {
  bigintToBytes,
  DataError,
  type Decimal,
  decimalScale,
  type IntegerType,
  isDecimal,
  isInteger,
  LOGICAL,
  type Schema,
  unscaledAt,
  valueLabel,
} from '../../sdk/index.ts'
import { isUnion, scrubbed, scrubbedPart, unionFieldName } from './names.ts'
import { wireDefault } from './wire-default.ts'

/** Converts a Connect value to the form that the Avro codec encodes. */
export type Encode = (value: unknown) => unknown

export type EncoderOptions = {
  /** Whether invalid characters in names were replaced when the Avro schema was generated (`scrub.invalid.names`). */
  readonly scrub: boolean
  /** Whether a null stays null if the schema is optional and has a default. */
  readonly keepNulls: boolean
}

const asItIs: Encode = (value) => value

/**
 * Creates an encoder for a Connect schema and the Avro schema to write with. Throws a `DataError` if the two schemas do
 * not match. Values that need no conversion are passed through.
 */
export function avroEncoder(schema: Schema, avro: AvroSchema, options: EncoderOptions): Encode {
  const encode = avro.type === 'union' ? unionEncoder(schema, avro, options) : presentEncoder(schema, avro, options)
  const { default: fallback, optional } = schema
  if (fallback === undefined || fallback === null || (options.keepNulls && optional)) return encode
  return (value) => encode(value ?? fallback)
}

function unionEncoder(schema: Schema, avro: AvroUnion, options: EncoderOptions): Encode {
  if (isUnion(schema)) return structUnionEncoder(schema, avro, options)
  const candidates = avro.branches.filter((branch) => branch.type !== 'null')
  const branch = candidates.length === 1 ? candidates[0] : candidates.find((one) => isLike(schema, one, options))
  if (branch === undefined) throw new DataError(`no branch of the Avro union accepts ${schema.name ?? schema.type}`)
  const name = branchName(branch)
  const encode = presentEncoder(schema, branch, options)
  return (value) => (value === null || value === undefined ? null : { [name]: encode(value) })
}

function structUnionEncoder(schema: Schema, avro: AvroUnion, options: EncoderOptions): Encode {
  // With names from other formats, fields are matched to branches by position.
  const present = avro.branches.filter(({ type }) => type !== 'null')
  const byName = new Map(
    [true, false].flatMap((full) => present.map((one) => [unionFieldName(one, full), one] as const)),
  )
  const fields = (schema.fields ?? []).map(({ name, schema: inner }, at) => {
    const branch = byName.get(name) ?? present[at]
    if (branch === undefined) throw new DataError(`the Avro union has no branch '${name}'`)
    return { name, branch: branchName(branch), encode: presentEncoder(inner, branch, options) }
  })
  return (value) => {
    if (value === null || value === undefined) return null
    for (const { name, branch, encode } of fields) {
      const held = (value as Record<string, unknown>)[name]
      if (held !== null && held !== undefined) return { [branch]: encode(held) }
    }
    return null
  }
}

/** Whether values of the Connect schema are written as this Avro type. */
export function isLike(schema: Schema, avro: AvroSchema, options: EncoderOptions): boolean {
  if (avro.type === 'record')
    return schema.type === 'struct' && nameOf(schema.name ?? avro.name.full, options) === avro.name.full
  return AVRO_TYPES[schema.type].includes(avro.type)
}

function nameOf(name: string, { scrub }: EncoderOptions): string {
  return scrub ? scrubbed(name) : name
}

const AVRO_TYPES: Readonly<Record<Schema['type'], readonly AvroSchema['type'][]>> = {
  int8: ['int', 'long'],
  int16: ['int', 'long'],
  int32: ['int', 'long'],
  int64: ['long'],
  float32: ['float', 'double'],
  float64: ['double'],
  boolean: ['boolean'],
  string: ['string', 'enum'],
  bytes: ['bytes', 'fixed'],
  array: ['array'],
  map: ['map', 'array'],
  struct: ['record'],
}

function presentEncoder(schema: Schema, avro: AvroSchema, options: EncoderOptions): Encode {
  if (!isLike(schema, avro, options))
    throw new DataError(`the Avro type ${avro.type} does not accept ${schema.name ?? schema.type}`)
  switch (schema.name) {
    case LOGICAL.decimal:
      return decimalEncoder(schema, avro)
    case LOGICAL.date:
      return (value) => (value instanceof Date ? Math.floor(value.getTime() / 86_400_000) : misfit(schema, value))
    case LOGICAL.timestamp:
      return (value) => (value instanceof Date ? value.getTime() : misfit(schema, value))
    default:
      return avro.type === 'record' ? recordEncoder(schema, avro, options) : plainEncoder(schema, avro, options)
  }
}

function plainEncoder(schema: Schema, avro: AvroSchema, options: EncoderOptions): Encode {
  if (schema.type === 'bytes') {
    return (value) => (value instanceof Uint8Array ? toBuffer(value) : misfit(schema, value))
  }
  if (schema.type === 'int8' || schema.type === 'int16') return integerEncoder(schema)
  if (schema.type === 'map') return mapEncoder(schema, avro, options)
  if (avro.type !== 'array') return asItIs
  const item = avroEncoder(withoutDefault(schema.items!), avro.items, options)
  if (item === asItIs) return asItIs
  return (value) => (Array.isArray(value) ? value.map(item) : misfit(schema, value))
}

/** The Avro codec checks only the ranges of int and long, which are wider than these types. */
function integerEncoder(schema: Schema): Encode {
  const type = schema.type as IntegerType
  return (value) => (isInteger(type, value) ? value : misfit(schema, value))
}

function recordEncoder(schema: Schema, avro: AvroRecord, options: EncoderOptions): Encode {
  const given = new Map(
    schema.fields?.map((field) => [options.scrub ? scrubbedPart(field.name) : field.name, field] as const),
  )
  const fields = avro.fields.map((field) => ({
    name: field.name,
    given: given.get(field.name)?.name ?? field.name,
    encode: fieldEncoder(given.get(field.name)?.schema, field, options),
  }))
  if (fields.every(({ name, given, encode }) => encode === asItIs && given === name)) return asItIs
  return (value) => {
    if (typeof value !== 'object' || value === null) return misfit(schema, value)
    const record: Record<string, unknown> = {}
    for (const { name, given, encode } of fields) {
      defineMember(record, name, encode((value as Record<string, unknown>)[given]))
    }
    return record
  }
}

function fieldEncoder(schema: Schema | undefined, field: AvroField, options: EncoderOptions): Encode {
  if (schema !== undefined) return avroEncoder(schema, field.schema, options)
  if (field.default === undefined)
    throw new DataError(`the record has no field '${field.name}', which its Avro schema requires`)
  const fallback = wireDefault(field.schema, field.default)
  return () => fallback
}

function mapEncoder(schema: Schema, avro: AvroSchema, options: EncoderOptions): Encode {
  if (avro.type === 'map') {
    const item = avroEncoder(withoutDefault(schema.items!), avro.values, options)
    return (value) =>
      value instanceof Map
        ? Object.fromEntries(
            [...value].map(([key, one]) => [typeof key === 'string' ? key : misfit(schema.keys!, key), item(one)]),
          )
        : misfit(schema, value)
  }
  const entry = avro.type === 'array' && avro.items.type === 'record' ? avro.items : undefined
  const [keyField, valueField] = entry?.fields ?? []
  if (keyField === undefined || valueField === undefined)
    throw new DataError('a map requires an Avro map or an array of entries')
  const key = avroEncoder(schema.keys!, keyField.schema, options)
  const item = avroEncoder(withoutDefault(schema.items!), valueField.schema, options)
  return (value) =>
    value instanceof Map
      ? [...value].map(([one, held]) => ({ [keyField.name]: key(one), [valueField.name]: item(held) }))
      : misfit(schema, value)
}

function decimalEncoder(schema: Schema, avro: AvroSchema): Encode {
  const scale = decimalScale(schema)
  const size = avro.type === 'fixed' ? avro.size : 0
  return (value) => {
    if (!isDecimal(value)) return misfit(schema, value)
    return padded(bigintToBytes(unscaledAt(scale, value)), size, value)
  }
}

/** Pads the bytes of a decimal to the size of a fixed, with sign extension. */
function padded(bytes: Buffer, size: number, { unscaled }: Decimal): Buffer {
  if (bytes.length >= size) return bytes
  return Buffer.concat([Buffer.alloc(size - bytes.length, unscaled < 0n ? 0xff : 0), bytes])
}

/** Only fields have defaults: null in a list or map stays null. */
export function withoutDefault({ default: _, ...schema }: Schema): Schema {
  return schema
}

function misfit(schema: Schema, value: unknown): never {
  throw new DataError(`expected ${schema.name ?? schema.type}, got ${valueLabel(value)}`)
}
