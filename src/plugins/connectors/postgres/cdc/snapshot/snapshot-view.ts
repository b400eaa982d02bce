import { truncateText } from '../../../../../common/truncate-text.ts'
import type { Position as StoredOffset } from '../../../../../sdk/index.ts'
import type { DatabaseChange, DatabaseTransaction, Lsn } from '../changes/change.ts'
import { parseLsn, printLsn } from '../replication/lsn.ts'
import type { ServerHistory } from '../replication/server-history.ts'
import { parseIds, parseSnapshotBounds, printIds, type SnapshotBounds } from './snapshot-progress.ts'

/** Not one of the keys of snapshots, which the stream does not keep. */
const SEEN = 'seen_by_snapshot'
/** What is stored is limited. The changes of other transactions and tables are sent again. */
const RUNNING_MAX = 1_000
const TABLES_MAX = 10_000

type RowChange = Extract<DatabaseChange, { readonly kind: 'row' }>

type Content = {
  /** The server on which transactions have these ids. */
  readonly history: string
  /** All transactions that are seen were committed before this position. */
  readonly end: Lsn
  readonly bounds: SnapshotBounds
  readonly tables: ReadonlySet<number>
}

/**
 * Which changes of a slot the rows of a snapshot contain, if the slot is older than the snapshot: those of transactions that the
 * snapshot sees, of tables that it reads whole. A transaction that is committed while the rows are read is not seen.
 *
 * An earlier start may have written rows before it stored an offset, and no snapshot contains that they were deleted. So from the
 * first delete on, all changes of a table are sent: their end is the state of the snapshot again.
 */
export class SnapshotView {
  readonly #content: Content
  readonly #running: ReadonlySet<number>
  readonly #tables: Set<number>
  #text: string | undefined

  private constructor(content: Content) {
    this.#content = content
    this.#running = new Set(content.bounds.running)
    this.#tables = new Set(content.tables)
  }

  /**
   * `currentSnapshot` is the text of `pg_current_snapshot()`, and `history` was read after it. A standby does not list the
   * transactions that run. A commit that is not yet on disk could be lost in a crash, and its id be used again.
   */
  static take(currentSnapshot: string, { history, flushedLsn, isStandby }: ServerHistory): SnapshotView {
    const { xmin, xmax, running } = parseSnapshotBounds(currentSnapshot)
    const bounds = isStandby
      ? { xmin, xmax: xmin, running: [] }
      : { xmin, xmax: running[RUNNING_MAX] ?? xmax, running: running.slice(0, RUNNING_MAX) }
    return new SnapshotView({ history, end: flushedLsn, bounds, tables: new Set() })
  }

  /** Undefined if none is stored. Throws an `Error` that names the key if it is damaged. */
  static stored(offset: StoredOffset | undefined): SnapshotView | undefined {
    const text = offset?.[SEEN]
    if (text === undefined || text === null) return undefined
    const content = typeof text === 'string' ? parseContent(text) : undefined
    if (content !== undefined) return new SnapshotView(content)
    throw new Error(`'${SEEN}' of an offset is damaged: ${truncateText(String(text), 200, '…')}`)
  }

  /** With the tables that the snapshot reads whole. */
  of(tables: readonly number[]): SnapshotView {
    const limited = tables.toSorted((a, b) => a - b).slice(0, TABLES_MAX)
    return new SnapshotView({ ...this.#content, tables: new Set(limited) })
  }

  /** Whether the server still has the transactions that were seen: after a failover, their ids may mean others. */
  isOf({ history, flushedLsn }: ServerHistory): boolean {
    return history === this.#content.history && flushedLsn >= this.#content.end
  }

  /** Whether rows of the snapshot contain a change. Must be called with each change, in order. */
  contains(change: DatabaseChange, isKeyMoved: (change: RowChange) => boolean): boolean {
    if ((change.kind !== 'row' && change.kind !== 'truncate') || !this.#sees(change.transaction)) return false
    if (change.kind === 'row' && change.op !== 'd' && !isKeyMoved(change)) return this.#tables.has(change.table.id)
    for (const { id } of change.kind === 'row' ? [change.table] : change.tables) {
      if (this.#tables.delete(id)) this.#text = undefined
    }
    return false
  }

  /** An offset of the stream at this position, with what is needed to continue from it. */
  in(offset: StoredOffset, lsn: Lsn): StoredOffset {
    return lsn < this.#content.end ? { ...offset, [SEEN]: this.#print() } : offset
  }

  #print(): string {
    const { history, end, bounds } = this.#content
    this.#text ??= JSON.stringify({ history, end: printLsn(end), ...bounds, tables: printIds(this.#tables) })
    return this.#text
  }

  #sees({ id, commitLsn }: DatabaseTransaction): boolean {
    const { bounds, end } = this.#content
    return commitLsn < end && isBefore(id, bounds.xmax) && (isBefore(id, bounds.xmin) || !this.#running.has(id))
  }
}

/** An offset without what a snapshot has seen. */
export function withoutView(offset: StoredOffset): StoredOffset {
  const { [SEEN]: _, ...rest } = offset
  return rest
}

/** Transaction ids are compared in a circle of 32 bits, as PostgreSQL does. */
function isBefore(id: number, other: number): boolean {
  return ((id - other) | 0) < 0
}

function parseContent(text: string): Content | undefined {
  try {
    const { history, end, xmin, xmax, running, tables } = JSON.parse(text)
    const numbers = [xmin, xmax, ...running]
    const ids = parseIds(tables)
    if (typeof history !== 'string' || ids === undefined || !numbers.every(Number.isSafeInteger)) return undefined
    return { history, end: parseLsn(end), bounds: { xmin, xmax, running }, tables: new Set(ids) }
  } catch {
    return undefined
  }
}
