import { type Position, type RecordHeader, type SourceRecord, STRING } from '../../../../sdk/index.ts'
import { type ColumnDescription, type Row, type RowImages, type TableDescription, UNSENT } from '../table.ts'
import type { ChangeOrigin, EventDialect } from './event-dialect.ts'
import type { EventSettings } from './event-settings.ts'
import { eventTime } from './event-time.ts'
import { HEARTBEAT_KEY, HEARTBEAT_VALUE } from './heartbeat.ts'
import { TableEvents } from './table-events.ts'
import { TopicNaming } from './topic-naming.ts'
import { TRANSACTION_KEY, TRANSACTION_VALUE, TransactionCounter } from './transaction-metadata.ts'

export type EventOffset = { readonly sourcePartition: Position; readonly sourceOffset: Position }

export type EventWriterOptions<Column extends ColumnDescription, Origin extends ChangeOrigin> = {
  readonly settings: EventSettings
  readonly dialect: EventDialect<Column, Origin>
  readonly taskId: string
  /** Identifies the run of the task in headers. */
  readonly runId: string
  /** The present time, in microseconds since 1970. */
  readonly nowUs: () => bigint
}

/** Converts the changes of rows to records in the form of Debezium's events. */
export class EventWriter<Column extends ColumnDescription, Origin extends ChangeOrigin> {
  readonly topics: TopicNaming
  /** Headers of all events of tables. */
  readonly headers: readonly RecordHeader[]
  readonly #settings: EventSettings
  readonly #dialect: EventDialect<Column, Origin>
  readonly #nowUs: () => bigint
  readonly #tables = new WeakMap<TableDescription<Column>, TableEvents<Column>>()
  #counter: TransactionCounter | undefined

  constructor(options: EventWriterOptions<Column, Origin>) {
    const { settings } = options
    this.#settings = settings
    this.#dialect = options.dialect
    this.topics = new TopicNaming(settings.topics)
    this.headers = settings.hasContextHeaders ? contextHeaders(options) : []
    this.#nowUs = options.nowUs
  }

  isKeyMoved(change: RowImages<TableDescription<Column>>): boolean {
    return this.#tableEvents(change.table).isKeyMoved(change)
  }

  heartbeat(offset: EventOffset): SourceRecord {
    return {
      topic: this.topics.heartbeat,
      keySchema: HEARTBEAT_KEY,
      key: { serverName: this.#settings.topics.prefix },
      valueSchema: HEARTBEAT_VALUE,
      value: { ts_ms: Number(this.#nowUs() / 1000n) },
      ...offset,
    }
  }

  /** Begins to count the events of a transaction. Its records are empty without transaction metadata. */
  begin(id: string, ms: number, offset: EventOffset): readonly SourceRecord[] {
    if (!this.#settings.hasTransactionMetadata) return []
    this.#counter = new TransactionCounter()
    return [this.#transactionRecord(id, this.#counter.begin(id, ms), offset)]
  }

  commit(id: string, ms: number, offset: EventOffset): readonly SourceRecord[] {
    const counter = this.#counter
    this.#counter = undefined
    return counter === undefined ? [] : [this.#transactionRecord(id, counter.end(id, ms), offset)]
  }

  /** Counts an event that is not of a table, and returns its field `transaction`. */
  count(collection: string, origin: Origin): object | null {
    return this.#counter?.next(collection, this.#dialect.transactionId(origin)) ?? null
  }

  snapshotRow(table: TableDescription<Column>, row: Row, origin: Origin, offset: EventOffset): SourceRecord {
    return this.#event(this.#tableEvents(table), 'r', origin, { before: undefined, after: row }, offset)
  }

  row(
    op: 'c' | 'u' | 'd',
    change: RowImages<TableDescription<Column>>,
    origin: Origin,
    offset: EventOffset,
  ): readonly SourceRecord[] {
    const events = this.#tableEvents(change.table)
    const { before } = change
    const after = completed(change)
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

  truncate(table: TableDescription<Column>, origin: Origin, offset: EventOffset): readonly SourceRecord[] {
    if (this.#settings.skippedOperations.has('t')) return []
    const events = this.#tableEvents(table)
    const value = { before: null, after: null, ...this.#envelope('t', origin) }
    const valueSchema = events.envelope()
    return [{ topic: events.topic, keySchema: null, key: null, valueSchema, value, headers: this.headers, ...offset }]
  }

  #tableEvents(table: TableDescription<Column>): TableEvents<Column> {
    const known = this.#tables.get(table)
    if (known !== undefined) return known
    const created = new TableEvents(table, this.topics, this.#settings, this.#dialect)
    this.#tables.set(table, created)
    return created
  }

  #transactionRecord(id: string, value: object, offset: EventOffset): SourceRecord {
    const [keySchema, valueSchema] = [TRANSACTION_KEY, TRANSACTION_VALUE]
    return { topic: this.topics.transaction, keySchema, key: { id }, valueSchema, value, ...offset }
  }

  /** A change of the key is a delete of the old key and a create of the new one, which name each other in headers. */
  #moveKey(
    events: TableEvents<Column>,
    origin: Origin,
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
    events: TableEvents<Column>,
    origin: Origin,
    after: Row,
    offset: EventOffset,
    headers: readonly RecordHeader[],
  ): readonly SourceRecord[] {
    if (this.#settings.skippedOperations.has('c')) return []
    return [this.#event(events, 'c', origin, { before: undefined, after }, offset, headers)]
  }

  #delete(
    events: TableEvents<Column>,
    origin: Origin,
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
    events: TableEvents<Column>,
    op: string,
    origin: Origin,
    { before, after }: { readonly before: Row | undefined; readonly after: Row | undefined },
    offset: EventOffset,
    headers: readonly RecordHeader[] = [],
  ): SourceRecord {
    const omitted = this.#settings.unavailable === 'omit' && after !== undefined ? events.unsentColumns(after) : ''
    return {
      topic: events.topic,
      keySchema: events.keySchema,
      key: events.key((after ?? before)!),
      valueSchema: events.envelope(omitted),
      value: {
        before: before === undefined ? null : events.row(before),
        after: after === undefined ? null : omitted === '' ? events.row(after) : events.sentRow(after),
        ...this.#envelope(op, origin),
      },
      headers: headers.length === 0 ? this.headers : [...headers, ...this.headers],
      ...offset,
    }
  }

  #envelope(op: string, origin: Origin): object {
    const now = eventTime(this.#nowUs())
    return {
      source: this.#dialect.source(origin),
      transaction: this.#counter === undefined ? null : this.count(`${origin.schema}.${origin.table}`, origin),
      op,
      ts_ms: now.ms,
      ts_us: now.us,
      ts_ns: now.ns,
    }
  }
}

/** The new row, with the unchanged values that only the old row has. In the old row of a key, other columns are null. */
function completed({ before, after }: RowImages): Row | undefined {
  if (after === undefined || before === undefined || !after.includes(UNSENT)) return after
  return after.map((cell, index) => (cell === UNSENT ? (before[index] ?? cell) : cell))
}

function contextHeaders({
  settings,
  dialect,
  taskId,
  runId,
}: Pick<EventWriterOptions<never, never>, 'settings' | 'taskId' | 'runId'> & {
  readonly dialect: { readonly connectorName: string }
}): readonly RecordHeader[] {
  const values = {
    connectorLogicalName: settings.topics.prefix,
    taskId,
    connectorName: dialect.connectorName,
    runId,
  }
  return Object.entries(values).map(([name, value]) => ({
    key: `__debezium.context.${name}`,
    schema: STRING,
    value,
  }))
}
