import { plainJson } from '../../../../java-compat/json/connect-json-writer.ts'
import { int64, type Position as StoredOffset } from '../../../../sdk/index.ts'
import type { DatabaseChange, Lsn } from './changes/change.ts'
import type { Delivered } from './changes/resume-filter.ts'
import { type SnapshotView, withoutView } from './snapshot/snapshot-view.ts'

/** Debezium's names of the operations that a change had. */
type MessageType = 'INSERT' | 'UPDATE' | 'DELETE' | 'TRUNCATE' | 'MESSAGE' | 'BEGIN' | 'COMMIT'

const ROW_TYPES = { c: 'INSERT', u: 'UPDATE', d: 'DELETE' } as const
/** Offsets of Debezium whose LSN is that of a change within a transaction. */
const CHANGE_TYPES: ReadonlySet<unknown> = new Set(['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'])

/** A stored offset: of the stream, and of a snapshot with its own keys in `raw`. */
export type CdcOffset = {
  /** Undefined if no LSN is stored. */
  readonly delivered: Delivered | undefined
  /** End of the last transaction that was delivered completely. */
  readonly lastCommitLsn: Lsn | undefined
  /** When the last transaction was committed, in microseconds since 1970; undefined if it is not stored. */
  readonly lastCommitUs: bigint | undefined
  readonly raw: StoredOffset
}

/**
 * Parses an offset of this connector or of Debezium. Throws an `Error` that names the invalid key. Debezium ignores our keys
 * `position_lsn` and `position_index`, and drops them when it stores its own offset.
 */
export function parseCdcOffset(raw: StoredOffset): CdcOffset {
  const processed = lsnOf(raw, 'lsn_proc') ?? lsnOf(raw, 'lsn')
  const lastCommitLsn = lsnOf(raw, 'lsn_commit') ?? processed
  const { ts_usec: storedUs } = raw
  const lastCommitUs = Number.isSafeInteger(storedUs) ? BigInt(storedUs as number) : undefined
  const positionLsn = lsnOf(raw, 'position_lsn')
  if (positionLsn !== undefined) {
    const position = { commitLsn: positionLsn, index: indexOf(raw) }
    const lsn = position.index < 0 ? undefined : lsnOf(raw, 'lsn')
    return { delivered: { position, lsn }, lastCommitLsn, lastCommitUs, raw }
  }
  if (lastCommitLsn === undefined) return { delivered: undefined, lastCommitLsn, lastCommitUs, raw }
  const position = { commitLsn: lastCommitLsn, index: -1 }
  const isWithin = CHANGE_TYPES.has(raw['messageType']) && raw['lsn_proc'] !== undefined && processed !== lastCommitLsn
  return { delivered: { position, ...(isWithin && { debeziumLsn: processed }) }, lastCommitLsn, lastCommitUs, raw }
}

/** Where the server must start so that nothing is missing, and up to where it may delete its log. */
export function resumeLsn({ delivered }: CdcOffset): Lsn | undefined {
  return delivered?.position.commitLsn
}

/**
 * Prints the offsets of a stream. `lsn_proc` is the last LSN at which all changes were delivered: changes share LSNs, and
 * Debezium continues behind this LSN.
 */
export class OffsetPrinter {
  #lastCommitLsn: Lsn
  /** LSN of the last change, and the last LSN before it. */
  #lsn: Lsn
  #processed: { readonly lsn: Lsn; readonly messageType: MessageType }
  #messageType: MessageType = 'COMMIT'
  readonly #view: SnapshotView | undefined
  #last: StoredOffset

  /** `startLsn`: where the stream starts. `last`: the stored offset. `view`: which changes a snapshot has seen. */
  constructor(startLsn: Lsn, last: CdcOffset | undefined, view?: SnapshotView) {
    this.#view = view
    this.#lastCommitLsn = last?.lastCommitLsn ?? startLsn
    this.#lsn = this.#lastCommitLsn
    this.#processed = { lsn: this.#lastCommitLsn, messageType: 'COMMIT' }
    this.#last = this.#withView(last === undefined ? complete(startLsn) : withoutView(last.raw), this.#lastCommitLsn)
  }

  /** The offset from which to continue now. */
  get last(): StoredOffset {
    return this.#last
  }

  /** The offset from which to continue after this change. A transaction that has only begun does not change it. */
  after(change: DatabaseChange): StoredOffset {
    if (change.kind !== 'begin')
      this.#last =
        change.kind === 'commit'
          ? this.#withView(this.#afterCommit(change), change.endLsn)
          : this.#withView(this.#within(change), change.position.commitLsn)
    return this.#last
  }

  /** The offset when nothing of what was read up to this LSN was captured. */
  idle(lsn: Lsn): StoredOffset {
    if (lsn > this.#lastCommitLsn) {
      this.#lastCommitLsn = lsn
      this.#last = this.#withView(complete(lsn), lsn)
    }
    return this.#last
  }

  #withView(offset: StoredOffset, lsn: Lsn): StoredOffset {
    return this.#view === undefined ? offset : this.#view.in(offset, lsn)
  }

  #afterCommit({ endLsn, transaction }: Extract<DatabaseChange, { readonly kind: 'commit' }>): StoredOffset {
    this.#lastCommitLsn = endLsn
    this.#lsn = endLsn
    this.#messageType = 'COMMIT'
    this.#processed = { lsn: endLsn, messageType: 'COMMIT' }
    return { ...complete(endLsn), txId: transaction.id, ts_usec: int64(transaction.committedAtUs) }
  }

  #within(change: Exclude<DatabaseChange, { readonly kind: 'begin' | 'commit' }>): StoredOffset {
    const { lsn, position, transaction } = change
    if (lsn !== this.#lsn) this.#processed = { lsn: this.#lsn, messageType: this.#messageType }
    this.#lsn = lsn
    this.#messageType = messageTypeOf(change)
    // All transactions that ended before a message outside of transactions were delivered before it. Later events name its position.
    if (transaction === undefined) {
      this.#lastCommitLsn = lsn
      this.#processed = { lsn, messageType: 'MESSAGE' }
    }
    return {
      transaction_id: null,
      lsn_proc: int64(this.#processed.lsn),
      lsn_commit: int64(this.#lastCommitLsn),
      lsn: int64(lsn),
      messageType: this.#processed.messageType,
      ...(transaction !== undefined && { txId: transaction.id, ts_usec: int64(transaction.committedAtUs) }),
      position_lsn: int64(position.commitLsn),
      position_index: position.index,
    }
  }
}

/** The offset behind a whole transaction. */
function complete(endLsn: Lsn): StoredOffset {
  const lsn = int64(endLsn)
  return { transaction_id: null, lsn_proc: lsn, lsn_commit: lsn, lsn, messageType: 'COMMIT' }
}

function messageTypeOf(change: Exclude<DatabaseChange, { readonly kind: 'begin' | 'commit' }>): MessageType {
  if (change.kind === 'row') return ROW_TYPES[change.op]
  return change.kind === 'truncate' ? 'TRUNCATE' : 'MESSAGE'
}

function lsnOf(raw: StoredOffset, key: string): Lsn | undefined {
  const value = raw[key]
  if (value === undefined || value === null) return undefined
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  if (isInteger && BigInt(value) >= 0n) return BigInt(value)
  throw new Error(
    `'${key}' of an offset must be a position in the log of the server as an integer, not ${plainJson(value)}`,
  )
}

function indexOf(raw: StoredOffset): number {
  const index = raw['position_index'] ?? -1
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= -1) return index
  throw new Error(`'position_index' of an offset must be the number of a change, not ${plainJson(index)}`)
}
