import type { SourceContext, Position as StoredOffset } from '../../../../../sdk/index.ts'
import { AdHocSnapshots } from '../../../cdc/signals/ad-hoc-snapshots.ts'
import type { Table } from '../changes/change.ts'
import type { DeliveredTransactions } from '../changes/delivered-transactions.ts'
import type { CdcConfig } from '../config/cdc-config.ts'
import { type PostgresChunkPlan, PostgresChunkSession } from './postgres-chunk-session.ts'
import { readBlockingSnapshot, type SnapshotRecordOptions } from './snapshot-records.ts'

export type RequestedSnapshotOptions = Omit<SnapshotRecordOptions, 'context' | 'stored'> & {
  readonly context: SnapshotRecordOptions['context'] & Pick<SourceContext<CdcConfig>, 'openTopic' | 'files'>
  /** The stored offset, from which an incremental snapshot continues. */
  readonly storedState: StoredOffset
  readonly progress: DeliveredTransactions
  /** Asks the server to report its position, so that records of snapshots are requested soon. */
  readonly requestPosition: () => void
}

export type RequestedSnapshots = AdHocSnapshots<Table, PostgresChunkPlan, readonly number[]>

/** Opens the snapshots that signals request. */
export function openRequestedSnapshots(options: RequestedSnapshotOptions): Promise<RequestedSnapshots> {
  const { context, filter, onTable, openSession, partition, progress, publishesRoot, requestPosition, writer } = options
  const isCaptured = (name: { readonly schema: string; readonly name: string }) => filter.includes(name)
  return AdHocSnapshots.open({
    context,
    storedState: options.storedState,
    database: {
      openSession: async () => new PostgresChunkSession(await openSession(), { isCaptured, publishesRoot }),
      progress,
      // A row of another version of the table has its key, or the window is broken.
      isCurrent: () => true,
      requestPosition,
    },
    async toRecords(table, rows, sourceOffset) {
      if (rows.length > 0) await onTable(table)
      const readAtUs = BigInt(Date.now()) * 1000n
      const { position: lsn } = progress
      const common = {
        kind: 'snapshot',
        table,
        marker: 'incremental',
        transactionId: undefined,
        lsn,
        readAtUs,
      } as const
      return rows.flatMap((row) => writer.write({ ...common, row }, { sourcePartition: partition, sourceOffset }))
    },
    async *readBlocking(request, sourceOffset) {
      // Consumers may order events by their LSN. The rows include all changes before this one.
      const batches = readBlockingSnapshot({ ...options, lsn: progress.position, stored: undefined }, request)
      for await (const { rows } of batches) {
        await onTable(rows[0]!.table)
        const offset = { sourcePartition: partition, sourceOffset: sourceOffset() }
        yield rows.flatMap((row) => writer.write(row, offset))
      }
    },
  })
}
