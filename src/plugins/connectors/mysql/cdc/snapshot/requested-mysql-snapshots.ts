import type { SourceContext, Position as StoredOffset } from '../../../../../sdk/index.ts'
import type { TableFilter } from '../../../cdc/config/table-filter.ts'
import { eventTime } from '../../../cdc/events/event-time.ts'
import { AdHocSnapshots } from '../../../cdc/signals/ad-hoc-snapshots.ts'
import { type Row, UNSENT } from '../../../cdc/table.ts'
import { plainTable } from '../../../jdbc/identifier.ts'
import type { MysqlSession } from '../../session.ts'
import type { RowOperation } from '../binlog/event-type.ts'
import type { RowChange } from '../binlog/row-decoder.ts'
import type { MysqlCdcConfig } from '../config/mysql-cdc-config.ts'
import type { TableSchemas } from '../ddl/table-schemas.ts'
import { logPositionOf } from '../position.ts'
import type { HistoryTable } from '../table-model.ts'
import type { TransactionTracker } from '../transaction-tracker.ts'
import {
  type DeliveredPosition,
  type MysqlChunkPlan,
  MysqlChunkSession,
  type ObservedTable,
  observedTable,
} from './mysql-chunk-session.ts'
import { originOf, type RequestedRowsOptions, readRequestedRows } from './mysql-snapshot.ts'

export type RequestedMysqlSnapshotOptions = RequestedRowsOptions & {
  readonly context: RequestedRowsOptions['context'] & Pick<SourceContext<MysqlCdcConfig>, 'openTopic' | 'files'>
  /** The stored offset, from which an incremental snapshot continues. */
  readonly storedState: StoredOffset
  readonly schemas: TableSchemas
  readonly filter: TableFilter
  readonly tracker: TransactionTracker
  /** Opens a session on the server of the stream. */
  readonly openStreamSession: () => Promise<MysqlSession>
  readonly serverNumber: () => number | undefined
  readonly requestPosition: () => void
}

/** Snapshots of MySQL and MariaDB that signals request. */
export class RequestedMysqlSnapshots implements AsyncDisposable {
  readonly #snapshots: AdHocSnapshots<ObservedTable, MysqlChunkPlan, DeliveredPosition>
  readonly #signalTable: string | undefined

  private constructor(
    snapshots: AdHocSnapshots<ObservedTable, MysqlChunkPlan, DeliveredPosition>,
    signalTable: string | undefined,
  ) {
    this.#snapshots = snapshots
    this.#signalTable = signalTable
  }

  static async open(options: RequestedMysqlSnapshotOptions): Promise<RequestedMysqlSnapshots> {
    const { context, partition, state, schemas, filter, tracker, writer, storedState, requestPosition } = options
    const progress = {
      get position() {
        return logPositionOf(tracker.delivered)
      },
      delivered: () => ({ position: logPositionOf(tracker.delivered), gtids: tracker.gtids }),
    }
    const snapshots = await AdHocSnapshots.open<ObservedTable, MysqlChunkPlan, DeliveredPosition>({
      context,
      storedState,
      database: {
        async openSession() {
          const session = await options.openStreamSession()
          return MysqlChunkSession.open(session, { state, schemas, filter, serverNumber: options.serverNumber() })
        },
        progress,
        isCurrent: ({ described }: MysqlChunkPlan) => schemas.get(described) === described,
        requestPosition,
      },
      async toRecords(table, rows, sourceOffset) {
        const time = eventTime(BigInt(Date.now()) * 1000n)
        // As with Debezium, the rows have the place of the last transaction.
        const { gtid } = tracker
        const serverId = tracker.position().serverId ?? 0
        const origin = { ...originOf(table, tracker.delivered, time, 'incremental'), gtid, serverId }
        const described = schemas.get(table)!
        const offset = { sourcePartition: partition, sourceOffset }
        return rows.map((row) => writer.snapshotRow(described, row, origin, offset))
      },
      readBlocking: (request, sourceOffset) => readRequestedRows(options, request, sourceOffset),
    })
    return new RequestedMysqlSnapshots(snapshots, context.config['signal.data.collection'])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#snapshots[Symbol.asyncDispose]()
  }

  /** Receives each row that changes before it is written. Await the result if there is one. */
  onRow(op: RowOperation, table: HistoryTable, { before, after }: RowChange): Promise<void> | undefined {
    if (!this.#isObserved(table)) return undefined
    const images = { before, after: completed(before, after), isBeforeKeyOnly: before?.includes(UNSENT) ?? false }
    return this.#snapshots.onChange({ kind: 'row', op, table: observedTable(table), ...images })
  }

  onTruncate(table: HistoryTable): void {
    void this.#snapshots.onChange({ kind: 'truncate', tables: [observedTable(table)] })
  }

  /** The offset with the state of the incremental snapshot and of the signal topic. */
  withState(offset: StoredOffset): StoredOffset {
    return this.#snapshots.withState(offset)
  }

  /** Records to yield between two transactions. `offset`: that of the stream. */
  records(offset: StoredOffset): ReturnType<AdHocSnapshots<never, never, never>['records']> {
    return this.#snapshots.records(offset)
  }

  #isObserved({ schema, name }: HistoryTable): boolean {
    const { observedTable: observed } = this.#snapshots
    if (observed?.name === name && observed.schema === schema) return true
    return this.#signalTable !== undefined && this.#signalTable === plainTable({ schema, name })
  }
}

/** A minimal image of the new row has no values that are unchanged, such as those of the key. */
function completed(before: Row | undefined, after: Row | undefined): Row | undefined {
  if (before === undefined || after === undefined || !after.includes(UNSENT)) return after
  return after.map((cell, index) => (cell === UNSENT ? (before[index] ?? cell) : cell))
}
