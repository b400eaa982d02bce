import { BinaryWriter } from '../../common/binary-writer.ts'
import { SchemaError } from '../schema-error.ts'
import { type AvroRecord, type AvroSchema, type AvroUnion, branchName } from './avro-schema.ts'
import { hasDistinctShapes, shapeOf, shapeOfValue, type UnionForm } from './union-form.ts'

/** Writes a value in Avro's binary encoding. Throws a `SchemaError` if the value is not valid for the schema. */
export type AvroWrite = (to: BinaryWriter, value: unknown) => void

const CHUNK_BYTES = 64 * 1024
/** Shared, because a value is written at once. */
const output = new BinaryWriter(CHUNK_BYTES)

/** Returns the bytes of a value, as a part of a larger buffer. */
export function avroBytes(write: AvroWrite, value: unknown): Buffer {
  // Discards what is left of a value that could not be written.
  output.truncate(0)
  write(output, value)
  return output.take()
}

/** Creates the function that writes values of a schema, in the form that `avroCodec` describes. */
export function avroWriter(schema: AvroSchema, unions: UnionForm): AvroWrite {
  return writerOf(schema, { unions, records: new Map() })
}

type Context = {
  readonly unions: UnionForm
  /** The fields of records, because records can contain themselves. */
  readonly records: Map<AvroRecord, RecordField[]>
}
type RecordField = { readonly valueIn: (record: object) => unknown; readonly write: AvroWrite }

function writerOf(schema: AvroSchema, context: Context): AvroWrite {
  switch (schema.type) {
    case 'union':
      return unionWriter(schema, context)
    case 'record':
      return recordWriter(schema, context)
    case 'array': {
      const item = writerOf(schema.items, context)
      return (to, value) => {
        if (!Array.isArray(value)) throw misfit('an array', value)
        writeBlock(to, value, item)
      }
    }
    case 'map': {
      const item = writerOf(schema.values, context)
      return (to, value) => {
        if (typeof value !== 'object' || value === null || Array.isArray(value)) throw misfit('a map', value)
        writeEntries(to, Object.entries(value), item)
      }
    }
    case 'enum': {
      const indexes = new Map<unknown, number>(schema.symbols.map((symbol, index) => [symbol, index]))
      return (to, value) => {
        const index = indexes.get(value)
        if (index === undefined) throw misfit(`a symbol of ${schema.name.full}`, value)
        to.zigzag(index)
      }
    }
    case 'fixed':
      return (to, value) => {
        if (!(value instanceof Uint8Array) || value.length !== schema.size) throw misfit(`${schema.size} bytes`, value)
        to.raw(value)
      }
    default:
      return SCALARS[schema.type]
  }
}

const SCALARS = {
  null(_to, value) {
    if (value !== null) throw misfit('null', value)
  },
  boolean(to, value) {
    if (typeof value !== 'boolean') throw misfit('a boolean', value)
    to.uint8(value ? 1 : 0)
  },
  int(to, value) {
    if (typeof value !== 'number' || value !== (value | 0)) throw misfit('an int', value)
    to.zigzag(value)
  },
  long(to, value) {
    if (typeof value === 'bigint' ? BigInt.asIntN(64, value) !== value : !Number.isSafeInteger(value))
      throw misfit('a long', value)
    to.zigzag(value as number | bigint)
  },
  float(to, value) {
    if (typeof value !== 'number') throw misfit('a float', value)
    to.float32LE(value)
  },
  double(to, value) {
    if (typeof value !== 'number') throw misfit('a double', value)
    to.float64LE(value)
  },
  bytes(to, value) {
    if (!(value instanceof Uint8Array)) throw misfit('bytes', value)
    to.zigzag(value.length).raw(value)
  },
  string(to, value) {
    if (typeof value !== 'string') throw misfit('a string', value)
    to.zigzagText(value)
  },
} satisfies Record<string, AvroWrite>

function recordWriter(schema: AvroRecord, context: Context): AvroWrite {
  let fields = context.records.get(schema)
  if (fields === undefined) {
    fields = []
    context.records.set(schema, fields)
    for (const { name, schema: inner } of schema.fields) {
      fields.push({ valueIn: memberOf(name), write: writerOf(inner, context) })
    }
  }
  return recordOf(fields)
}

function recordOf(fields: readonly RecordField[]): AvroWrite {
  return (to, value) => {
    if (typeof value !== 'object' || value === null) throw misfit('a record', value)
    for (let index = 0; index < fields.length; index++) {
      const { valueIn, write } = fields[index]!
      write(to, valueIn(value))
    }
  }
}

/** A function for each field, so that V8 learns the shape of the objects at each place of a schema. */
function memberOf(name: string): (value: object) => unknown {
  if (!(name in Object.prototype)) return (value) => (value as Readonly<Record<string, unknown>>)[name]
  return (value) => (Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined)
}

/** Writes one block of items and the end of the blocks. */
export function writeBlock(to: BinaryWriter, items: readonly unknown[], write: AvroWrite): void {
  if (items.length > 0) to.zigzag(items.length)
  for (let index = 0; index < items.length; index++) write(to, items[index])
  to.uint8(0)
}

export function writeEntries(
  to: BinaryWriter,
  entries: readonly (readonly [string, unknown])[],
  write: AvroWrite,
): void {
  writeBlock(to, entries, (_to, entry) => {
    const [key, value] = entry as readonly [string, unknown]
    to.zigzagText(key)
    write(to, value)
  })
}

function unionWriter(union: AvroUnion, context: Context): AvroWrite {
  const { branches } = union
  const writers = branches.map((branch) => writerOf(branch, context))
  const nullIndex = branches.findIndex(({ type }) => type === 'null')
  const isPlain = context.unions === 'plain' && hasDistinctShapes(union)
  const indexes = new Map<string, number>(
    branches.map((branch, index) => [isPlain ? shapeOf(branch) : branchName(branch), index]),
  )
  return (to, value) => {
    if (value === null) {
      if (nullIndex < 0) throw misfit('a value of a union without null', value)
      to.zigzag(nullIndex)
      return
    }
    const [name, inner] = isPlain ? [shapeOfValue(value), value] : onlyMember(value)
    const index = indexes.get(name)
    if (index === undefined) throw misfit(`a value of a union of ${[...indexes.keys()].join(', ')}`, value)
    to.zigzag(index)
    writers[index]!(to, inner)
  }
}

function onlyMember(value: unknown): readonly [string, unknown] {
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (members.length !== 1) throw misfit('an object { branch: value }', value)
  return members[0]!
}

function misfit(wanted: string, value: unknown): SchemaError {
  const got = typeof value === 'object' ? Object.prototype.toString.call(value).slice(8, -1) : String(value)
  return new SchemaError(`the value is not valid for its schema: expected ${wanted}, got ${got.slice(0, 100)}`)
}
