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
import type { ResultField, RowStream } from '../row-stream.ts'
import type { RowTexts } from '../row-texts.ts'
import type { Session } from '../session.ts'
import { microsFromText, textFromMicros } from '../time-text.ts'
import { type TimeZone, UTC } from '../time-zone.ts'
import { readLong, type TypeMapping } from './result-columns.ts'
import { describeResult, isDescribedBy, type ResultDescription } from './result-description.ts'
import { selectRowsAfter, type TableQuery } from './select-statement.ts'
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
  readonly log: TaskLog
  readonly signal: AbortSignal
}

/** A row with the parts of its record; `value` is undefined if the row was rejected. */
type ReadRow = { readonly value: Record<string, unknown> | undefined; readonly offset: TableOffset }

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
  async *read(session: Session): AsyncGenerator<readonly SourceRecord[]> {
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

  async *#batches(stream: RowStream, described: ResultDescription): AsyncGenerator<readonly SourceRecord[]> {
    const { rowsMax } = this.#options
    const toRead = this.#rowReader(described)
    // In timestamp mode, only the next row shows whether a row was the last with its timestamp.
    let pendingRows: readonly ReadRow[] = []
    for (;;) {
      const next = await stream.read(rowsMax, rowsMax)
      if (next.length > 0) this.#checkFields(described, stream.fields)
      const read = [...pendingRows, ...next.map(toRead)]
      const isEnd = next.length === 0
      const count = isEnd || !this.#usesTimestampOnly ? read.length : read.length - 1
      const batch = this.#toRecords(read, count, isEnd, described)
      pendingRows = read.slice(count)
      // Yield empty batches too: their offset is stored after the rejected rows were written to the dead letter queue.
      if (count > 0) yield batch
      if (isEnd) return
    }
  }

  get #usesTimestampOnly(): boolean {
    return this.#tableQuery.timestampColumns.length > 0 && this.#tableQuery.incrementingColumn === undefined
  }

  get #name(): string {
    return 'table' in this.#tableQuery.from ? `the table ${plainTable(this.#tableQuery.from.table)}` : 'the query'
  }

  /** Converts the first `count` rows. The row after them shows whether their last timestamp is complete. */
  #toRecords(
    read: readonly ReadRow[],
    count: number,
    isEnd: boolean,
    { schema }: ResultDescription,
  ): readonly SourceRecord[] {
    const { topic, sourcePartition } = this.#options
    const rows = read.slice(0, count)
    const offsets = this.#usesTimestampOnly
      ? resumableOffsets(
          this.#offset,
          read.map(({ offset }) => offset.micros!),
          isEnd,
        )
      : rows.map(({ offset }) => offset)
    const last = offsets[count - 1]
    if (last !== undefined) {
      this.#offset = last
      this.#isReached = true
    }
    return rows.flatMap(({ value }, index) =>
      value === undefined
        ? []
        : { topic, value, valueSchema: schema, sourcePartition, sourceOffset: toSourceOffset(offsets[index]!) },
    )
  }

  #rowReader({ columns, fields }: ResultDescription): (row: RowTexts) => ReadRow {
    const toOffset = this.#offsetReader(fields)
    return (row) => {
      const offset = toOffset(row)
      const value: Record<string, unknown> = {}
      let at = 0
      try {
        for (; at < columns.length; at += 1) {
          const { name, read } = columns[at]!
          const text = row[at]!
          value[name] = text === null ? null : read(text)
        }
        return { value, offset }
      } catch (error) {
        if (!(error instanceof DataError)) throw error
        this.#reject(row, fields, columns[at]!.name, offset, error)
        return { value: undefined, offset }
      }
    }
  }

  /** Rejects a row. The value of the rejected record is a JSON object of the column texts. */
  #reject(row: RowTexts, fields: readonly ResultField[], column: string, offset: TableOffset, cause: DataError): void {
    const { topic, sourcePartition, reject } = this.#options
    const shown = row.map((cell) => (cell !== null && cell.length > 40 ? `${cell.slice(0, 40)}…` : cell)).join(', ')
    const error = new DataError(
      `cannot convert the column '${column}' of ${this.#name} in the row (${shown}): ${cause.message}`,
      { cause },
    )
    const value = JSON.stringify(Object.fromEntries(fields.map(({ name }, at) => [name, row[at]])))
    reject({ topic, value, valueSchema: STRING, sourcePartition, sourceOffset: toSourceOffset(offset) }, error)
  }

  /** Returns a function that extracts a row's offset from the result columns. */
  #offsetReader(fields: readonly ResultField[]): (row: RowTexts) => TableOffset {
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
    return (row) => ({
      ...(times.length > 0 && { micros: this.#toMicros(times, row) }),
      ...(id !== undefined && { id: this.#toId(row[id] ?? null, incrementingColumn!) }),
    })
  }

  #toMicros(columns: readonly number[], row: RowTexts): number {
    const text = columns.map((column) => row[column]).find((cell) => cell !== null && cell !== undefined)
    return microsFromText(text ?? '', this.#options.zone)
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
