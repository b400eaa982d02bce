import type { AvroSchema } from '../../formats/avro/avro-schema.ts'
import { CELL, decimalScale, isInteger, LOGICAL, type RowBatch, type RowColumn, type Schema } from '../../sdk/index.ts'
import type { ByteOutput } from './byte-output.ts'
import type { EncoderOptions } from './encoder.ts'
import { isUnion, scrubbedPart } from './names.ts'
import { valueWriter } from './value-writer.ts'

/** Writes the value of a row. Returns false for a value that it does not write: then the record of the row decides. */
export type AvroRowWriter = (to: ByteOutput, batch: RowBatch, row: number) => boolean

type CellWriter = (to: ByteOutput, column: RowColumn, row: number) => boolean
/** Writes a number as `NumberColumn` represents a value of the schema. */
type NumberWriter = (to: ByteOutput, number: number) => boolean

/**
 * Creates a writer from the columns of a batch to Avro's binary encoding. It writes what `valueWriter` writes for the record of
 * a row, without creating that. Returns undefined for the schemas that `valueWriter` does not support.
 */
export function avroRowWriter(schema: Schema, avro: AvroSchema, options: EncoderOptions): AvroRowWriter | undefined {
  const { prefix, present } = branchOf(avro)
  if (schema.type !== 'struct' || isUnion(schema) || present.type !== 'record') return undefined
  if (valueWriter(schema, avro, options) === undefined) return undefined
  const names = schema.fields!.map(({ name }) => (options.scrub ? scrubbedPart(name) : name))
  const fields: { readonly column: number; readonly write: CellWriter }[] = []
  for (const { name, schema: own } of present.fields) {
    // Of two fields with the same name, the last one is written.
    const column = names.lastIndexOf(name)
    const write = column < 0 ? undefined : cellWriter(schema.fields![column]!.schema, own, options)
    if (write === undefined) return undefined
    fields.push({ column, write })
  }
  return (to, { columns }, row) => {
    if (prefix >= 0) to.byte(prefix)
    for (let index = 0; index < fields.length; index++) {
      const { column, write } = fields[index]!
      if (!write(to, columns[column]!, row)) return false
    }
    return true
  }
}

/** The type of values that are not null, and the byte before them; -1 if there is none. */
function branchOf(avro: AvroSchema): { readonly prefix: number; readonly present: AvroSchema } {
  if (avro.type !== 'union') return { prefix: -1, present: avro }
  const index = avro.branches.findIndex(({ type }) => type !== 'null')
  return { prefix: 2 * index, present: avro.branches[index] ?? avro }
}

function cellWriter(schema: Schema, avro: AvroSchema, options: EncoderOptions): CellWriter | undefined {
  const writeValue = valueWriter(schema, avro, options)
  if (writeValue === undefined) return undefined
  const { prefix, present } = branchOf(avro)
  const writeNumber = numberWriter(schema, present)
  const isText = schema.type === 'string' && present.type === 'string'
  return (to, column, row) => {
    if (column.kind === 'values') return writeValue(to, column.values[row])
    const cell = column.cells[row]
    if (cell !== CELL.compact) return writeValue(to, cell === CELL.null ? null : column.others.get(row))
    if (prefix >= 0) to.byte(prefix)
    if (column.kind === 'numbers') return writeNumber?.(to, column.numbers[row]!) === true
    if (!isText) return false
    to.range(column.bytes, column.starts[row]!, column.ends[row]!)
    return true
  }
}

/** Returns undefined for types of which no column has numbers. */
function numberWriter(schema: Schema, { type }: AvroSchema): NumberWriter | undefined {
  switch (schema.name) {
    case LOGICAL.decimal:
      return type === 'bytes' && Number.isInteger(decimalScale(schema)) ? writeUnscaled : undefined
    case LOGICAL.date:
      return (to, number) => writeInt(to, Math.floor(number / 86_400_000))
    case LOGICAL.timestamp:
      return (to, number) => isInstant(number) && writeLong(to, number)
    default:
      return plainNumberWriter(schema, type)
  }
}

function plainNumberWriter(schema: Schema, type: AvroSchema['type']): NumberWriter | undefined {
  switch (schema.type) {
    case 'int8':
    case 'int16': {
      const integer = schema.type
      return (to, number) => isInteger(integer, number) && writeLong(to, number)
    }
    case 'int32':
    case 'int64':
      return type === 'int' ? writeInt : writeLong
    case 'boolean':
      return (to, number) => {
        to.byte(number === 1 ? 1 : 0)
        return true
      }
    case 'float32':
    case 'float64':
      return type === 'float' ? writeFloat : writeDouble
    default:
      return undefined
  }
}

/** Whether a `Date` can have this time. */
function isInstant(ms: number): boolean {
  return Math.abs(ms) <= 8.64e15
}

function writeInt(to: ByteOutput, number: number): boolean {
  if (number !== (number | 0)) return false
  to.long(number)
  return true
}

function writeLong(to: ByteOutput, number: number): boolean {
  if (!Number.isSafeInteger(number)) return false
  to.long(number)
  return true
}

function writeUnscaled(to: ByteOutput, number: number): boolean {
  if (!Number.isSafeInteger(number)) return false
  to.unscaled(number)
  return true
}

function writeFloat(to: ByteOutput, number: number): boolean {
  to.float(number)
  return true
}

function writeDouble(to: ByteOutput, number: number): boolean {
  to.double(number)
  return true
}
