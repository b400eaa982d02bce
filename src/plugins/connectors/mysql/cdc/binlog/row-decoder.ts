import { type Cell, type Row, UNSENT } from '../../../cdc/table.ts'
import { MysqlProtocolError, MysqlReader } from '../../protocol/mysql-reader.ts'
import { type HistoryColumn, type HistoryTable, labelsOf } from '../table-model.ts'
import { baseTypeOf, isUnsigned } from '../values/mysql-representations.ts'
import type { RowsData } from './binlog-event.ts'
import { charsetDecoder } from './charset-decoder.ts'
import { type RowColumn, type ValueReader, valueReader } from './row-value.ts'
import { COLUMN_TYPE, type TableMap } from './table-map.ts'

/** The old and the new row of a change. */
export type RowChange = { readonly before: Row | undefined; readonly after: Row | undefined }

/** Decodes the rows of one version of a table. */
export class RowDecoder {
  readonly table: HistoryTable
  readonly #readers: readonly ValueReader[]
  readonly #what: string
  readonly #form: Buffer

  /** Throws a `MysqlProtocolError` if the columns of the log are not those of the table. */
  constructor(table: HistoryTable, map: TableMap) {
    const name = `${map.database}.${map.table}`
    this.table = table
    this.#form = map.form
    this.#what = `the rows of ${name}`
    requireSameColumns(table, map)
    this.#readers = table.columns.map((column, index) => readerOf(column, map.columns[index]!, name))
  }

  /** Whether it decodes rows of this version of the table in this form. */
  isOf(table: HistoryTable, { form }: TableMap): boolean {
    return this.table === table && this.#form.equals(form)
  }

  /** The changes of an event, in their order. */
  read(data: RowsData): readonly RowChange[] {
    if (data.columnCount !== this.#readers.length) {
      throw new MysqlProtocolError(`${this.#what} have ${data.columnCount} columns, not ${this.#readers.length}`)
    }
    const reader = new MysqlReader(data.rows, this.#what)
    const changes: RowChange[] = []
    while (reader.remaining > 0) {
      const before = data.presentBefore === undefined ? undefined : this.#row(reader, data.presentBefore)
      const after = data.presentAfter === undefined ? undefined : this.#row(reader, data.presentAfter)
      changes.push({ before, after })
    }
    return changes
  }

  /** A bitmap says which of the present columns are null. */
  #row(reader: MysqlReader, present: Buffer): Row {
    const count = countBits(present, this.#readers.length)
    const nulls = reader.view((count + 7) >> 3)
    const row: Cell[] = []
    let at = 0
    for (const [index, read] of this.#readers.entries()) {
      if ((present[index >> 3]! & (1 << (index & 7))) === 0) {
        row.push(UNSENT)
        continue
      }
      row.push((nulls[at >> 3]! & (1 << (at & 7))) === 0 ? read(reader) : null)
      at += 1
    }
    return row
  }
}

function countBits(bitmap: Buffer, length: number): number {
  let count = 0
  for (let index = 0; index < length; index += 1) if ((bitmap[index >> 3]! & (1 << (index & 7))) !== 0) count += 1
  return count
}

/** The beginning and the end of the time in which a row of a table with system versioning is valid. */
const PERIOD_COLUMNS = 2

function requireSameColumns(table: HistoryTable, { columns, names, database, table: name }: TableMap): void {
  const described = table.columns.map((column) => column.name)
  const isSame =
    columns.length === described.length &&
    (names === undefined || names.every((one, index) => one.toLowerCase() === described[index]!.toLowerCase()))
  if (isSame) return
  const isVersioned =
    columns.length === described.length + PERIOD_COLUMNS && columns.at(-1)?.type === COLUMN_TYPE.timestamp2
  if (isVersioned) {
    throw new MysqlProtocolError(
      `rows of ${database}.${name} have columns of its system versioning that its definition does not have: exclude the table, or declare ` +
        'the columns AS ROW START and AS ROW END',
    )
  }
  const found = names === undefined ? `${columns.length} columns` : `the columns ${names.join(', ')}`
  throw new MysqlProtocolError(
    `rows of ${database}.${name} have ${found}, but the schema history has ${described.length}: ${described.join(', ')}. ` +
      'Take a new snapshot, or write the schema history anew with snapshot.mode=recovery',
  )
}

/** A column whose character set is not known is refused with its first row, not with its table, which may not be captured. */
function readerOf(column: HistoryColumn, logged: TableMap['columns'][number], table: string): ValueReader {
  try {
    return wrapped(column, valueReader(logged, rowColumnOf(column)))
  } catch (error) {
    throw new MysqlProtocolError(`the column ${column.name} of ${table} cannot be read: ${(error as Error).message}`)
  }
}

function rowColumnOf(column: HistoryColumn): RowColumn {
  const base = baseTypeOf(column)
  const isText = column.charsetName !== undefined
  return {
    isUnsigned: isUnsigned(column),
    labels: base === 'ENUM' || base === 'SET' ? labelsOf(column) : [],
    toText: isText ? charsetDecoder(column.charsetName!) : base === 'JSON' ? utf8 : latin1,
    paddedBytes: base === 'BINARY' ? (column.length ?? 1) : 0,
  }
}

const utf8 = (bytes: Buffer) => bytes.toString('utf8')
const latin1 = (bytes: Buffer) => bytes.toString('latin1')

function wrapped(column: HistoryColumn, read: ValueReader): ValueReader {
  return baseTypeOf(column) === 'UUID' ? (reader) => uuidText(read(reader)) : read
}

/**
 * MariaDB stores the parts of a UUID of the versions 1 to 5 in the reverse order, so that its index is in the order of time: node,
 * clock, then the times.
 */
function uuidText(text: string): string {
  const bytes = Buffer.from(text.padEnd(16, '\0'), 'latin1')
  const hex = bytes.toString('hex')
  const version = bytes[8]! >> 4
  const isReversed = bytes[6]! >> 6 === 2 && version >= 1 && version <= 5
  if (!isReversed) return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return hex.replace(/^(.{12})(.{4})(.{4})(.{4})(.{8})$/, '$5-$4-$3-$2-$1')
}
