import type { SourceRecord } from '../../../../../sdk/index.ts'
import type { EventSettings } from '../../../cdc/events/event-settings.ts'
import { type EventOffset, EventWriter } from '../../../cdc/events/event-writer.ts'
import { type Row, UNSENT } from '../../../cdc/table.ts'
import type { RowOperation } from '../binlog/event-type.ts'
import type { RowChange } from '../binlog/row-decoder.ts'
import type { HistoryColumn, HistoryTable } from '../table-model.ts'
import type { MysqlColumnTypes } from '../values/mysql-column-types.ts'
import { type MysqlFlavor, type MysqlOrigin, sourceBlock, sourceSchema } from './mysql-source-block.ts'
import { type SchemaChangeEvent, SchemaChangeWriter } from './schema-change-events.ts'

export type MysqlEventWriterOptions = {
  readonly flavor: MysqlFlavor
  readonly settings: EventSettings
  readonly types: MysqlColumnTypes
  readonly version: string
  readonly taskId: string
  /** Identifies the run of the task in headers. */
  readonly runId: string
  /** The present time, in microseconds since 1970. */
  readonly nowUs: () => bigint
}

/** Converts the changes of MySQL and MariaDB to records. */
export class MysqlEventWriter {
  readonly #events: EventWriter<HistoryColumn, MysqlOrigin>
  readonly #schemas: SchemaChangeWriter

  constructor({ flavor, settings, types, version, taskId, runId, nowUs }: MysqlEventWriterOptions) {
    const source = sourceBlock(flavor, version, settings.topics.prefix)
    const dialect = {
      connectorName: flavor,
      columns: types,
      sourceSchema: sourceSchema(flavor),
      source,
      transactionId: ({ transactionId }: MysqlOrigin) => transactionId,
    }
    this.#events = new EventWriter({ settings, dialect, taskId, runId, nowUs })
    const nowMs = () => Number(nowUs() / 1000n)
    this.#schemas = new SchemaChangeWriter(flavor, settings.topics.prefix, {
      source,
      nowMs,
      headers: this.#events.headers,
    })
  }

  begin(id: string, timeUs: bigint, offset: EventOffset): readonly SourceRecord[] {
    return this.#events.begin(id, Number(timeUs / 1000n), offset)
  }

  commit(id: string, timeUs: bigint, offset: EventOffset): readonly SourceRecord[] {
    return this.#events.commit(id, Number(timeUs / 1000n), offset)
  }

  row(
    op: RowOperation,
    table: HistoryTable,
    { before, after }: RowChange,
    origin: MysqlOrigin,
    offset: EventOffset,
  ): readonly SourceRecord[] {
    const isBeforeKeyOnly = before?.includes(UNSENT) ?? false
    const old = op === 'd' && before !== undefined ? withoutUnsent(before) : before
    return this.#events.row(op, { table, before: old, after, isBeforeKeyOnly }, origin, offset)
  }

  snapshotRow(table: HistoryTable, row: Row, origin: MysqlOrigin, offset: EventOffset): SourceRecord {
    return this.#events.snapshotRow(table, row, origin, offset)
  }

  truncate(table: HistoryTable, origin: MysqlOrigin, offset: EventOffset): readonly SourceRecord[] {
    return this.#events.truncate(table, origin, offset)
  }

  schemaChange(event: SchemaChangeEvent, offset: EventOffset): SourceRecord {
    return this.#schemas.write(event, offset)
  }

  heartbeat(offset: EventOffset): SourceRecord {
    return this.#events.heartbeat(offset)
  }
}

/** A minimal image of a deleted row has the columns of the key; others are null. */
function withoutUnsent(row: Row): Row {
  return row.includes(UNSENT) ? row.map((cell) => (cell === UNSENT ? null : cell)) : row
}
