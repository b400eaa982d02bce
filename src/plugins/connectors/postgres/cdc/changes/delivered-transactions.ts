import type { StreamProgress } from '../../../cdc/signals/chunk-session.ts'
import type { DatabaseChange, Lsn } from './change.ts'

/** Transactions that the stream delivered last. One of them may not be visible yet when a chunk is read. */
const RECENT_MAX = 4_096

/** What the stream has delivered. */
export class DeliveredTransactions implements StreamProgress<readonly number[]> {
  #position: Lsn = 0n
  readonly #recent: number[] = []
  #recentCount = 0

  get position(): Lsn {
    return this.#position
  }

  delivered(): readonly number[] {
    return [...this.#recent]
  }

  /** Receives each change before it is written. */
  onChange(change: DatabaseChange): void {
    if (change.kind === 'begin') this.advance(change.transaction.commitLsn)
    if (change.kind !== 'commit') return
    this.advance(change.endLsn)
    this.#recent[this.#recentCount % RECENT_MAX] = change.transaction.id
    this.#recentCount += 1
  }

  /** The stream has delivered everything before this position. */
  advance(lsn: Lsn): void {
    if (lsn > this.#position) this.#position = lsn
  }
}
