import {
  DataError,
  type Position,
  type RowColumn,
  type SourceBatch,
  type SourceContext,
  STRING,
  type TaskLog,
  toSourceRecords,
} from '../../../../sdk/index.ts'
import { cellText, type DataRows, isNull, parseCell, rowTexts } from '../data-rows.ts'
import { DatabaseError } from '../database-error.ts'
import { plainTable, type Quote } from '../identifier.ts'
import type { ResultField, RowStream } from '../row-stream.ts'
import type { RowTexts } from '../row-texts.ts'
import type { Session } from '../session.ts'
import { microsFromText, textFromMicros } from '../time-text.ts'
import { type TimeZone, UTC } from '../time-zone.ts'
import { type CellParser, parseInteger, timestampParser } from './cell-parsers.ts'
import { readLong, type TypeMapping } from './result-columns.ts'
import { describeResult, isDescribedBy, type ResultDescription } from './result-description.ts'
import { type RejectedRow, readColumns } from './row-columns.ts'
import { rowLimit, selectRowsAfter, type TableQuery } from './select-statement.ts'
import { resumableOffsets, type TableOffset, toSourceOffset } from './table-offset.ts'
import { findUpperBound, readClock, type VisibilityOptions } from './upper-bound.ts'

export type TableQuerierOptions = {
  readonly topic: string
  readonly sourcePartition: Position
  readonly rowsMax: number
  readonly quote: Quote
  readonly zone: TimeZone
  readonly mapping: TypeMapping
  readonly visibility: VisibilityOptions
  /** Receives a row that cannot be converted to a record, so that reading can continue. */
  readonly reject: SourceContext<unknown>['reject']
  /** Receives the offset behind rejected rows, which no record has. */
  readonly advance: SourceContext<unknown>['advance']
  readonly log: TaskLog
  readonly signal: AbortSignal
}

type RowOffsets = {
  /** The timestamps of the rows, in microseconds since 1970. */
  readonly micros: readonly number[] | undefined
  readonly offsetOf: (row: number) => TableOffset
}

/** Rows as columns. `rejected` are those that could not be converted. */
type ReadRows = RowOffsets & {
  readonly columns: readonly RowColumn[]
  readonly length: number
  readonly rejected: ReadonlySet<number>
}

/** Reads one table or query repeatedly and keeps track of its offset. */
export class TableQuerier {
  /** When the next read is due, in ms of `performance.now()`. */
  dueMs = 0
  readonly #tableQuery: TableQuery
  readonly #options: TableQuerierOptions
  readonly #timedOutTransactions = new Set<string>()
  #offset: TableOffset
  #isReached: boolean
  #described: ResultDescription | undefined

  /** `isReached`: the offset was reached by reading or is stored; it is not a configured initial offset. */
  constructor(tableQuery: TableQuery, offset: TableOffset, isReached: boolean, options: TableQuerierOptions) {
    this.#tableQuery = tableQuery
    this.#offset = offset
    this.#isReached = isReached
    this.#options = options
  }

  /** Yields all rows that are new now, in batches. Rows that were yielded are not read again, even after a failure. */
  async *read(session: Session): AsyncGenerator<SourceBatch> {
    const { quote, zone, visibility } = this.#options
    await this.#checkClock(session)
    this.#described = await describeResult(session, this.#tableQuery, this.#options, this.#described)
    const upperBound = await findUpperBound(
      { session, ...this.#options },
      this.#tableQuery,
      visibility,
      this.#timedOutTransactions,
    )
    if (upperBound === 'nothing') return
    const { text, values } = selectRowsAfter(this.#tableQuery, this.#offset, upperBound, quote, zone)
    yield* this.#batches(session.openRows(`read ${this.#name}`, text, values), this.#described)
  }

  async *#batches(stream: RowStream<DataRows>, described: ResultDescription): AsyncGenerator<SourceBatch> {
    const reads = this.#readRows(stream, described)
    if (this.#usesTimestampOnly) yield* this.#timestampBatches(reads, described)
    // Empty batches too: the offset behind rejected rows is set with them.
    else for await (const rows of reads) yield this.#toBatch(rows, rows.offsetOf, described)
  }

  async *#readRows(stream: RowStream<DataRows>, described: ResultDescription): AsyncGenerator<ReadRows> {
    const { rowsMax } = this.#options
    const read = this.#rowReader(described)
    for (;;) {
      const rows = await stream.read(rowsMax, rowsMax)
      if (rows === undefined) return
      this.#checkFields(described, stream.fields)
      yield read(rows)
    }
  }

  /** Only the next row shows whether a row was the last with its timestamp. */
  async *#timestampBatches(reads: AsyncIterable<ReadRows>, described: ResultDescription): AsyncGenerator<SourceBatch> {
    const limit = rowLimit(this.#tableQuery.suffix)
    const before = this.#offset.micros
    const toBatch = (rows: ReadRows, isComplete: boolean) => {
      const offsets = resumableOffsets(this.#offset, rows.micros!, isComplete)
      return this.#toBatch(rows, (row) => offsets[row]!, described)
    }
    let count = 0
    let pending: ReadRows | undefined
    for await (const next of reads) {
      if (pending !== undefined) yield toBatch(pending, next.micros![0]! > pending.micros!.at(-1)!)
      count += next.length
      pending = next
    }
    // A limit may have cut off rows with the last timestamp.
    if (pending !== undefined) yield toBatch(pending, count < limit)
    if (count >= limit && this.#offset.micros === before) throw this.#limitError(limit)
  }

  #limitError(limit: number): Error {
    return new Error(
      `${this.#name} has ${limit} or more rows with one timestamp, so query.suffix=${this.#tableQuery.suffix} would skip rows: ` +
        `set query.suffix=FETCH FIRST ${limit} ROWS WITH TIES, or mode=timestamp+incrementing`,
    )
  }

  /** False in mode `bulk`, in which each read begins anew, and before the first timestamp is complete. */
  get #hasOffsets(): boolean {
    return this.#offset.micros !== undefined || this.#offset.id !== undefined
  }

  get #usesTimestampOnly(): boolean {
    return this.#tableQuery.timestampColumns.length > 0 && this.#tableQuery.incrementingColumn === undefined
  }

  get #name(): string {
    return 'table' in this.#tableQuery.from ? `the table ${plainTable(this.#tableQuery.from.table)}` : 'the query'
  }

  #toBatch(
    { columns, length, rejected }: ReadRows,
    offsetOf: (row: number) => TableOffset,
    { schema }: ResultDescription,
  ): SourceBatch {
    const { topic, sourcePartition, advance } = this.#options
    this.#offset = offsetOf(length - 1)
    this.#isReached = true
    const sourceOffset = (row: number) => toSourceOffset(offsetOf(row))
    if (rejected.has(length - 1) && this.#hasOffsets) advance(sourcePartition, sourceOffset(length - 1))
    const batch = { topic, valueSchema: schema, length, columns, sourcePartition, offsetOf: sourceOffset }
    return rejected.size === 0 ? batch : toSourceRecords(batch).filter((_, row) => !rejected.has(row))
  }

  #rowReader({ columns, fields }: ResultDescription): (rows: DataRows) => ReadRows {
    const readOffsets = this.#offsetReader(fields)
    return (rows) => {
      const offsets = readOffsets(rows)
      const read = readColumns(rows, columns)
      for (const rejected of read.rejected) {
        this.#reject(rowTexts(rows, rejected.row), fields, offsets.offsetOf(rejected.row), rejected)
      }
      const rejected = new Set(read.rejected.map(({ row }) => row))
      return { ...offsets, columns: read.columns, length: rows.rows, rejected }
    }
  }

  /** Rejects a row. The value of the rejected record is a JSON object of the column texts. */
  #reject(
    row: RowTexts,
    fields: readonly ResultField[],
    offset: TableOffset,
    { column, error: cause }: RejectedRow,
  ): void {
    const { topic, sourcePartition, reject } = this.#options
    const shown = row.map((cell) => (cell !== null && cell.length > 40 ? `${cell.slice(0, 40)}…` : cell)).join(', ')
    const error = new DataError(
      `cannot convert the column '${column.name}' of ${this.#name} in the row (${shown}): ${cause.message}`,
      { cause },
    )
    const value = JSON.stringify(Object.fromEntries(fields.map(({ name }, at) => [name, row[at]])))
    reject({ topic, value, valueSchema: STRING, sourcePartition, sourceOffset: toSourceOffset(offset) }, error)
  }

  /** Returns a function that extracts the offsets of rows from the result columns. */
  #offsetReader(fields: readonly ResultField[]): (rows: DataRows) => RowOffsets {
    const { timestampColumns, incrementingColumn } = this.#tableQuery
    const indexOf = (column: string) => {
      const exact = fields.findIndex(({ name }) => name === column)
      const found = exact >= 0 ? exact : fields.findIndex(({ name }) => name.toLowerCase() === column.toLowerCase())
      if (found >= 0) return found
      throw new Error(
        `${this.#name} has no column '${column}'; its columns are ${fields.map(({ name }) => name).join(', ')}`,
      )
    }
    const times = timestampColumns.map(indexOf)
    const id = incrementingColumn === undefined ? undefined : indexOf(incrementingColumn)
    const parseMicros = timestampParser(this.#options.zone, (micros) => micros)
    return (rows) => {
      const micros = times.length === 0 ? undefined : new Array<number>(rows.rows)
      const ids = id === undefined ? undefined : new Array<number | bigint>(rows.rows)
      for (let row = 0; row < rows.rows; row++) {
        if (micros) micros[row] = this.#toMicros(times, rows, row, parseMicros)
        if (ids) ids[row] = this.#toId(rows, row, id!, incrementingColumn!)
      }
      return { micros, offsetOf: (row) => ({ ...(micros && { micros: micros[row]! }), ...(ids && { id: ids[row]! }) }) }
    }
  }

  #toMicros(columns: readonly number[], rows: DataRows, row: number, parse: CellParser): number {
    const column = columns.find((index) => !isNull(rows, row, index))
    if (column === undefined) return microsFromText('', this.#options.zone)
    const micros = parseCell(rows, row, column, parse)
    return Number.isNaN(micros) ? microsFromText(cellText(rows, row, column)!, this.#options.zone) : micros
  }

  #toId(rows: DataRows, row: number, index: number, column: string): number | bigint {
    const id = isNull(rows, row, index) ? Number.NaN : parseCell(rows, row, index, parseInteger)
    if (!Number.isNaN(id)) return id
    const text = cellText(rows, row, index)
    if (text !== null && /^-?\d+$/.test(text)) return readLong(text)
    throw new DataError(`the incrementing column '${column}' of ${this.#name} is ${text}: it must be an integer`)
  }

  #checkFields(described: ResultDescription, fields: readonly ResultField[]): void {
    if (isDescribedBy(described, fields)) return
    throw new DatabaseError(`could not read ${this.#name}: its columns were changed while it was read`, {
      isTransient: true,
    })
  }

  /** Rows that are written now would have an earlier timestamp than the offset and would never be read. */
  async #checkClock(session: Session): Promise<void> {
    const { micros } = this.#offset
    if (micros === undefined || !this.#isReached) return
    const nowMicros = await readClock(session)
    if (micros <= nowMicros) return
    const [reached, now] = [micros, nowMicros].map((at) => textFromMicros(at, UTC))
    throw new Error(
      `the clock of the database is at ${now}, but ${this.#name} was already read up to ${reached}: rows written now would be ` +
        `skipped. Correct the clock of the database, or set the connector's offset to a time before ${now}`,
    )
  }
}
