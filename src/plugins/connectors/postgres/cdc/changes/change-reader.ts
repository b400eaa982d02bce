import { HEARTBEAT_PREFIX } from '../replication/heartbeat-messages.ts'
import type { PgoutputMessage } from '../replication/pgoutput.ts'
import { ReplicationProtocolError } from '../replication/protocol-error.ts'
import type { StreamMessage } from '../replication/replication-session.ts'
import type { DatabaseChange, DatabaseTransaction, Lsn, StreamPosition } from './change.ts'
import type { Relations } from './relations.ts'
import { type Delivered, type PositionedChange, ResumeFilter } from './resume-filter.ts'

export type ChangeBatch = {
  readonly changes: readonly DatabaseChange[]
  /** Position up to which the stream was read, if no transaction is open after the batch. */
  readonly idleLsn: Lsn | undefined
}

export type ChangeReaderOptions = {
  readonly relations: Pick<Relations, 'get' | 'update'>
  /** What was delivered before the start. */
  readonly delivered: Delivered | undefined
  /** Receives the changes of a transaction that were delivered before the start, with its begin. */
  readonly onSkipped?: (change: DatabaseChange) => void
}

/** Converts messages to changes with positions, without those that were delivered before. */
export class ChangeReader {
  readonly #relations: ChangeReaderOptions['relations']
  readonly #filter: ResumeFilter
  #transaction: DatabaseTransaction | undefined
  /** Number of the next change in its transaction. */
  #index = 0
  /** Whether the open transaction was delivered completely. */
  #isDelivered = false
  #idleLsn: Lsn | undefined

  constructor({ relations, delivered, onSkipped = () => undefined }: ChangeReaderOptions) {
    this.#relations = relations
    this.#filter = new ResumeFilter(delivered, onSkipped)
  }

  async *read(messages: AsyncIterable<readonly StreamMessage[]>): AsyncGenerator<ChangeBatch> {
    for await (const batch of messages) {
      const changes: DatabaseChange[] = []
      for (const message of batch) {
        if (message.kind === 'relation') await this.#relations.update(message.relation)
        else this.#read(message, changes)
      }
      yield { changes, idleLsn: this.#transaction === undefined ? this.#idleLsn : undefined }
    }
  }

  #read(message: StreamMessage, changes: DatabaseChange[]): void {
    switch (message.kind) {
      case 'insert':
      case 'update':
      case 'delete':
        if (!this.#isDelivered) this.#filter.pass(this.#toRow(message), changes)
        return
      case 'begin':
        this.#begin(message, changes)
        return
      case 'commit':
        this.#commit(message, changes)
        return
      case 'truncate':
        if (!this.#isDelivered) this.#filter.pass(this.#toTruncate(message), changes)
        return
      case 'message':
        this.#readLogicalMessage(message, changes)
        return
      case 'keepalive':
        this.#idleLsn = message.lsn
        return
      case 'relation':
      case 'type':
      case 'origin':
        return
    }
  }

  #begin({ commitLsn, committedAtUs, transactionId, lsn }: MessageOf<'begin'>, changes: DatabaseChange[]): void {
    if (this.#transaction !== undefined) {
      throw new ReplicationProtocolError(
        `the server began the transaction ${transactionId} within ${this.#transaction.id}`,
      )
    }
    this.#transaction = { id: transactionId, commitLsn, committedAtUs }
    this.#index = 0
    this.#isDelivered = this.#filter.isTransactionDelivered(commitLsn)
    if (!this.#isDelivered) this.#filter.begin({ kind: 'begin', transaction: this.#transaction, lsn }, changes)
  }

  #commit({ endLsn }: MessageOf<'commit'>, changes: DatabaseChange[]): void {
    const transaction = this.#expectTransaction()
    this.#transaction = undefined
    this.#idleLsn = endLsn
    if (!this.#isDelivered) this.#filter.commit({ kind: 'commit', transaction, endLsn }, changes)
    this.#isDelivered = false
  }

  #toRow(message: MessageOf<'insert' | 'update' | 'delete'>): PositionedChange {
    const { lsn, tableId } = message
    const table = this.#relations.get(tableId)
    const { transaction, position } = this.#nextPosition()
    return {
      kind: 'row',
      op: message.kind === 'insert' ? 'c' : message.kind === 'update' ? 'u' : 'd',
      table,
      before: message.kind === 'insert' ? undefined : message.before,
      isBeforeKeyOnly: message.kind === 'insert' ? false : message.isBeforeKeyOnly,
      after: message.kind === 'delete' ? undefined : message.after,
      transaction,
      lsn,
      position,
    }
  }

  #toTruncate({ tableIds, lsn }: MessageOf<'truncate'>): PositionedChange {
    const tables = tableIds.map((id) => this.#relations.get(id))
    return { kind: 'truncate', tables, ...this.#nextPosition(), lsn }
  }

  #readLogicalMessage(
    { isTransactional, prefix, content, lsn }: MessageOf<'message'>,
    changes: DatabaseChange[],
  ): void {
    if (isTransactional) {
      if (!this.#isDelivered)
        this.#filter.pass({ kind: 'message', prefix, content, ...this.#nextPosition(), lsn }, changes)
      return
    }
    // The LSN of a message is the end of its record, where the record of a commit may begin.
    this.#idleLsn = lsn
    if (prefix === HEARTBEAT_PREFIX) return
    const position = { commitLsn: lsn, index: -1 }
    const change = { kind: 'message', prefix, content, transaction: undefined, lsn, position } as const
    if (!this.#filter.isMessageDelivered(lsn)) changes.push(change)
  }

  #nextPosition(): { readonly transaction: DatabaseTransaction; readonly position: StreamPosition } {
    const transaction = this.#expectTransaction()
    const position = { commitLsn: transaction.commitLsn, index: this.#index }
    this.#index += 1
    return { transaction, position }
  }

  #expectTransaction(): DatabaseTransaction {
    if (this.#transaction !== undefined) return this.#transaction
    throw new ReplicationProtocolError('the server sent a change outside of a transaction')
  }
}

type MessageOf<Kind extends PgoutputMessage['kind']> = Extract<PgoutputMessage, { readonly kind: Kind }>
