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
import type { ResultField, ResultRow, Session } from '../session.ts'
import { microsFromText, textFromMicros } from '../time-text.ts'
import { type TimeZone, UTC } from '../time-zone.ts'
import { type Mapping, readLong } from './columns.ts'
import { describeResult, isDescribedBy, type ResultDescription } from './result-description.ts'
import { type TableQuery, toStatement } from './statement.ts'
import { resumableOffsets, type TableOffset, toSourceOffset } from './table-offset.ts'
import { findUpperBound, readClock, type VisibilityOptions } from './upper-bound.ts'

/** Maximum size of the row text of a batch. Two batches are in memory: one being produced and one being fetched. */
const HELD_BYTES_MAX = 8 * 1024 * 1024
/** Number of rows to fetch until the mean row size is known. */
const FIRST_ROWS = 20

export type TableQuerierOptions = {
  readonly topic: string
  readonly sourcePartition: Position
  readonly rowsMax: number
  readonly quote: Quote
  readonly zone: TimeZone
  readonly mapping: Mapping
  readonly caution: VisibilityOptions
  /** Receives a row that cannot be converted to a record, so that reading can continue. */
  readonly reject: SourceContext<unknown>['reject']
  readonly log: TaskLog
  readonly signal: AbortSignal
}

/** A row with the parts of its record; `value` is undefined if the row was rejected. */
type Read = { readonly value: Record<string, unknown> | undefined; readonly place: TableOffset }

/** Reads one table or query repeatedly and keeps track of its offset. */
export class TableQuerier {
  /** When the next read is due, in ms of `performance.now()`. */
  dueMs = 0
  readonly #origin: TableQuery
  readonly #options: TableQuerierOptions
  readonly #inVain = new Set<string>()
  #place: TableOffset
  #isReached: boolean
  #described: ResultDescription | undefined
  #rowBytes = HELD_BYTES_MAX / FIRST_ROWS

  /** `isReached`: the offset was reached by reading or is stored; it is not a configured initial offset. */
  constructor(origin: TableQuery, place: TableOffset, isReached: boolean, options: TableQuerierOptions) {
    this.#origin = origin
    this.#place = place
    this.#isReached = isReached
    this.#options = options
  }

  /** Yields all rows that are new now, in batches. Rows that were yielded are not read again, even after a failure. */
  async *read(session: Session): AsyncGenerator<readonly SourceRecord[]> {
    const { quote, zone, caution } = this.#options
    await this.#refuseFuture(session)
    this.#described = await describeResult(session, this.#origin, this.#options, this.#described)
    const horizon = await findUpperBound({ session, ...this.#options }, this.#origin, caution, this.#inVain)
    if (horizon === 'nothing') return
    const { text, values } = toStatement(this.#origin, this.#place, horizon, quote, zone)
    const rows = session.openRows(`read ${this.#name}`, text, values)
    try {
      yield* this.#batches(rows, this.#described)
    } finally {
      await rows.close()
    }
  }

  async *#batches(
    rows: ReturnType<Session['openRows']>,
    described: ResultDescription,
  ): AsyncGenerator<readonly SourceRecord[]> {
    const toRead = this.#rowReader(described)
    // In timestamp mode, only the next row shows whether a row was the last with its timestamp.
    let held: readonly Read[] = []
    for (;;) {
      const { rows: next, fields } = await rows.read(this.#rowsNext())
      if (next.length > 0) this.#checkFields(described, fields)
      this.#rowBytes = Math.max(1, meanBytes(next) ?? this.#rowBytes)
      if (next.length > 0) rows.fetchAhead(this.#rowsNext())
      const read = [...held, ...next.map(toRead)]
      const isEnd = next.length === 0
      const count = isEnd || !this.#goesByTimeAlone ? read.length : read.length - 1
      const batch = this.#toRecords(read, count, isEnd, described)
      held = read.slice(count)
      // Yield empty batches too: their offset is stored after the rejected rows were written to the dead letter queue.
      if (count > 0) yield batch
      if (isEnd) return
    }
  }

  get #goesByTimeAlone(): boolean {
    return this.#origin.timestampColumns.length > 0 && this.#origin.incrementingColumn === undefined
  }

  get #name(): string {
    return 'table' in this.#origin.from ? `the table ${plainTable(this.#origin.from.table)}` : 'the query'
  }

  /** Converts the first `count` rows. The row after them shows whether their last timestamp is complete. */
  #toRecords(
    read: readonly Read[],
    count: number,
    isEnd: boolean,
    { schema }: ResultDescription,
  ): readonly SourceRecord[] {
    const { topic, sourcePartition } = this.#options
    const given = read.slice(0, count)
    const places = this.#goesByTimeAlone
      ? resumableOffsets(
          this.#place,
          read.map(({ place }) => place.micros!),
          isEnd,
        )
      : given.map(({ place }) => place)
    const last = places[count - 1]
    if (last !== undefined) {
      this.#place = last
      this.#isReached = true
    }
    return given.flatMap(({ value }, index) =>
      value === undefined
        ? []
        : { topic, value, valueSchema: schema, sourcePartition, sourceOffset: toSourceOffset(places[index]!) },
    )
  }

  #rowReader({ columns, fields }: ResultDescription): (row: ResultRow) => Read {
    const toPlace = this.#placeReader(fields)
    return (row) => {
      const place = toPlace(row)
      const value: Record<string, unknown> = {}
      let at = 0
      try {
        for (; at < columns.length; at += 1) {
          const { name, read } = columns[at]!
          const text = row[at]!
          value[name] = text === null ? null : read(text)
        }
        return { value, place }
      } catch (error) {
        if (!(error instanceof DataError)) throw error
        this.#reject(row, fields, columns[at]!.name, place, error)
        return { value: undefined, place }
      }
    }
  }

  /** Rejects a row. The value of the rejected record is a JSON object of the column texts. */
  #reject(row: ResultRow, fields: readonly ResultField[], column: string, place: TableOffset, cause: DataError): void {
    const { topic, sourcePartition, reject } = this.#options
    const shown = row.map((cell) => (cell !== null && cell.length > 40 ? `${cell.slice(0, 40)}…` : cell)).join(', ')
    const error = new DataError(
      `the column '${column}' of ${this.#name} can not be read in the row (${shown}): ${cause.message}`,
      { cause },
    )
    const value = JSON.stringify(Object.fromEntries(fields.map(({ name }, at) => [name, row[at]])))
    reject({ topic, value, valueSchema: STRING, sourcePartition, sourceOffset: toSourceOffset(place) }, error)
  }

  /** Returns a function that extracts a row's offset from the result columns. */
  #placeReader(fields: readonly ResultField[]): (row: ResultRow) => TableOffset {
    const { timestampColumns, incrementingColumn } = this.#origin
    const indexOf = (column: string) => {
      const exact = fields.findIndex(({ name }) => name === column)
      const found = exact >= 0 ? exact : fields.findIndex(({ name }) => name.toLowerCase() === column.toLowerCase())
      if (found >= 0) return found
      throw new Error(
        `the column '${column}' is not among those that ${this.#name} gives: ${fields.map(({ name }) => name).join(', ')}`,
      )
    }
    const times = timestampColumns.map(indexOf)
    const id = incrementingColumn === undefined ? undefined : indexOf(incrementingColumn)
    return (row) => ({
      ...(times.length > 0 && { micros: this.#toMicros(times, row) }),
      ...(id !== undefined && { id: this.#toId(row[id] ?? null, incrementingColumn!) }),
    })
  }

  #toMicros(columns: readonly number[], row: ResultRow): number {
    const text = columns.map((column) => row[column]).find((cell) => cell !== null && cell !== undefined)
    return microsFromText(text ?? '', this.#options.zone)
  }

  #toId(text: string | null, column: string): number | bigint {
    if (text !== null && /^-?\d+$/.test(text)) return readLong(text)
    throw new DataError(`the incrementing column '${column}' of ${this.#name} is ${text}: it has to be a whole number`)
  }

  #checkFields(described: ResultDescription, fields: readonly ResultField[]): void {
    if (isDescribedBy(described, fields)) return
    throw new DatabaseError(`could not read ${this.#name}: its columns were changed meanwhile`, { heals: true })
  }

  #rowsNext(): number {
    return Math.max(1, Math.min(this.#options.rowsMax, Math.floor(HELD_BYTES_MAX / this.#rowBytes)))
  }

  /** Rows that are written now would have an earlier timestamp than the offset and would never be read. */
  async #refuseFuture(session: Session): Promise<void> {
    const { micros } = this.#place
    if (micros === undefined || !this.#isReached) return
    const nowMicros = await readClock(session)
    if (micros <= nowMicros) return
    const [reached, now] = [micros, nowMicros].map((at) => textFromMicros(at, UTC))
    throw new Error(
      `the clock of the database says ${now}, but ${this.#name} was read up to ${reached} before: rows written now would be ` +
        `skipped. Set the clock of the database right, or set the connector's offset back to before the clock was`,
    )
  }
}

/** Returns undefined if there are no rows. */
function meanBytes(rows: readonly ResultRow[]): number | undefined {
  if (rows.length === 0) return undefined
  let bytes = 0
  for (const row of rows) for (const cell of row) bytes += cell === null ? 0 : cell.length
  return bytes / rows.length
}
