import { int64, type Position as StoredOffset } from '../../../../../sdk/index.ts'
import type { SnapshotState } from '../../../cdc/snapshot/snapshot-mode.ts'
import type { SnapshotRow } from '../changes/change.ts'
import type { SnapshotView } from './snapshot-view.ts'

const PROGRESS = 'snapshot_progress'

/** An offset within a snapshot, with the keys of Debezium and the progress. Without a progress the snapshot is complete. */
export function printSnapshotOffset(
  { lsn, transactionId, readAtUs }: Pick<SnapshotRow, 'lsn' | 'transactionId' | 'readAtUs'>,
  progress: string | undefined,
  view?: SnapshotView,
): StoredOffset {
  const isComplete = progress === undefined
  const offset = {
    snapshot: 'INITIAL',
    snapshot_completed: isComplete,
    last_snapshot_record: isComplete,
    lsn: int64(lsn),
    ...(transactionId !== undefined && { txId: transactionId }),
    ts_usec: int64(readAtUs),
    ...(progress !== undefined && { [PROGRESS]: progress }),
  }
  return view === undefined ? offset : view.in(offset, lsn)
}

/** Whether an offset, of this connector or of Debezium, is in a snapshot or in the stream. */
export function storedStateOf(stored: StoredOffset | undefined): SnapshotState['stored'] {
  if (stored === undefined) return 'none'
  const isInSnapshot = stored['snapshot'] !== undefined && stored['snapshot'] !== null && stored['snapshot'] !== false
  const isComplete = stored['snapshot_completed'] === true || stored['last_snapshot_record'] === true
  return isInSnapshot && !isComplete ? 'snapshot' : 'stream'
}

/** The progress of a snapshot that did not end; undefined if there is none, as with Debezium, which reads all tables again. */
export function storedProgress(stored: StoredOffset | undefined): string | undefined {
  const progress = stored?.[PROGRESS]
  return typeof progress === 'string' && storedStateOf(stored) === 'snapshot' ? progress : undefined
}

/** A stored offset without the keys of snapshots, which the stream does not keep. */
export function withoutSnapshotKeys(stored: StoredOffset): StoredOffset {
  const isOfSnapshot = (key: string) => /^(?:last_|incremental_)?snapshot/.test(key)
  return Object.fromEntries(Object.entries(stored).filter(([key]) => !isOfSnapshot(key)))
}
