import type { SourceContext, SourceRecord, Position as StoredOffset } from '../../../../../sdk/index.ts'
import { overridingStatements } from '../../../cdc/config/overriding-statements.ts'
import type { EventOffset } from '../../../cdc/events/event-writer.ts'
import type { BlockingSnapshot } from '../../../cdc/signals/incremental-snapshot.ts'
import type { Session } from '../../session.ts'
import type { Lsn, SnapshotRow, Table } from '../changes/change.ts'
import type { CaptureFilter } from '../config/capture-filter.ts'
import type { CdcConfig } from '../config/cdc-config.ts'
import { printSnapshotOffset, storedProgress } from './snapshot-offset.ts'
import { readSnapshot, type SnapshotBatch, type SnapshotOptions } from './snapshot-reader.ts'
import type { SnapshotView } from './snapshot-view.ts'

/** Converts rows to records. */
export type RowWriter = { write(row: SnapshotRow, offset: EventOffset): readonly SourceRecord[] }

export type SnapshotRecordOptions = {
  readonly context: Pick<SourceContext<CdcConfig>, 'config' | 'raw' | 'advance' | 'reportSnapshot' | 'log'>
  readonly partition: StoredOffset
  /** The stored offset, if its snapshot continues. */
  readonly stored: StoredOffset | undefined
  readonly openSession: () => Promise<Session>
  readonly exportedSnapshot: string | undefined
  /** Where the stream starts afterwards; undefined if no stream follows. */
  readonly lsn: Lsn | undefined
  readonly openView?: SnapshotOptions['openView']
  readonly filter: CaptureFilter
  readonly publishesRoot: boolean
  readonly writer: RowWriter
  /** Called before the first row of a table is written. */
  readonly onTable: (table: Table) => Promise<void>
  /** Called when the exported snapshot is imported: the session that exported it may end. */
  readonly onImported?: () => void
}

/**
 * Yields the records of the rows that exist, and at the end the offset with which the stream begins. Returns which changes of the
 * stream the rows contain, if the slot is older than the snapshot.
 */
export async function* snapshotRecords(
  options: SnapshotRecordOptions,
): AsyncGenerator<readonly SourceRecord[], SnapshotView | undefined> {
  const { context, partition } = options
  const rowsMax = Math.min(context.config['snapshot.fetch.size'], context.config['max.batch.size'])
  const known = new Set<Table>()
  let last: SnapshotRow | undefined
  let view: SnapshotView | undefined
  const onView = (taken: SnapshotView) => {
    view = taken
  }
  for await (const batch of readSnapshot({ ...toReaderOptions(options), onView })) {
    const { table } = batch.rows[0]!
    if (!known.has(table)) await options.onTable(table)
    known.add(table)
    last = batch.rows.at(-1)
    for (let from = 0; from < batch.rows.length; from += rowsMax)
      yield toRecords(batch, from, from + rowsMax, options, view)
  }
  const end = last ?? { lsn: options.lsn ?? 0n, transactionId: undefined, readAtUs: BigInt(Date.now()) * 1000n }
  context.advance(partition, printSnapshotOffset(end, undefined, view))
  yield []
  return view
}

/** All records but the last one have the progress before the batch: one may be stored while the next one is not. */
function toRecords(
  { rows, before, after }: SnapshotBatch,
  from: number,
  to: number,
  { partition, writer }: SnapshotRecordOptions,
  view: SnapshotView | undefined,
): readonly SourceRecord[] {
  const [first] = rows
  const offset = { sourcePartition: partition, sourceOffset: printSnapshotOffset(first!, before, view) }
  const records: SourceRecord[] = []
  for (const row of rows.slice(from, Math.min(to, rows.length - 1))) {
    for (const record of writer.write(row, offset)) records.push(record)
  }
  if (to < rows.length) return records
  const lastOffset = { sourcePartition: partition, sourceOffset: printSnapshotOffset(first!, after, view) }
  for (const record of writer.write(rows.at(-1)!, lastOffset)) records.push(record)
  return records
}

/** Reads the rows of a snapshot that a signal requests, while the stream waits. */
export function readBlockingSnapshot(
  options: SnapshotRecordOptions,
  { tables, statements }: BlockingSnapshot,
): AsyncIterable<SnapshotBatch> {
  const reader = toReaderOptions(options)
  const isCaptured = ({ schema, name }: { readonly schema: string; readonly name: string }) =>
    tables.includes(`${schema}.${name}`)
  return readSnapshot({ ...reader, tables: { ...reader.tables, isCaptured, included: [], statements } })
}

function toReaderOptions(options: SnapshotRecordOptions): SnapshotOptions {
  const { context, filter, stored, openSession, exportedSnapshot, lsn, publishesRoot, onImported, openView } = options
  const { config, raw, log } = context
  const isShared = config['snapshot.locking.mode'] === 'shared'
  return {
    openSession,
    exportedSnapshot,
    isolation: config['snapshot.isolation.mode'],
    lockTimeoutMs: isShared ? config['snapshot.lock.timeout.ms'] : 0,
    tables: {
      isCaptured: ({ schema, name }) =>
        `${schema}.${name}` !== config['signal.data.collection'] && filter.includes({ schema, name }),
      included: config['snapshot.include.collection.list'],
      order: config['table.include.list'],
      rowCountOrder: config['snapshot.tables.order.by.row.count'],
      statements: overridingStatements(config['snapshot.select.statement.overrides'], raw),
      publishesRoot,
    },
    threads: config['snapshot.max.threads'],
    locksAllTables: isShared,
    progress: storedProgress(stored),
    lsn,
    openView,
    log,
    nowMs: () => Date.now(),
    onStatus: context.reportSnapshot,
    ...(onImported !== undefined && { onImported }),
  }
}
