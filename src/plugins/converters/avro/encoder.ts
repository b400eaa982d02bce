import {
  type AvroField,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
  branchName,
} from '../../../formats/avro/schema.ts'
import {
  bigintToBytes,
  DataError,
  type Decimal,
  decimalScale,
  isDecimal,
  LOGICAL,
  rescale,
  type Schema,
  valueLabel,
} from '../../../sdk/index.ts'
import { toBuffer } from '../../bytes.ts'
import { wireDefault } from './default.ts'
import { UNION, unionFieldName } from './names.ts'

/** From a Connect value to what the Avro codec takes. */
export type Encode = (value: unknown) => unknown

const asItIs: Encode = (value) => value

/**
 * Made once for a Connect schema and the Avro schema to write it with; throws a `DataError` when the two have nothing to
 * do with each other. Parts whose values need no change are passed through.
 */
export function avroEncoder(schema: Schema, avro: AvroSchema): Encode {
  const encode = avro.type === 'union' ? unionEncoder(schema, avro) : presentEncoder(schema, avro)
  const { default: fallback } = schema
  if (fallback === undefined || fallback === null) return encode
  return (value) => encode(value ?? fallback)
}

function unionEncoder(schema: Schema, avro: AvroUnion): Encode {
  if (schema.name === UNION) return structUnionEncoder(schema, avro)
  const candidates = avro.branches.filter((branch) => branch.type !== 'null')
  const branch = candidates.length === 1 ? candidates[0] : candidates.find((one) => isLike(schema, one))
  if (branch === undefined) throw new DataError(`no branch of the Avro union takes ${schema.name ?? schema.type}`)
  const name = branchName(branch)
  const encode = presentEncoder(schema, branch)
  return (value) => (value === null || value === undefined ? null : { [name]: encode(value) })
}

function structUnionEncoder(schema: Schema, avro: AvroUnion): Encode {
  const branches = new Map(avro.branches.map((branch) => [unionFieldName(branch), branch]))
  const fields = (schema.fields ?? []).map(({ name, schema: inner }) => {
    const branch = branches.get(name)
    if (branch === undefined) throw new DataError(`the Avro union has no branch '${name}'`)
    return { name, branch: branchName(branch), encode: presentEncoder(inner, branch) }
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

function isLike(schema: Schema, avro: AvroSchema): boolean {
  if (avro.type === 'record') return schema.type === 'struct' && (schema.name ?? avro.name.full) === avro.name.full
  return AVRO_TYPES[schema.type].includes(avro.type)
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

function presentEncoder(schema: Schema, avro: AvroSchema): Encode {
  if (!isLike(schema, avro)) throw new DataError(`Avro's ${avro.type} does not take ${schema.name ?? schema.type}`)
  switch (schema.name) {
    case LOGICAL.decimal:
      return decimalEncoder(schema, avro)
    case LOGICAL.date:
      return (value) => (value instanceof Date ? Math.floor(value.getTime() / 86_400_000) : misfit(schema, value))
    case LOGICAL.timestamp:
      return (value) => (value instanceof Date ? value.getTime() : misfit(schema, value))
    default:
      return avro.type === 'record' ? recordEncoder(schema, avro) : plainEncoder(schema, avro)
  }
}

function plainEncoder(schema: Schema, avro: AvroSchema): Encode {
  if (schema.type === 'bytes') {
    return (value) => (value instanceof Uint8Array ? toBuffer(value) : misfit(schema, value))
  }
  if (schema.type === 'map') return mapEncoder(schema, avro)
  if (avro.type !== 'array') return asItIs
  const item = avroEncoder(schema.items!, avro.items)
  if (item === asItIs) return asItIs
  return (value) => (Array.isArray(value) ? value.map(item) : misfit(schema, value))
}

function recordEncoder(schema: Schema, avro: AvroRecord): Encode {
  const schemas = new Map(schema.fields?.map((field) => [field.name, field.schema]))
  const fields = avro.fields.map((field) => ({
    name: field.name,
    encode: fieldEncoder(schemas.get(field.name), field),
  }))
  if (fields.every(({ encode }) => encode === asItIs)) return asItIs
  return (value) => {
    if (typeof value !== 'object' || value === null) return misfit(schema, value)
    const record: Record<string, unknown> = {}
    for (const { name, encode } of fields) record[name] = encode((value as Record<string, unknown>)[name])
    return record
  }
}

function fieldEncoder(schema: Schema | undefined, field: AvroField): Encode {
  if (schema !== undefined) return avroEncoder(schema, field.schema)
  if (field.default === undefined)
    throw new DataError(`the record has no field '${field.name}', its Avro schema needs it`)
  const fallback = wireDefault(field.schema, field.default)
  return () => fallback
}

function mapEncoder(schema: Schema, avro: AvroSchema): Encode {
  if (avro.type === 'map') {
    const item = avroEncoder(schema.items!, avro.values)
    return (value) =>
      value instanceof Map
        ? Object.fromEntries([...value].map(([key, one]) => [key, item(one)]))
        : misfit(schema, value)
  }
  const entry = avro.type === 'array' && avro.items.type === 'record' ? avro.items : undefined
  const [keyField, valueField] = entry?.fields ?? []
  if (keyField === undefined || valueField === undefined) throw new DataError('a map needs an Avro map or map entries')
  const key = avroEncoder(schema.keys!, keyField.schema)
  const item = avroEncoder(schema.items!, valueField.schema)
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
    return padded(bigintToBytes(rescale(value, scale).unscaled), size, value)
  }
}

/** A number's sign fills the bytes of a fixed that it does not need. */
function padded(bytes: Buffer, size: number, { unscaled }: Decimal): Buffer {
  if (bytes.length >= size) return bytes
  return Buffer.concat([Buffer.alloc(size - bytes.length, unscaled < 0n ? 0xff : 0), bytes])
}

function misfit(schema: Schema, value: unknown): never {
  throw new DataError(`${valueLabel(value)} where the schema says ${schema.name ?? schema.type}`)
}
