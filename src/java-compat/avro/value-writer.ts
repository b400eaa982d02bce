import type { BinaryWriter } from '../../common/binary-writer.ts'
import type { AvroField, AvroRecord, AvroSchema, AvroUnion } from '../../formats/avro/avro-schema.ts'
import { type AvroWrite, avroBytes, avroWriter, writeBlock, writeEntries } from '../../formats/avro/writer.ts'
import {
  bigintToBytes,
  DataError,
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

export type ValueWriterOptions = {
  /** Whether invalid characters in names were replaced when the Avro schema was generated (`scrub.invalid.names`). */
  readonly scrub: boolean
  /** Whether a null stays null if the schema is optional and has a default. */
  readonly keepNulls: boolean
}

/**
 * Creates the function that writes values of a Connect schema as an Avro schema, without objects in between. Throws a
 * `DataError` if the two schemas do not match. The function throws a `DataError` or a `SchemaError` for a value that its
 * schema does not allow.
 */
export function valueWriter(schema: Schema, avro: AvroSchema, options: ValueWriterOptions): AvroWrite {
  const write = avro.type === 'union' ? unionWriter(schema, avro, options) : presentWriter(schema, avro, options)
  const { default: fallback, optional } = schema
  if (fallback === undefined || fallback === null || (options.keepNulls && optional)) return write
  return (to, value) => write(to, value ?? fallback)
}

function unionWriter(schema: Schema, avro: AvroUnion, options: ValueWriterOptions): AvroWrite {
  const { branches } = avro
  const nullIndex = branches.findIndex(({ type }) => type === 'null')
  const writePresent = isUnion(schema) ? structUnionWriter(schema, avro, options) : branchWriter(schema, avro, options)
  return (to, value) => {
    if (value !== null && value !== undefined && writePresent(to, value)) return
    if (nullIndex < 0) misfit(schema, null)
    to.zigzag(nullIndex)
  }
}

/** Returns false if nothing was written because the value represents a null. */
type PresentWrite = (to: BinaryWriter, value: unknown) => boolean

function branchWriter(schema: Schema, { branches }: AvroUnion, options: ValueWriterOptions): PresentWrite {
  const candidates = branches.filter((branch) => branch.type !== 'null')
  const branch = candidates.length === 1 ? candidates[0] : candidates.find((one) => isLike(schema, one, options))
  if (branch === undefined) throw new DataError(`no branch of the Avro union accepts ${schema.name ?? schema.type}`)
  const index = branches.indexOf(branch)
  const write = presentWriter(schema, branch, options)
  return (to, value) => {
    to.zigzag(index)
    write(to, value)
    return true
  }
}

/** The first field that is set is the value of the union. */
function structUnionWriter(schema: Schema, { branches }: AvroUnion, options: ValueWriterOptions): PresentWrite {
  // With names from other formats, fields are matched to branches by position.
  const present = branches.filter(({ type }) => type !== 'null')
  const byName = new Map(
    [true, false].flatMap((full) => present.map((one) => [unionFieldName(one, full), one] as const)),
  )
  const fields = (schema.fields ?? []).map(({ name, schema: inner }, at) => {
    const branch = byName.get(name) ?? present[at]
    if (branch === undefined) throw new DataError(`the Avro union has no branch '${name}'`)
    return { name, index: branches.indexOf(branch), write: presentWriter(inner, branch, options) }
  })
  return (to, value) => {
    for (const { name, index, write } of fields) {
      const held = (value as Record<string, unknown>)[name]
      if (held === null || held === undefined) continue
      to.zigzag(index)
      write(to, held)
      return true
    }
    return false
  }
}

/** Whether values of the Connect schema are written as this Avro type. */
function isLike(schema: Schema, avro: AvroSchema, options: ValueWriterOptions): boolean {
  if (avro.type === 'record')
    return schema.type === 'struct' && nameOf(schema.name ?? avro.name.full, options) === avro.name.full
  return AVRO_TYPES[schema.type].includes(avro.type)
}

function nameOf(name: string, { scrub }: ValueWriterOptions): string {
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

const DAY_MS = 86_400_000

function presentWriter(schema: Schema, avro: AvroSchema, options: ValueWriterOptions): AvroWrite {
  if (!isLike(schema, avro, options))
    throw new DataError(`the Avro type ${avro.type} does not accept ${schema.name ?? schema.type}`)
  if (schema.name === LOGICAL.decimal) return decimalWriter(schema, avro)
  if (avro.type === 'record') return recordWriter(schema, avro, options)
  if (schema.type === 'map') return mapWriter(schema, avro, options)
  if (avro.type === 'array') return arrayWriter(schema, avro.items, options)
  const write = avroWriter(avro, 'wrapped')
  if (schema.name === LOGICAL.date) return (to, value) => write(to, Math.floor(timeOf(schema, value) / DAY_MS))
  if (schema.name === LOGICAL.timestamp) return (to, value) => write(to, timeOf(schema, value))
  switch (schema.type) {
    case 'int8':
    case 'int16': {
      // The Avro type checks only its own range, which is wider.
      const type: IntegerType = schema.type
      return (to, value) => write(to, isInteger(type, value) ? value : misfit(schema, value))
    }
    case 'bytes':
      return (to, value) => write(to, value instanceof Uint8Array ? value : misfit(schema, value))
    default:
      return write
  }
}

function timeOf(schema: Schema, value: unknown): number {
  return value instanceof Date ? value.getTime() : misfit(schema, value)
}

function recordWriter(schema: Schema, avro: AvroRecord, options: ValueWriterOptions): AvroWrite {
  const given = new Map(
    schema.fields?.map((field) => [options.scrub ? scrubbedPart(field.name) : field.name, field] as const),
  )
  const fields = avro.fields.map((field) => {
    const own = given.get(field.name)
    if (own === undefined) return { name: field.name, write: defaultWriter(field) }
    return { name: own.name, write: valueWriter(own.schema, field.schema, options) }
  })
  return (to, value) => {
    if (typeof value !== 'object' || value === null) misfit(schema, value)
    for (let index = 0; index < fields.length; index++) {
      const { name, write } = fields[index]!
      write(to, (value as Record<string, unknown>)[name])
    }
  }
}

/** A field that only the Avro schema has gets its default. */
function defaultWriter(field: AvroField): AvroWrite {
  if (field.default === undefined)
    throw new DataError(`the record has no field '${field.name}', which its Avro schema requires`)
  const bytes = avroBytes(avroWriter(field.schema, 'wrapped'), wireDefault(field.schema, field.default))
  return (to) => {
    to.raw(bytes)
  }
}

function arrayWriter(schema: Schema, avro: AvroSchema, options: ValueWriterOptions): AvroWrite {
  const item = valueWriter(withoutDefault(schema.items!), avro, options)
  return (to, value) => writeBlock(to, Array.isArray(value) ? value : misfit(schema, value), item)
}

function mapWriter(schema: Schema, avro: AvroSchema, options: ValueWriterOptions): AvroWrite {
  if (avro.type === 'map') {
    const item = valueWriter(withoutDefault(schema.items!), avro.values, options)
    return (to, value) => {
      if (!(value instanceof Map)) misfit(schema, value)
      const entries = [...(value as ReadonlyMap<unknown, unknown>)]
      for (const [key] of entries) if (typeof key !== 'string') misfit(schema.keys!, key)
      writeEntries(to, entries as [string, unknown][], item)
    }
  }
  const entry = avro.type === 'array' && avro.items.type === 'record' ? avro.items : undefined
  const [keyField, valueField, ...others] = entry?.fields ?? []
  if (keyField === undefined || valueField === undefined || others.length > 0)
    throw new DataError('a map requires an Avro map or an array of entries')
  const writeKey = valueWriter(schema.keys!, keyField.schema, options)
  const writeItem = valueWriter(withoutDefault(schema.items!), valueField.schema, options)
  return (to, value) =>
    writeBlock(to, value instanceof Map ? [...value] : misfit(schema, value), (_to, one) => {
      const [key, held] = one as readonly [unknown, unknown]
      writeKey(to, key)
      writeItem(to, held)
    })
}

/** Smaller numbers have at most 48 bits. */
const TWO_TO_47 = 2 ** 47

/** The shortest two's complement in big-endian order, padded to the size of a fixed. */
function decimalWriter(schema: Schema, avro: AvroSchema): AvroWrite {
  const scale = decimalScale(schema)
  const writeFixed = avro.type === 'fixed' ? avroWriter(avro, 'wrapped') : undefined
  return (to, value) => {
    if (!isDecimal(value)) misfit(schema, value)
    const unscaled = unscaledAt(scale, value as Parameters<typeof unscaledAt>[1])
    if (writeFixed !== undefined && avro.type === 'fixed') {
      writeFixed(to, padded(bigintToBytes(unscaled), avro.size, unscaled < 0n))
    } else writeUnscaled(to, unscaled)
  }
}

function writeUnscaled(to: BinaryWriter, unscaled: bigint): void {
  const number = Number(unscaled)
  if (number >= TWO_TO_47 || number < -TWO_TO_47) {
    const bytes = bigintToBytes(unscaled)
    to.zigzag(bytes.length).raw(bytes)
    return
  }
  let length = 1
  for (let limit = 128; number >= limit || number < -limit; limit *= 256) length += 1
  to.zigzag(length)
  for (let factor = 256 ** (length - 1); factor >= 1; factor /= 256) to.uint8(Math.floor(number / factor))
}

function padded(bytes: Buffer, size: number, isNegative: boolean): Buffer {
  if (bytes.length >= size) return bytes
  return Buffer.concat([Buffer.alloc(size - bytes.length, isNegative ? 0xff : 0), bytes])
}

/** Only fields have defaults: null in a list or map stays null. */
function withoutDefault({ default: _, ...schema }: Schema): Schema {
  return schema
}

function misfit(schema: Schema, value: unknown): never {
  throw new DataError(`expected ${schema.name ?? schema.type}, got ${valueLabel(value)}`)
}
