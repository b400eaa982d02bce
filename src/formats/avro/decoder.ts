import { defineMember } from '../define-member.ts'
import { SchemaError } from '../schema-error.ts'
import { AvroInput } from './avro-input.ts'
import {
  type AvroEnum,
  type AvroNamed,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
  branchName,
  isNamed,
} from './avro-schema.ts'
import { decodedDefault } from './decoded-default.ts'
import { branchWrapper, type UnionForm } from './union-form.ts'

type Read = (input: AvroInput) => unknown

/**
 * Creates a decoder of the Avro binary encoding that resolves data of `writer` to the schema `reader`, as Avro for Java:
 * enums and fixed match by simple name or alias, records by their fields; fields that the reader does not have are omitted,
 * and absent ones get their default. Throws a `SchemaError` if the schemas do not match. The decoder throws an `Error` for
 * bytes that are not a value of the writer, and for a value of a branch or a symbol that the reader does not have.
 */
export function avroDecoder(writer: AvroSchema, reader: AvroSchema, unions: UnionForm): (bytes: Buffer) => unknown {
  const read = new Resolver(unions).read(writer, reader)
  return (bytes) => {
    const input = new AvroInput(bytes)
    const value = read(input)
    input.expectEnd()
    return value
  }
}

class Resolver {
  readonly #unions: UnionForm
  /** By writer and reader, because records can contain themselves. */
  readonly #records = new Map<AvroRecord, Map<AvroRecord, RecordReader>>()

  constructor(unions: UnionForm) {
    this.#unions = unions
  }

  read(writer: AvroSchema, reader: AvroSchema): Read {
    if (writer.type === 'union') return this.#anyBranch(writer, reader)
    if (reader.type === 'union') return this.#asBranch(writer, reader)
    if (writer.type === 'record' && reader.type === 'record') return this.#record(writer, reader)
    if (isNamed(writer) && isNamed(reader) && !matchesName(writer, reader)) throw mismatch(writer, reader)
    if (writer.type === 'array' && reader.type === 'array') return arrayOf(this.read(writer.items, reader.items))
    if (writer.type === 'map' && reader.type === 'map') return mapOf(this.read(writer.values, reader.values))
    if (writer.type === 'enum' && reader.type === 'enum') return enumOf(writer, reader)
    if (writer.type === 'fixed' && reader.type === 'fixed' && writer.size === reader.size) return fixedOf(writer.size)
    const read = SCALARS[writer.type]?.[reader.type]
    if (read === undefined) throw mismatch(writer, reader)
    return read
  }

  #anyBranch(writer: AvroUnion, reader: AvroSchema): Read {
    const { branches } = writer
    const reads = branches.map((branch) => this.#attempt(branch, reader))
    if (reads.every((read) => read instanceof SchemaError)) throw reads[0] ?? mismatch(writer, reader)
    return (input) => {
      const index = input.index(reads.length)
      const read = reads[index]!
      if (read instanceof SchemaError) throw read
      // Not counted as a value without bytes: the index of its branch is a byte.
      return branches[index]!.type === 'null' ? null : read(input)
    }
  }

  /** A branch with the name of the writer's type, otherwise of the same type, otherwise one to which it is promoted. */
  #asBranch(writer: AvroSchema, reader: AvroUnion): Read {
    const { branches } = reader
    const sameType = branches.filter(({ type }) => type === writer.type)
    const sameName = sameType.filter((branch) => branchName(branch) === branchName(writer))
    // As in Java: of several records with the simple name, the last one; a number becomes a float only if nothing else fits.
    const sameSimpleName = sameType.filter((branch) => simpleName(branch) === simpleName(writer)).toReversed()
    const exact = branches.filter(({ type }) => type !== 'float')
    for (const branch of new Set([...sameName, ...sameSimpleName, ...sameType, ...exact, ...branches])) {
      const read = this.#attempt(writer, branch)
      if (read instanceof SchemaError) continue
      const wrap = branchWrapper(reader, branch, this.#unions)
      return wrap ? (input) => wrap(read(input)) : read
    }
    throw mismatch(writer, reader)
  }

  #attempt(writer: AvroSchema, reader: AvroSchema): Read | SchemaError {
    try {
      return this.read(writer, reader)
    } catch (error) {
      if (error instanceof SchemaError) return error
      throw error
    }
  }

  #record(writer: AvroRecord, reader: AvroRecord): Read {
    const ofWriter = this.#records.get(writer) ?? new Map<AvroRecord, RecordReader>()
    this.#records.set(writer, ofWriter)
    const known = ofWriter.get(reader)
    const record = known ?? new RecordReader()
    ofWriter.set(reader, record)
    if (known === undefined) {
      try {
        this.#resolve(record, writer, reader)
      } catch (error) {
        if (error instanceof SchemaError) record.failure = error
        else throw error
      }
    }
    if (record.failure) throw record.failure
    return record.read
  }

  #resolve(record: RecordReader, writer: AvroRecord, reader: AvroRecord): void {
    const written = new Map(writer.fields.map((field) => [field.name, field]))
    const taken = new Map<string, number>()
    for (const [index, { name, aliases, schema, default: fallback }] of reader.fields.entries()) {
      const names = [...new Set([name, ...aliases])].filter((one) => written.has(one) && !taken.has(one))
      const [source] = names
      if (names.length > 1)
        throw new SchemaError(`several fields of the writer match the field ${name}: ${names.join(', ')}`)
      if (source !== undefined) taken.set(source, index)
      else if (fallback === undefined) throw new SchemaError(`the writer has no field ${name}, which has no default`)
      const absent = source === undefined ? () => decodedDefault(schema, fallback!, this.#unions) : undefined
      // Reports an invalid default.
      absent?.()
      record.fields.push({ name, absent })
    }
    for (const { name, schema } of writer.fields) {
      const index = taken.get(name) ?? OMITTED
      record.parts.push({ index, read: this.read(schema, reader.fields[index]?.schema ?? schema) })
    }
    const { fields, parts } = record
    record.isSameOrder = fields.length === parts.length && parts.every(({ index }, at) => index === at)
  }
}

const OMITTED = -1

/** Reads a record. It exists before its fields are resolved, because these can contain it. */
class RecordReader {
  /** The fields of the reader. `absent` returns the default of a field that the writer does not have. */
  readonly fields: { readonly name: string; readonly absent: (() => unknown) | undefined }[] = []
  /** The fields of the writer, with the index of the reader's field. */
  readonly parts: { readonly index: number; readonly read: Read }[] = []
  /** Whether the reader has the fields of the writer in the same order. */
  isSameOrder = false
  /** Why no value can be read. */
  failure: SchemaError | undefined

  readonly read: Read = (input) => {
    const { fields, parts } = this
    if (this.failure) throw this.failure
    if (parts.length === 0) input.valueWithoutBytes()
    const record: Record<string, unknown> = {}
    if (this.isSameOrder) {
      for (let at = 0; at < parts.length; at++) defineMember(record, fields[at]!.name, parts[at]!.read(input))
      return record
    }
    const values: unknown[] = new Array(fields.length)
    for (let at = 0; at < parts.length; at++) {
      const { index, read } = parts[at]!
      const value = read(input)
      if (index !== OMITTED) values[index] = value
    }
    for (let index = 0; index < fields.length; index++) {
      const { name, absent } = fields[index]!
      defineMember(record, name, absent ? absent() : values[index])
    }
    return record
  }
}

function arrayOf(readItem: Read): Read {
  return (input) => {
    const items: unknown[] = []
    input.blocks(() => {
      items.push(readItem(input))
    })
    return items
  }
}

function mapOf(readValue: Read): Read {
  return (input) => {
    const map: Record<string, unknown> = {}
    input.blocks(() => {
      const key = input.text()
      defineMember(map, key, readValue(input))
    })
    return map
  }
}

function enumOf({ symbols }: AvroEnum, reader: AvroEnum): Read {
  const known = new Set(reader.symbols)
  return (input) => {
    const symbol = symbols[input.index(symbols.length)]!
    const read = known.has(symbol) ? symbol : reader.default
    if (read === undefined) throw new RangeError(`${reader.name.full} has no symbol ${symbol} and no default`)
    return read
  }
}

function fixedOf(size: number): Read {
  return (input) => input.fixed(size)
}

const int: Read = (input) => input.zigzag32()
const text: Read = (input) => input.text()
const bytes: Read = (input) => input.sized()

/** The readers of scalar types, by the type of the writer and that of the reader. */
const SCALARS: Readonly<Partial<Record<AvroSchema['type'], Readonly<Partial<Record<AvroSchema['type'], Read>>>>>> = {
  null: {
    null(input) {
      input.valueWithoutBytes()
      return null
    },
  },
  boolean: { boolean: (input) => input.boolean() },
  int: { int, long: int, float: (input) => Math.fround(input.zigzag32()), double: int },
  long: {
    long: (input) => input.zigzag64(),
    float: (input) => Math.fround(Number(input.zigzag64())),
    double: (input) => Number(input.zigzag64()),
  },
  float: { float: (input) => input.float32LE(), double: (input) => input.float32LE() },
  double: { double: (input) => input.float64LE() },
  string: { string: text, bytes },
  bytes: { bytes, string: text },
}

function simpleName(schema: AvroSchema): string {
  return isNamed(schema) ? schema.name.simple : schema.type
}

/** Records are resolved by their fields, whatever their names are. */
function matchesName(writer: AvroNamed, reader: AvroNamed): boolean {
  return writer.name.simple === reader.name.simple || reader.aliases.some(({ full }) => full === writer.name.full)
}

function mismatch(writer: AvroSchema, reader: AvroSchema): SchemaError {
  return new SchemaError(`cannot read ${branchName(writer)} as ${branchName(reader)}`)
}
