import { truncateText } from '../../../../common/truncate-text.ts'
import {
  DataError,
  type Position,
  type SourceContext,
  type SourceRecord,
  STRING,
  type TaskLog,
} from '../../../../sdk/index.ts'
import { DatabaseError } from '../database-error.ts'
import { plainTable, type Quote } from '../identifier.ts'
import type { ResultField, RowCursor } from '../row-cursor.ts'
import type { RowTexts } from '../row-texts.ts'
import { textFromMicros } from '../time-text.ts'
import { type TimeZone, UTC } from '../time-zone.ts'
import { readLong } from './read-long.ts'
import { describeResult, isDescribedBy, type ResultDescription } from './result-description.ts'
import { rowLimit, type TableQuery } from './select-statement.ts'
import type { ResultColumn, SourceSession, TypeMapping } from './source-database.ts'
import { resumableOffsets, type TableOffset, toSourceOffset } from './table-offset.ts'
import { findUpperBound, type VisibilityOptions } from './upper-bound.ts'

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

/** The values of rows; undefined for one that could not be converted and was rejected. */
type ConvertedRows = RowOffsets & { readonly values: readonly (object | undefined)[] }

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
  async *read(session: SourceSession): AsyncGenerator<readonly SourceRecord[]> {
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
    const options = { quote, zone, fields: this.#described.fields }
    const statement = session.selectRowsAfter(this.#tableQuery, this.#offset, upperBound, options)
    const cursor = session.openRows(`read ${this.#name}`, statement, this.#options.rowsMax)
    yield* this.#batches(cursor, this.#described)
  }

  async *#batches(cursor: RowCursor, described: ResultDescription): AsyncGenerator<readonly SourceRecord[]> {
    const reads = this.#convertRows(cursor, described)
    if (this.#usesTimestampOnly) yield* this.#timestampBatches(reads, described)
    // Empty batches too: the offset behind rejected rows is set with them.
    else for await (const rows of reads) yield this.#toBatch(rows, rows.offsetOf, described)
  }

  async *#convertRows(cursor: RowCursor, described: ResultDescription): AsyncGenerator<ConvertedRows> {
    const readOffsets = this.#offsetReader(described)
    for await (const { rows, fields } of cursor) {
      this.#checkFields(described, fields)
      const offsets = readOffsets(rows)
      const values: (object | undefined)[] = []
      for (let row = 0; row < rows.length; row++) values.push(this.#toValue(rows[row]!, described, offsets, row))
      yield { micros: offsets.micros, offsetOf: offsets.offsetOf, values }
    }
  }

  /** Only the next row shows whether a row was the last with its timestamp. */
  async *#timestampBatches(
    reads: AsyncIterable<ConvertedRows>,
    described: ResultDescription,
  ): AsyncGenerator<readonly SourceRecord[]> {
    const limit = rowLimit(this.#tableQuery.suffix)
    const before = this.#offset.micros
    const toBatch = (rows: ConvertedRows, isComplete: boolean) => {
      const offsets = resumableOffsets(this.#offset, rows.micros!, isComplete)
      return this.#toBatch(rows, (row) => offsets[row]!, described)
    }
    let count = 0
    let pending: ConvertedRows | undefined
    for await (const next of reads) {
      if (pending !== undefined) yield toBatch(pending, next.micros![0]! > pending.micros!.at(-1)!)
      count += next.values.length
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
    { values }: ConvertedRows,
    offsetOf: (row: number) => TableOffset,
    { schema: valueSchema }: ResultDescription,
  ): readonly SourceRecord[] {
    const { topic, sourcePartition, advance } = this.#options
    const last = values.length - 1
    this.#offset = offsetOf(last)
    this.#isReached = true
    if (values[last] === undefined && this.#hasOffsets) advance(sourcePartition, toSourceOffset(offsetOf(last)))
    const records: SourceRecord[] = []
    for (let row = 0; row < values.length; row++) {
      const value = values[row]
      if (value === undefined) continue
      records.push({ topic, value, valueSchema, sourcePartition, sourceOffset: toSourceOffset(offsetOf(row)) })
    }
    return records
  }

  /** Converts a row to the value of its record. Rejects a row that cannot be converted, and returns undefined. */
  #toValue(
    row: RowTexts,
    { columns, fields }: ResultDescription,
    { offsetOf }: RowOffsets,
    at: number,
  ): object | undefined {
    const value: Record<string, unknown> = {}
    let index = 0
    try {
      for (; index < columns.length; index++) {
        const { name, read } = columns[index]!
        const text = row[index]!
        setMember(value, name, text === null ? null : read(text))
      }
      return value
    } catch (error) {
      if (!(error instanceof DataError)) throw error
      this.#reject(row, fields, offsetOf(at), columns[index]!, error)
      return undefined
    }
  }

  /** Rejects a row. The value of the rejected record is a JSON object of the column texts. */
  #reject(
    row: RowTexts,
    fields: readonly ResultField[],
    offset: TableOffset,
    column: ResultColumn,
    cause: DataError,
  ): void {
    const { topic, sourcePartition, reject } = this.#options
    const shown = row.map((cell) => cell && truncateText(cell, 40, '…')).join(', ')
    const error = new DataError(
      `cannot convert the column '${column.name}' of ${this.#name} in the row (${shown}): ${cause.message}`,
      { cause },
    )
    const value = JSON.stringify(Object.fromEntries(fields.map(({ name }, at) => [name, row[at]])))
    reject({ topic, value, valueSchema: STRING, sourcePartition, sourceOffset: toSourceOffset(offset) }, error)
  }

  /** Returns a function that extracts the offsets of rows from the result columns. */
  #offsetReader({ fields, columns }: ResultDescription): (rows: readonly RowTexts[]) => RowOffsets {
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
    return (rows) => {
      const micros = times.length === 0 ? undefined : rows.map((row) => toMicros(columns, times, row))
      const ids = id === undefined ? undefined : rows.map((row) => this.#toId(row[id]!, incrementingColumn!))
      return { micros, offsetOf: (row) => ({ micros: micros?.[row], id: ids?.[row] }) }
    }
  }

  #toId(text: string | null, column: string): number | bigint {
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
  async #checkClock(session: SourceSession): Promise<void> {
    const { micros } = this.#offset
    if (micros === undefined || !this.#isReached) return
    const nowMicros = await session.readClock()
    if (micros <= nowMicros) return
    const [reached, now] = [micros, nowMicros].map((at) => textFromMicros(at, UTC))
    throw new Error(
      `the clock of the database is at ${now}, but ${this.#name} was already read up to ${reached}: rows written now would be ` +
        `skipped. Correct the clock of the database, or set the connector's offset to a time before ${now}`,
    )
  }
}

/** Converts the first timestamp that is not null. Throws a `DataError` if all are. */
function toMicros(columns: readonly ResultColumn[], times: readonly number[], row: RowTexts): number {
  const index = times.find((time) => row[time] !== null) ?? times[0]!
  return columns[index]!.toMicros(row[index] ?? '')
}

/** An assignment to `__proto__` sets no member. */
function setMember(struct: Record<string, unknown>, field: string, value: unknown): void {
  if (field !== '__proto__') struct[field] = value
  else Object.defineProperty(struct, field, { value, enumerable: true, configurable: true, writable: true })
}
