import { type Position, type RecordHeader, type Schema, type SourceRecord, STRING } from '../../../../../sdk/index.ts'
import {
  type DatabaseChange,
  type Lsn,
  type Row,
  type SnapshotRow,
  type Table,
  UNCHANGED_TOAST,
} from '../changes/change.ts'
import type { ColumnTypes } from '../values/column-types.ts'
import type { EventSettings } from './event-settings.ts'
import { HEARTBEAT_KEY, HEARTBEAT_VALUE } from './heartbeat.ts'
import { MESSAGE_KEY, messageSchema } from './message-events.ts'
import { type ChangeOrigin, type EventTime, eventTime, SourceBlock } from './source-block.ts'
import { TableEvents, type TableRowChange } from './table-events.ts'
import { TopicNaming } from './topic-naming.ts'
import { TRANSACTION_KEY, TRANSACTION_VALUE, TransactionCounter } from './transaction-metadata.ts'

export type EventOffset = { readonly sourcePartition: Position; readonly sourceOffset: Position }

export type EventWriterOptions = {
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

/** Converts changes to records in the form of Debezium's events. */
export class EventWriter {
  readonly #settings: EventSettings
  readonly #types: ColumnTypes
  readonly #topics: TopicNaming
  readonly #source: SourceBlock
  readonly #headers: readonly RecordHeader[]
  readonly #messageSchema: Schema
  readonly #nowUs: () => bigint
  readonly #tables = new WeakMap<Table, TableEvents>()
  #counter: TransactionCounter | undefined
  /** The time of the last commit: a message outside of transactions has it, too. */
  #committed: { readonly us: bigint; readonly time: EventTime }

  constructor(options: EventWriterOptions) {
    const { settings, version, database, lastCommitLsn } = options
    this.#settings = settings
    this.#types = options.types
    this.#topics = new TopicNaming(settings.topics)
    this.#source = new SourceBlock({ version, name: settings.topics.prefix, database, lastCommitLsn })
    this.#headers = settings.hasContextHeaders ? contextHeaders(options) : []
    this.#messageSchema = messageSchema(options.types.bytes.schema)
    this.#nowUs = options.nowUs
    const us = options.lastCommitUs ?? options.nowUs()
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
        return this.#writeRow(change, offset)
      case 'snapshot':
        return [this.#writeSnapshotRow(change, offset)]
      case 'begin':
        return this.#begin(change, offset)
      case 'commit':
        return this.#commit(change, offset)
      case 'truncate':
        return this.#writeTruncate(change, offset)
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

  heartbeat(offset: EventOffset): SourceRecord {
    return {
      topic: this.#topics.heartbeat,
      keySchema: HEARTBEAT_KEY,
      key: { serverName: this.#settings.topics.prefix },
      valueSchema: HEARTBEAT_VALUE,
      value: { ts_ms: Number(this.#nowUs() / 1000n) },
      ...offset,
    }
  }

  #tableEvents(table: Table): TableEvents {
    const known = this.#tables.get(table)
    if (known !== undefined) return known
    const created = new TableEvents(table, this.#topics, this.#settings, this.#types)
    this.#tables.set(table, created)
    return created
  }

  #begin({ transaction, lsn }: Extract<Change, { kind: 'begin' }>, offset: EventOffset): readonly SourceRecord[] {
    this.#committed = { us: transaction.committedAtUs, time: eventTime(transaction.committedAtUs) }
    if (!this.#settings.hasTransactionMetadata) return []
    this.#counter = new TransactionCounter(transaction.id)
    return [this.#transactionRecord(this.#counter.idAt(lsn), this.#counter.begin(lsn, this.#committed.time.ms), offset)]
  }

  #commit({ endLsn }: Extract<Change, { kind: 'commit' }>, offset: EventOffset): readonly SourceRecord[] {
    this.#source.lastCommitLsn = endLsn
    const counter = this.#counter
    this.#counter = undefined
    if (counter === undefined) return []
    return [this.#transactionRecord(counter.idAt(endLsn), counter.end(endLsn, this.#committed.time.ms), offset)]
  }

  #transactionRecord(id: string, value: object, offset: EventOffset): SourceRecord {
    const [keySchema, valueSchema] = [TRANSACTION_KEY, TRANSACTION_VALUE]
    return { topic: this.#topics.transaction, keySchema, key: { id }, valueSchema, value, ...offset }
  }

  #writeSnapshotRow(row: SnapshotRow, offset: EventOffset): SourceRecord {
    const { table, marker, lsn, transactionId, readAtUs } = row
    if (readAtUs !== this.#committed.us) this.#committed = { us: readAtUs, time: eventTime(readAtUs) }
    const origin = { ...nameOf(table), transactionId, lsn, time: this.#committed.time, marker }
    return this.#event(this.#tableEvents(table), 'r', origin, { before: undefined, after: row.row }, offset)
  }

  #writeRow(change: TableRowChange, offset: EventOffset): readonly SourceRecord[] {
    const events = this.#tableEvents(change.table)
    const { op, before } = change
    const after = completed(change)
    const origin = this.#originOf(change.table, change)
    if (op === 'c') return this.#create(events, origin, after!, offset, [])
    if (op === 'd') return this.#delete(events, origin, before!, offset, [])
    if (events.isKeyMoved(change)) return this.#moveKey(events, origin, before!, after!, offset)
    if (this.#settings.skippedOperations.has('u')) return []
    const { skipsUnchanged } = this.#settings
    if (skipsUnchanged && before !== undefined && !change.isBeforeKeyOnly && events.hasSameValues(before, after!))
      return []
    const old = change.isBeforeKeyOnly ? undefined : before
    return [this.#event(events, 'u', origin, { before: old, after }, offset)]
  }

  /** A change of the key is a delete of the old key and a create of the new one, which name each other in headers. */
  #moveKey(
    events: TableEvents,
    origin: ChangeOrigin,
    before: Row,
    after: Row,
    offset: EventOffset,
  ): readonly SourceRecord[] {
    const header = (key: string, row: Row) => ({ key, schema: events.keySchema, value: events.key(row) })
    return [
      ...this.#delete(events, origin, before, offset, [header('__debezium.newkey', after)]),
      ...this.#create(events, origin, after, offset, [header('__debezium.oldkey', before)]),
    ]
  }

  #create(
    events: TableEvents,
    origin: ChangeOrigin,
    after: Row,
    offset: EventOffset,
    headers: readonly RecordHeader[],
  ): readonly SourceRecord[] {
    if (this.#settings.skippedOperations.has('c')) return []
    return [this.#event(events, 'c', origin, { before: undefined, after }, offset, headers)]
  }

  #delete(
    events: TableEvents,
    origin: ChangeOrigin,
    before: Row,
    offset: EventOffset,
    headers: readonly RecordHeader[],
  ): readonly SourceRecord[] {
    if (this.#settings.skippedOperations.has('d')) return []
    const deleted = this.#event(events, 'd', origin, { before, after: undefined }, offset, headers)
    if (!this.#settings.hasTombstones) return [deleted]
    return [deleted, { ...deleted, value: null, valueSchema: null }]
  }

  #event(
    events: TableEvents,
    op: string,
    origin: ChangeOrigin,
    { before, after }: { readonly before: Row | undefined; readonly after: Row | undefined },
    offset: EventOffset,
    headers: readonly RecordHeader[] = [],
  ): SourceRecord {
    const omitted = this.#settings.unavailable === 'omit' && after !== undefined ? events.unsentColumns(after) : ''
    const now = eventTime(this.#nowUs())
    return {
      topic: events.topic,
      keySchema: events.keySchema,
      key: events.key((after ?? before)!),
      valueSchema: events.envelope(omitted),
      value: {
        before: before === undefined ? null : events.row(before),
        after: after === undefined ? null : omitted === '' ? events.row(after) : events.sentRow(after),
        source: this.#source.of(origin),
        transaction: this.#counter?.next(collectionOf(origin), origin.lsn) ?? null,
        op,
        ts_ms: now.ms,
        ts_us: now.us,
        ts_ns: now.ns,
      },
      headers: headers.length === 0 ? this.#headers : [...headers, ...this.#headers],
      ...offset,
    }
  }

  #writeTruncate(change: Extract<Change, { kind: 'truncate' }>, offset: EventOffset): readonly SourceRecord[] {
    if (this.#settings.skippedOperations.has('t')) return []
    return change.tables.map((table) => {
      const events = this.#tableEvents(table)
      const now = eventTime(this.#nowUs())
      const origin = this.#originOf(table, change)
      return {
        topic: events.topic,
        keySchema: null,
        key: null,
        valueSchema: events.envelope(),
        value: {
          before: null,
          after: null,
          source: this.#source.of(origin),
          transaction: this.#counter?.next(collectionOf(origin), origin.lsn) ?? null,
          op: 't',
          ts_ms: now.ms,
          ts_us: now.us,
          ts_ns: now.ns,
        },
        headers: this.#headers,
        ...offset,
      }
    })
  }

  #writeMessage(change: Extract<Change, { kind: 'message' }>, offset: EventOffset): SourceRecord {
    const { prefix, content, transaction, lsn } = change
    if (transaction === undefined) this.#source.lastCommitLsn = lsn
    const time = this.#committed.time
    const origin = { schema: '', table: '', transactionId: transaction?.id, lsn, time, marker: undefined }
    return {
      topic: this.#topics.message,
      keySchema: MESSAGE_KEY,
      key: { prefix },
      valueSchema: this.#messageSchema,
      value: {
        op: 'm',
        ts_ms: Number(this.#nowUs() / 1000n),
        source: this.#source.of(origin),
        transaction: transaction === undefined ? null : (this.#counter?.next(MESSAGES, lsn) ?? null),
        message: { prefix, content: this.#types.bytes.encode(Buffer.from(content)) },
      },
      ...offset,
    }
  }

  #originOf(table: Table, { transaction, lsn }: Pick<TableRowChange, 'transaction' | 'lsn'>): ChangeOrigin {
    return { ...nameOf(table), transactionId: transaction.id, lsn, time: this.#committed.time, marker: undefined }
  }
}

/** The new row, with the unchanged values that only the old row has. In the old row of a key, other columns are null. */
function completed({ before, after }: TableRowChange): Row | undefined {
  if (after === undefined || before === undefined || !after.includes(UNCHANGED_TOAST)) return after
  return after.map((cell, index) => (cell === UNCHANGED_TOAST ? (before[index] ?? cell) : cell))
}

/** What logical messages are counted as in the metadata of transactions. */
const MESSAGES = 'message'

function nameOf({ schema, name }: Table): Pick<ChangeOrigin, 'schema' | 'table'> {
  return { schema, table: name }
}

function collectionOf({ schema, table }: ChangeOrigin): string {
  return `${schema}.${table}`
}

function contextHeaders({ settings, taskId, runId }: EventWriterOptions): readonly RecordHeader[] {
  const values = {
    connectorLogicalName: settings.topics.prefix,
    taskId,
    connectorName: 'postgresql',
    runId,
  }
  return Object.entries(values).map(([name, value]) => ({
    key: `__debezium.context.${name}`,
    schema: STRING,
    value,
  }))
}
