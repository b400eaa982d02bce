import { DataError, type SourceRecord, type Position as StoredOffset, type TaskLog } from '../../../../sdk/index.ts'
import type { TableFilter } from '../../cdc/config/table-filter.ts'
import { eventTime } from '../../cdc/events/event-time.ts'
import type { EventOffset } from '../../cdc/events/event-writer.ts'
import { quotedTable } from '../../jdbc/identifier.ts'
import { MysqlProtocolError } from '../protocol/mysql-reader.ts'
import { mysqlQuoted } from '../sql-literal.ts'
import type { QueryData, RowsData } from './binlog/binlog-event.ts'
import type { PlacedEvent } from './binlog/binlog-stream.ts'
import { RowDecoder } from './binlog/row-decoder.ts'
import type { TableMap } from './binlog/table-map.ts'
import { SqlSyntaxError } from './ddl/sql-tokens.ts'
import { modesOf, parseStatement, type Statement, withoutSettings } from './ddl/statement.ts'
import type { AppliedStatement, TableSchemas } from './ddl/table-schemas.ts'
import type { MysqlEventWriter } from './events/mysql-event-writer.ts'
import type { MysqlOrigin } from './events/mysql-source-block.ts'
import type { SchemaHistory } from './history/schema-history.ts'
import { type BinlogPosition, printPosition } from './position.ts'
import type { RequestedMysqlSnapshots } from './snapshot/requested-mysql-snapshots.ts'
import { type HistoryTable, type TableChange, type TableId, tableIdKey } from './table-model.ts'
import type { TransactionTracker } from './transaction-tracker.ts'

export type ChangeProcessorOptions = {
  readonly start: BinlogPosition
  readonly tracker: TransactionTracker
  readonly partition: StoredOffset
  readonly schemas: TableSchemas
  readonly history: Pick<SchemaHistory, 'store'>
  readonly filter: TableFilter
  readonly writer: MysqlEventWriter
  /** Receives the changes before they are written, and adds its state to their offsets. */
  readonly snapshots: Pick<RequestedMysqlSnapshots, 'onRow' | 'onTruncate' | 'withState'>
  /** Whether the server has a sequence of this name, whose numbers it logs as rows. */
  readonly isSequence: (id: TableId) => Promise<boolean>
  readonly includesQuery: boolean
  readonly includesSchemaChanges: boolean
  readonly storesOnlyCaptured: boolean
  readonly log: TaskLog
}

/** Converts the events of the binary log to records with offsets. */
export class ChangeProcessor {
  readonly #options: ChangeProcessorOptions
  readonly #tracker: TransactionTracker
  /** The tables of the open transaction by their numbers; undefined for one that is not captured. */
  readonly #tables = new Map<number, RowDecoder | undefined>()
  /** The last decoder of each captured table. */
  readonly #decoders = new Map<string, RowDecoder>()
  /** Events and rows of the first transaction that were delivered before the start. */
  #eventsToSkip: number
  #rowsToSkip: number
  #isSkipping = false

  constructor(options: ChangeProcessorOptions) {
    this.#options = options
    this.#tracker = options.tracker
    this.#eventsToSkip = options.start.events
    this.#rowsToSkip = options.start.rows
  }

  /** Whether a part of a transaction was processed. */
  get isInTransaction(): boolean {
    return this.#tracker.isOpen
  }

  /** When the last change was made, in microseconds since 1970. */
  get timeUs(): bigint {
    return this.#tracker.timeUs
  }

  get offset(): EventOffset {
    return this.#offset()
  }

  /** The offset without the state of snapshots. */
  get position(): StoredOffset {
    return printPosition(this.#tracker.position())
  }

  /** Rejects with an error that names the place in the log if an event cannot be processed. */
  async process(events: readonly PlacedEvent[]): Promise<readonly SourceRecord[]> {
    const records: SourceRecord[] = []
    for (const event of events) {
      if (event.data.kind === 'heartbeat') {
        this.#tracker.wait(event.endPosition)
        continue
      }
      this.#tracker.enter(event)
      try {
        await this.#processEvent(event, records)
      } catch (error) {
        throw isAboutEvent(error) ? this.#placed(error, event) : error
      }
      this.#tracker.leave()
      if (this.#isSkipping) {
        this.#eventsToSkip -= 1
        this.#isSkipping = this.#eventsToSkip > 0
      }
    }
    return records
  }

  async #processEvent(event: PlacedEvent, records: SourceRecord[]): Promise<void> {
    const { data } = event
    switch (data.kind) {
      case 'rotate':
        this.#tracker.rotate(data.file, data.position)
        return
      case 'gtid':
        this.#tracker.setGtid(data.gtid, data.committedAtUs)
        return
      case 'begin':
        this.#tracker.setGtid(data.gtid, undefined)
        this.#begin(undefined, data.isStandalone, records)
        return
      case 'query':
        await this.#processQuery(data.query, event, records)
        return
      case 'statement':
        if (this.#options.includesQuery) this.#tracker.query = data.text
        return
      case 'table map':
        this.#tables.set(data.table.id, await this.#decoderOf(data.table))
        return
      case 'rows':
        await this.#processRows(data.rows, event, records)
        return
      case 'commit':
        this.#commit(event.endPosition, records)
        return
      case 'unsupported':
        throw new MysqlProtocolError(`the event cannot be read: ${data.reason}`)
      case 'heartbeat':
      case 'none':
        return
    }
  }

  #begin(threadId: number | undefined, isStandalone: boolean, records: SourceRecord[]): void {
    const tracker = this.#tracker
    tracker.begin(threadId)
    tracker.isStandalone = isStandalone
    if (this.#eventsToSkip > 0 && !tracker.isAt(this.#options.start)) {
      const { file, position } = this.#options.start
      this.#options.log.warn(
        { file, position, begins: { file: tracker.file, position: tracker.restart } },
        'another server, or another log, continues within a transaction: its changes are written again',
      )
      this.#eventsToSkip = 0
    }
    if (this.#eventsToSkip > 0) this.#isSkipping = true
    else this.#rowsToSkip = 0
    if (isStandalone) return
    const begun = this.#options.writer.begin(tracker.id, tracker.timeUs, this.#offset())
    if (!this.#isSkipping) records.push(...begun)
  }

  #commit(endPosition: number, records: SourceRecord[]): void {
    const tracker = this.#tracker
    const { id, timeUs, isOpen } = tracker
    tracker.end(endPosition)
    this.#tables.clear()
    this.#eventsToSkip = 0
    this.#rowsToSkip = 0
    this.#isSkipping = false
    if (isOpen) records.push(...this.#options.writer.commit(id, timeUs, this.#offset()))
  }

  async #processQuery(query: QueryData, event: PlacedEvent, records: SourceRecord[]): Promise<void> {
    const sql = query.sql.trim()
    if (/^(?:begin|xa\s+start\b.*)$/is.test(sql)) {
      // MariaDB's event of the GTID has begun it.
      if (this.#tracker.isOpen) this.#tracker.threadId = query.threadId
      else this.#begin(query.threadId, false, records)
      return
    }
    if (/^(?:commit|rollback)$/i.test(sql)) {
      if (/^rollback$/i.test(sql))
        this.#options.log.warn(this.#place(event), 'a transaction of the binary log was rolled back')
      this.#commit(event.endPosition, records)
      return
    }
    const statement = this.#parse(query, sql)
    if (statement.kind === 'row statement') this.#rejectRowStatement(statement)
    const applied = this.#options.schemas.apply(statement, (id) => this.#options.filter.includes(id))
    if (statement.kind !== 'other') this.#decoders.clear()
    const origin = this.#originOf(event, { schema: query.database, name: '' }, 0)
    const { gtids } = this.#tracker.position()
    if (!this.#tracker.isOpen || this.#tracker.isStandalone) this.#tracker.end(event.endPosition)
    if (this.#isSkipping) return
    const place = printPosition({ ...this.#tracker.position(), gtids })
    await this.#deliverStatement({ query, statement, applied, origin, place }, records)
  }

  #parse(query: QueryData, sql: string): Statement {
    try {
      return parseStatement(sql, query.database, modesOf(query.sqlMode))
    } catch (error) {
      if (!(error instanceof SqlSyntaxError)) throw error
      const shown = /identified|password/i.test(sql) ? 'not shown, for it may have a password' : truncatedStatement(sql)
      if (this.#options.filter.includesSchema(query.database)) {
        throw new SqlSyntaxError(
          `${error.message}; the statement in the database ${query.database}, which is captured, is: ${shown}`,
        )
      }
      this.#options.log.warn(
        { err: error, database: query.database },
        'a statement in a database that is not captured cannot be read',
      )
      return { kind: 'other' }
    }
  }

  #rejectRowStatement({ id, databases }: Extract<Statement, { readonly kind: 'row statement' }>): void {
    const { filter } = this.#options
    const database = databases.find((name) => filter.includesSchema(name))
    if (id === undefined ? database === undefined : !filter.includes(id)) return
    const what = id === undefined ? `tables of ${database}` : `${id.schema}.${id.name}`
    throw new MysqlProtocolError(
      `the log has a change of ${what} as a statement instead of rows: set binlog_format=ROW, and take a new snapshot`,
    )
  }

  async #deliverStatement(done: DeliveredStatement, records: SourceRecord[]): Promise<void> {
    const { statement, applied, origin, place, query } = done
    const { filter, history, writer, partition, includesSchemaChanges, storesOnlyCaptured } = this.#options
    if (applied.truncated !== undefined) {
      if (filter.includes(applied.truncated)) records.push(...this.#truncate(applied.truncated, origin))
      return
    }
    const isOfDatabase = statement.kind === 'create database' || statement.kind === 'drop database'
    const changes = applied.changes.filter((change) => !storesOnlyCaptured || filter.includes(idOf(change)))
    if (changes.length === 0 && !(isOfDatabase && filter.includesSchema(statement.name))) return
    const timestampMs = Number(this.#tracker.timeUs / 1000n)
    const parts = partsOf(statement, changes, { ...query, sql: withoutSettings(query.sql) })
    await history.store(parts.map((part) => ({ partition, offset: place, timestampMs, ...part })))
    if (!includesSchemaChanges) return
    const captured = changes.filter((change) => filter.includes(idOf(change)))
    const table = captured.map((change) => idOf(change).name).join(',')
    for (const { database, ddl, changes: own } of parts) {
      // The history may have tables that are captured later; the topic of changes does not.
      if (own.length > 0 && !own.some((change) => captured.includes(change))) continue
      const event = { origin: { ...origin, schema: database, table }, database, ddl, changes: own }
      records.push(writer.schemaChange(event, this.#offset()))
    }
  }

  /** The event is the only one of its transaction, of whose begin and end there are no records, as of those of other statements. */
  #truncate(table: HistoryTable, origin: MysqlOrigin): readonly SourceRecord[] {
    const { writer, snapshots } = this.#options
    snapshots.onTruncate(table)
    const { time, transactionId } = origin
    writer.begin(transactionId, BigInt(time.us), this.#offset())
    const records = writer.truncate(table, { ...origin, schema: table.schema, table: table.name }, this.#offset())
    writer.commit(transactionId, BigInt(time.us), this.#offset())
    return records
  }

  async #decoderOf(map: TableMap): Promise<RowDecoder | undefined> {
    const { filter, schemas, isSequence } = this.#options
    const id = { schema: map.database, name: map.table }
    if (!filter.includes(id)) return undefined
    const table = schemas.get(id)
    if (table === undefined) {
      if (await isSequence(id)) return undefined
      throw new MysqlProtocolError(
        `the structure of the table ${id.schema}.${id.name} is not in the schema history: exclude the table, or take a new snapshot`,
      )
    }
    const key = tableIdKey(table)
    const known = this.#decoders.get(key)
    if (known?.isOf(table, map)) return known
    const decoder = new RowDecoder(table, map)
    this.#decoders.set(key, decoder)
    return decoder
  }

  async #processRows(data: RowsData, event: PlacedEvent, records: SourceRecord[]): Promise<void> {
    const decoder = this.#tables.get(data.tableId)
    if (decoder === undefined) {
      if (this.#tables.has(data.tableId)) return
      throw new MysqlProtocolError(`rows of the table number ${data.tableId} have no description`)
    }
    const { snapshots, writer } = this.#options
    const { table } = decoder
    const changes = decoder.read(data)
    const delivered = this.#isSkipping ? changes.length : this.#rowsToSkip
    for (const [index, change] of changes.entries()) {
      // The state after a signal is stored with the record of the signal.
      const executed = index < delivered ? undefined : snapshots.onRow(data.op, table, change)
      if (executed !== undefined) await executed
      const offset = this.#offset(index + 1)
      const origin = this.#originOf(event, table, index)
      const written = writer.row(data.op, table, change, origin, offset)
      // What was delivered is counted only.
      if (index >= delivered) for (const record of written) records.push(record)
    }
    if (!this.#isSkipping) this.#rowsToSkip = 0
  }

  #originOf(event: PlacedEvent, { schema, name }: TableId, row: number): MysqlOrigin {
    const { gtid, threadId, query, timeUs, id, file } = this.#tracker
    return {
      schema,
      table: name,
      time: eventTime(timeUs),
      serverId: event.header.serverId,
      gtid,
      file,
      position: event.position,
      row,
      threadId,
      query,
      marker: undefined,
      transactionId: id,
    }
  }

  #offset(rows = 0): EventOffset {
    const { partition, snapshots } = this.#options
    return {
      sourcePartition: partition,
      sourceOffset: snapshots.withState(printPosition(this.#tracker.position(rows))),
    }
  }

  #place({ position }: PlacedEvent): { readonly file: string; readonly position: number } {
    return { file: this.#tracker.file, position }
  }

  #placed(error: Error, event: PlacedEvent): Error {
    return new Error(`at position ${event.position} of ${this.#tracker.file}: ${error.message}`, { cause: error })
  }
}

type DeliveredStatement = {
  readonly query: QueryData
  readonly statement: Statement
  readonly applied: AppliedStatement
  readonly origin: MysqlOrigin
  /** Its place in the schema history: the position after it, with the transactions before it. */
  readonly place: StoredOffset
}

/** Whether an event of the log is the cause of an error, and not the server or the broker. */
function isAboutEvent(error: unknown): error is Error {
  return [MysqlProtocolError, SqlSyntaxError, DataError, RangeError].some((type) => error instanceof type)
}

const SHOWN_CHARS = 200

function truncatedStatement(sql: string): string {
  return sql.length > SHOWN_CHARS ? `${sql.slice(0, SHOWN_CHARS)}…` : sql
}

function idOf(change: TableChange): TableId {
  return change.type === 'DROP' ? change.id : change.table
}

type StatementPart = { readonly database: string; readonly ddl: string; readonly changes: readonly TableChange[] }

/** Debezium has one event for each table that is dropped or renamed. */
function partsOf(statement: Statement, changes: readonly TableChange[], query: QueryData): readonly StatementPart[] {
  const [first] = changes
  if (first === undefined) {
    const isNamed = statement.kind === 'create database' || statement.kind === 'drop database'
    return [{ database: isNamed ? statement.name : query.database, ddl: query.sql, changes }]
  }
  if (statement.kind !== 'drop tables' && changes.length === 1) {
    return [{ database: idOf(first).schema, ddl: query.sql, changes }]
  }
  return changes.map((change) => ({
    database: idOf(change).schema,
    ddl: statementOf(change, statement, query.sql),
    changes: [change],
  }))
}

function statementOf(change: TableChange, statement: Statement, sql: string): string {
  if (change.type === 'DROP') return `DROP TABLE ${quotedTable(change.id, mysqlQuoted)}`
  if (statement.kind !== 'rename tables') return sql
  const { table } = change
  const found = statement.renames.find(({ to }) => to.name === table.name && to.schema === table.schema)
  return found === undefined ? sql : `RENAME TABLE ${found.text}`
}
