import type { Position, SourceRecord } from './record.ts'
import { LOGICAL, type Schema } from './schema.ts'
import { decimalScale } from './values.ts'

/**
 * A batch of records without keys and headers whose values are structs of one schema, stored by column. A source that yields it
 * instead of records creates no object for a row, and a converter with `rowWriter` encodes the rows as they are. The worker
 * creates the records for every other plugin.
 */
export type RowBatch = {
  readonly topic: string
  readonly valueSchema: Schema
  /** Number of rows. */
  readonly length: number
  /** A column for each field of the schema, in its order. */
  readonly columns: readonly RowColumn[]
  readonly sourcePartition: Position
  /** Returns the source offset of a row. The worker calls it for few rows, also after it has released the columns. */
  readonly offsetOf: (row: number) => Position
}

export type SourceBatch = readonly SourceRecord[] | RowBatch

export type RowColumn = NumberColumn | TextColumn | ValueColumn

/** The cells that a column represents compactly, and the others. */
type CompactColumn = {
  /** One of `CELL` for each row. */
  readonly cells: Uint8Array
  /** The values of the cells with `CELL.other`, by row. */
  readonly others: ReadonlyMap<number, unknown>
}

export const CELL = { compact: 0, null: 1, other: 2 } as const

/**
 * A column of integers, floats, booleans (0 and 1), decimals (the unscaled value at the scale of the schema), dates or timestamps
 * (both in ms since 1970). Numbers of all types but floats are safe integers.
 */
export type NumberColumn = CompactColumn & { readonly kind: 'numbers'; readonly numbers: Float64Array }

/** A column of strings: ranges of valid UTF-8. */
export type TextColumn = CompactColumn & {
  readonly kind: 'texts'
  readonly bytes: Uint8Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

/** A column of any type. */
export type ValueColumn = { readonly kind: 'values'; readonly values: readonly unknown[] }

export function isRowBatch(batch: SourceBatch): batch is RowBatch {
  return !Array.isArray(batch)
}

/** Returns the records of a batch. */
export function toSourceRecords(batch: SourceBatch): readonly SourceRecord[] {
  return isRowBatch(batch) ? Array.from({ length: batch.length }, (_, row) => toSourceRecord(batch, row)) : batch
}

/** Creates the record of a row. */
export function toSourceRecord(batch: RowBatch, row: number): SourceRecord {
  const { topic, valueSchema, columns, sourcePartition, offsetOf } = batch
  const value: Record<string, unknown> = {}
  for (const [index, { name, schema }] of valueSchema.fields!.entries()) {
    setMember(value, name, cellValue(schema, columns[index]!, row))
  }
  return { topic, value, valueSchema, sourcePartition, sourceOffset: offsetOf(row) }
}

/** An assignment to `__proto__` sets no member. */
function setMember(struct: Record<string, unknown>, field: string, value: unknown): void {
  if (field !== '__proto__') struct[field] = value
  else Object.defineProperty(struct, field, { value, enumerable: true, configurable: true, writable: true })
}

function cellValue(schema: Schema, column: RowColumn, row: number): unknown {
  if (column.kind === 'values') return column.values[row]
  const cell = column.cells[row]
  if (cell === CELL.null) return null
  if (cell === CELL.other) return column.others.get(row)
  if (column.kind === 'numbers') return fromNumber(schema, column.numbers[row]!)
  const { bytes, starts, ends } = column
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', starts[row]!, ends[row]!)
}

function fromNumber(schema: Schema, number: number): unknown {
  switch (schema.name) {
    case LOGICAL.decimal:
      return { unscaled: BigInt(number), scale: decimalScale(schema) }
    case LOGICAL.date:
    case LOGICAL.timestamp:
      return new Date(number)
    default:
      return schema.type === 'boolean' ? number === 1 : number
  }
}
