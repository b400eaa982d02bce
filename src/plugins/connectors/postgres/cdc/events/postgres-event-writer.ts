import type { Schema, SourceRecord } from '../../../../../sdk/index.ts'
import type { EventSettings } from '../../../cdc/events/event-settings.ts'
import { type EventTime, eventTime } from '../../../cdc/events/event-time.ts'
import { type EventOffset, EventWriter } from '../../../cdc/events/event-writer.ts'
import type { Column, DatabaseChange, Lsn, SnapshotRow, Table } from '../changes/change.ts'
import type { ColumnTypes } from '../values/column-types.ts'
import { MESSAGE_KEY, messageSchema } from './message-events.ts'
import { type PostgresOrigin, SOURCE_SCHEMA, SourceBlock } from './source-block.ts'

export type PostgresEventWriterOptions = {
  readonly settings: EventSettings
  readonly types: ColumnTypes
  /** Version of the connector, for the field `source`. */
  readonly version: string
  readonly database: string
  readonly taskId: string
  /** Identifies the run of the task in headers. */
  readonly runId: string
  /** The present time, in microseconds since 1970. */
  readonly nowUs: () => bigint
  /** `lsn_commit` of the stored offset; undefined at the first start. */
  readonly lastCommitLsn: Lsn | undefined
  /** `ts_usec` of the stored offset; undefined if there is none. */
  readonly lastCommitUs: bigint | undefined
}

type Change = DatabaseChange | SnapshotRow
type RowChange = Extract<DatabaseChange, { readonly kind: 'row' }>

/** What logical messages are counted as in the metadata of transactions. */
const MESSAGES = 'message'

/** Converts the changes of a PostgreSQL database to records. */
export class PostgresEventWriter {
  readonly #events: EventWriter<Column, PostgresOrigin>
  readonly #types: ColumnTypes
  readonly #source: SourceBlock
  readonly #messageSchema: Schema
  readonly #nowUs: () => bigint
  #transactionId = 0
  /** The time of the last commit: a message outside of transactions has it, too. */
  #committed: { readonly us: bigint; readonly time: EventTime }

  constructor(options: PostgresEventWriterOptions) {
    const { settings, types, version, database, taskId, runId, nowUs, lastCommitLsn } = options
    const source = new SourceBlock({ version, name: settings.topics.prefix, database, lastCommitLsn })
    const dialect = {
      connectorName: 'postgresql',
      columns: types,
      sourceSchema: SOURCE_SCHEMA,
      source: (origin: PostgresOrigin) => source.of(origin),
      transactionId: ({ lsn }: PostgresOrigin) => this.#idAt(lsn),
    }
    this.#events = new EventWriter({ settings, dialect, taskId, runId, nowUs })
    this.#types = types
    this.#source = source
    this.#messageSchema = messageSchema(types.bytes.schema)
    this.#nowUs = nowUs
    const us = options.lastCommitUs ?? nowUs()
    this.#committed = { us, time: eventTime(us) }
  }

  /** Sets `source.xmin` of the events that are written from now on. */
  setXmin(xmin: number): void {
    this.#source.xmin = xmin
  }

  /** Must be called with every change, in order, also those without events. */
  write(change: Change, offset: EventOffset): readonly SourceRecord[] {
    switch (change.kind) {
      case 'row':
        return this.#events.row(change.op, change, this.#originOf(change.table, change), offset)
      case 'snapshot':
        return [this.#writeSnapshotRow(change, offset)]
      case 'begin':
        return this.#begin(change, offset)
      case 'commit':
        this.#source.lastCommitLsn = change.endLsn
        return this.#events.commit(this.#idAt(change.endLsn), this.#committed.time.ms, offset)
      case 'truncate':
        return change.tables.flatMap((table) => this.#events.truncate(table, this.#originOf(table, change), offset))
      case 'message':
        return [this.#writeMessage(change, offset)]
    }
  }

  /** Counts a change that was delivered before a restart, so that the events after it have the right numbers. */
  skip(change: DatabaseChange): void {
    this.write(change, { sourcePartition: {}, sourceOffset: {} })
  }

  /** Receives a change that is not captured. The position of a message that is not captured is in later events nevertheless. */
  ignore(change: DatabaseChange): void {
    if (change.kind === 'message' && change.transaction === undefined) this.#source.lastCommitLsn = change.lsn
  }

  /** Whether an update is a delete of one key and a create of another one. */
  isKeyMoved(change: RowChange): boolean {
    return this.#events.isKeyMoved(change)
  }

  heartbeat(offset: EventOffset): SourceRecord {
    return this.#events.heartbeat(offset)
  }

  /** Debezium's identifiers contain the LSN of each event. */
  #idAt(lsn: Lsn): string {
    return `${this.#transactionId}:${lsn}`
  }

  #begin({ transaction, lsn }: Extract<Change, { kind: 'begin' }>, offset: EventOffset): readonly SourceRecord[] {
    this.#committed = { us: transaction.committedAtUs, time: eventTime(transaction.committedAtUs) }
    this.#transactionId = transaction.id
    return this.#events.begin(this.#idAt(lsn), this.#committed.time.ms, offset)
  }

  #writeSnapshotRow(row: SnapshotRow, offset: EventOffset): SourceRecord {
    const { table, marker, lsn, transactionId, readAtUs } = row
    if (readAtUs !== this.#committed.us) this.#committed = { us: readAtUs, time: eventTime(readAtUs) }
    const origin = { ...nameOf(table), transactionId, lsn, time: this.#committed.time, marker }
    return this.#events.snapshotRow(table, row.row, origin, offset)
  }

  #writeMessage(change: Extract<Change, { kind: 'message' }>, offset: EventOffset): SourceRecord {
    const { prefix, content, transaction, lsn } = change
    if (transaction === undefined) this.#source.lastCommitLsn = lsn
    const time = this.#committed.time
    const origin = { schema: '', table: '', transactionId: transaction?.id, lsn, time, marker: undefined }
    return {
      topic: this.#events.topics.message,
      keySchema: MESSAGE_KEY,
      key: { prefix },
      valueSchema: this.#messageSchema,
      value: {
        op: 'm',
        ts_ms: Number(this.#nowUs() / 1000n),
        source: this.#source.of(origin),
        transaction: transaction === undefined ? null : this.#events.count(MESSAGES, origin),
        message: { prefix, content: this.#types.bytes.encode(Buffer.from(content)) },
      },
      ...offset,
    }
  }

  #originOf(table: Table, { transaction, lsn }: Pick<RowChange, 'transaction' | 'lsn'>): PostgresOrigin {
    return { ...nameOf(table), transactionId: transaction.id, lsn, time: this.#committed.time, marker: undefined }
  }
}

function nameOf({ schema, name }: Table): Pick<PostgresOrigin, 'schema' | 'table'> {
  return { schema, table: name }
}
