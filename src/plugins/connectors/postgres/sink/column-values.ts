import { BinaryWriter } from '../../../../common/binary-writer.ts'
import type { SinkRecord } from '../../../../sdk/index.ts'
import type { TargetColumn } from '../../jdbc/sink/sink-database.ts'
import { textFromItems } from '../array-text.ts'
import type { BinaryType } from './binary-type.ts'
import type { PostgresColumn } from './postgres-column.ts'

/** The values of one column: an array in PostgreSQL's binary format, of the column's type, or in text format. */
export type ColumnValues = Buffer | string

const CHUNK_BYTES = 16 * 1024
const DIMENSIONS = 1
const FIRST_INDEX = 1
const NULL_LENGTH = -1

/**
 * Encodes the values of a column as an array. Text is used if the column has another type than the field, and if one of
 * the values has no binary form: then the conversion to text, or the server, reports the reason. Throws a `DataError`.
 */
export function encodeColumn(
  records: readonly SinkRecord[],
  column: PostgresColumn,
  target: TargetColumn,
): ColumnValues {
  const type = column.binaryType(target.type)
  const binary = type && encodeBinary(records, column, type)
  return binary ?? textFromItems(records.map(column.textOf))
}

function encodeBinary(records: readonly SinkRecord[], column: PostgresColumn, { oid, write }: BinaryType) {
  const to = new BinaryWriter(CHUNK_BYTES)
  to.int32(DIMENSIONS)
  // Whether there are nulls: the server checks each item and does not use it.
  to.int32(1)
  to.int32(oid)
  to.int32(records.length)
  to.int32(FIRST_INDEX)
  for (const record of records) {
    const value = column.pick(record)
    if (value === null) to.int32(NULL_LENGTH)
    else if (!write(to, value)) return undefined
  }
  return to.bytes
}
