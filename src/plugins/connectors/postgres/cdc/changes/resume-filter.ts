import { printLsn } from '../replication/lsn.ts'
import { ReplicationProtocolError } from '../replication/protocol-error.ts'
import type { DatabaseChange, Lsn, StreamPosition } from './change.ts'

/** What was delivered before the start, as a stored offset describes it. */
export type Delivered = {
  /** Everything up to and including this position was delivered. Index -1: everything before its LSN, but no transaction at it. */
  readonly position: StreamPosition
  /** LSN of the change at the position. */
  readonly lsn?: Lsn | undefined
  /**
   * Known instead of an index from an offset of Debezium: in the first transaction from `position` on, the changes before this
   * LSN were delivered. Changes share LSNs, so of several changes at this LSN some may not have been delivered.
   */
  readonly debeziumLsn?: Lsn | undefined
}

export type PositionedChange = Extract<DatabaseChange, { readonly position: StreamPosition }>

type Skipping = 'nothing' | 'up to index' | 'up to LSN'

/**
 * Skips what was delivered before the start. The server can only start with a whole transaction, so this transaction is read
 * again from its beginning.
 */
export class ResumeFilter {
  readonly #delivered: Delivered
  readonly #onSkipped: (change: DatabaseChange) => void
  #skipping: Skipping = 'nothing'
  #debeziumLsn: Lsn | undefined
  /** The first change at Debezium's LSN, until it is known whether another one has the same LSN. */
  #held: DatabaseChange | undefined

  constructor(
    delivered: Delivered = { position: { commitLsn: 0n, index: -1 } },
    onSkipped: (change: DatabaseChange) => void,
  ) {
    this.#delivered = delivered
    this.#onSkipped = onSkipped
    this.#debeziumLsn = delivered.debeziumLsn
  }

  isTransactionDelivered(commitLsn: Lsn): boolean {
    return commitLsn < this.#delivered.position.commitLsn
  }

  /** Whether a message outside of transactions was delivered. Its LSN is the end of its record. */
  isMessageDelivered(lsn: Lsn): boolean {
    return lsn <= this.#delivered.position.commitLsn || lsn === this.#delivered.debeziumLsn
  }

  begin(begin: Extract<DatabaseChange, { readonly kind: 'begin' }>, changes: DatabaseChange[]): void {
    const { commitLsn, index } = this.#delivered.position
    if (this.#debeziumLsn !== undefined) this.#skipping = 'up to LSN'
    else if (begin.transaction.commitLsn === commitLsn && index >= 0) this.#skipping = 'up to index'
    if (this.#skipping === 'nothing') changes.push(begin)
    else this.#onSkipped(begin)
  }

  pass(change: PositionedChange, changes: DatabaseChange[]): void {
    if (this.#skipping === 'nothing') changes.push(change)
    else if (this.#skipping === 'up to index') this.#passBehindIndex(change, changes)
    else this.#passBehindLsn(change, changes)
  }

  commit(commit: Extract<DatabaseChange, { readonly kind: 'commit' }>, changes: DatabaseChange[]): void {
    this.#skipHeld()
    this.#debeziumLsn = undefined
    this.#skipping = 'nothing'
    changes.push(commit)
  }

  #passBehindIndex(change: PositionedChange, changes: DatabaseChange[]): void {
    const { position, lsn } = this.#delivered
    if (change.position.index > position.index) {
      this.#skipping = 'nothing'
      changes.push(change)
      return
    }
    if (change.position.index === position.index && lsn !== undefined && change.lsn !== lsn) {
      throw new ReplicationProtocolError(
        `the change ${position.index} of the transaction at ${printLsn(position.commitLsn)} is at ${printLsn(change.lsn)}, but the ` +
          `stored offset has it at ${printLsn(lsn)}: the publication or slot.stream.params were changed in the middle of this ` +
          'transaction. Change them back until it is delivered, or set the offset to the beginning of the transaction',
      )
    }
    this.#onSkipped(change)
  }

  #passBehindLsn(change: PositionedChange, changes: DatabaseChange[]): void {
    const lsn = this.#debeziumLsn!
    if (change.lsn < lsn) {
      this.#onSkipped(change)
    } else if (change.lsn === lsn && this.#held === undefined) {
      this.#held = change
    } else {
      if (change.lsn === lsn) changes.push(this.#held!)
      else this.#skipHeld()
      this.#held = undefined
      this.#skipping = 'nothing'
      changes.push(change)
    }
  }

  #skipHeld(): void {
    if (this.#held !== undefined) this.#onSkipped(this.#held)
    this.#held = undefined
  }
}
