import type { AvroPrimitive, AvroSchema, AvroUnion } from '../../formats/avro/avro-schema.ts'
import { defineMember } from '../../formats/define-member.ts'
import { JsonNumber } from '../../formats/json-text.ts'
import { bigintFromBytes, type Schema } from '../../sdk/index.ts'
import { dateFromMs } from '../date-from-ms.ts'
import { type ByteInput, UNREADABLE } from './byte-input.ts'

/** Reads a value. Throws `UNREADABLE` for bytes that it does not read: then the codec and `fromAvro` decide. */
export type ValueReader = (from: ByteInput) => unknown

/**
 * Creates a reader from Avro's binary encoding directly to values of the Connect schema to which `fromAvro` converts this
 * Avro schema. Returns undefined for the schemas that only the codec and `fromAvro` support: unions of several types, enums,
 * maps, fixed, records without fields, and the integers with less than 32 bits.
 */
export function valueReader(avro: AvroSchema, schema: Schema): ValueReader | undefined {
  switch (avro.type) {
    case 'union':
      return unionReader(avro, schema)
    case 'record':
      return recordReader(avro.fields, schema)
    case 'array':
      return schema.type === 'array' ? arrayReader(avro.items, schema.items!) : undefined
    case 'int':
      if (schema.type !== 'int32') return undefined
      return hasLogicalType(avro, 'date') ? (from) => dateFromMs(from.int() * DAY_MS) : (from) => from.int()
    case 'long':
      if (hasLogicalType(avro, 'timestamp-millis')) return (from) => dateFromMs(Number(from.long()))
      return (from) => from.long()
    case 'bytes':
      return hasLogicalType(avro, 'decimal') ? decimalReader(scaleOf(avro)) : (from) => Buffer.from(from.sized())
    default:
      return SCALARS[avro.type]
  }
}

const DAY_MS = 86_400_000

const SCALARS: Readonly<Partial<Record<AvroSchema['type'], ValueReader>>> = {
  boolean(from) {
    const byte = from.byte()
    if (byte > 1) throw UNREADABLE
    return byte === 1
  },
  float: (from) => from.float(),
  double: (from) => from.double(),
  string: (from) => from.text(),
}

/** A union of a type and null. `fromAvro` converts no other union to the schema of one of its branches. */
function unionReader({ branches }: AvroUnion, schema: Schema): ValueReader | undefined {
  const index = branches.findIndex(({ type }) => type !== 'null')
  if (branches.length !== 2 || !branches.some(({ type }) => type === 'null')) return undefined
  const read = valueReader(branches[index]!, schema)
  if (read === undefined) return undefined
  return (from) => {
    const branch = from.int()
    if (branch === index) return read(from)
    if (branch !== 1 - index) throw UNREADABLE
    return null
  }
}

function recordReader(avro: readonly { readonly schema: AvroSchema }[], schema: Schema): ValueReader | undefined {
  // A record without fields has no bytes, so that the number of such records would need a limit of its own, as `BinaryInput` has.
  if (schema.type !== 'struct' || avro.length === 0) return undefined
  const fields: { readonly name: string; readonly read: ValueReader }[] = []
  for (const [index, { name, schema: own }] of schema.fields!.entries()) {
    const read = valueReader(avro[index]!.schema, own)
    if (read === undefined) return undefined
    fields.push({ name, read })
  }
  return (from) => {
    const value: Record<string, unknown> = {}
    for (let index = 0; index < fields.length; index++) {
      const { name, read } = fields[index]!
      defineMember(value, name, read(from))
    }
    return value
  }
}

function arrayReader(avro: AvroSchema, items: Schema): ValueReader | undefined {
  const read = valueReader(avro, items)
  if (read === undefined) return undefined
  return (from) => {
    const value: unknown[] = []
    for (let count = from.int(); count !== 0; count = from.int()) {
      // A negative count is followed by the size of the block in bytes.
      if (count < 0) from.long()
      // An item has at least one byte.
      if (Math.abs(count) > from.left) throw UNREADABLE
      for (let left = Math.abs(count); left > 0; left--) value.push(read(from))
    }
    return value
  }
}

/** The logical type decides, as in `fromAvro`: the name of the Connect schema can be that of another type. */
function hasLogicalType({ props }: AvroPrimitive, name: string): boolean {
  return props.get('logicalType') === name
}

function scaleOf({ props }: AvroPrimitive): number {
  const scale = props.get('scale')
  return scale instanceof JsonNumber ? scale.value : 0
}

function decimalReader(scale: number): ValueReader {
  return (from) => {
    const small = from.smallNumber()
    return { unscaled: small === undefined ? bigintFromBytes(from.sized()) : BigInt(small), scale }
  }
}
