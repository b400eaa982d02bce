import type { CommittedOffset, ProducerIdentity, TopicPartition } from '../broker.ts'
import type { Transaction } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import { topicPartitionKey } from '../topic-partition.ts'
import { setRevertibly } from './batch-store.ts'
import { OFFSET_BITS, OFFSET_MASK } from './database-format.ts'
import { writeOffsets } from './group-offsets.ts'
import type { Partition } from './partition.ts'
import type { Storage, WriteTransaction } from './storage.ts'

type OpenTransaction = {
  readonly startedMs: number
  readonly partitions: Set<Partition>
  /** Offsets by group, written at commit. */
  readonly offsets: Map<string, readonly CommittedOffset[]>
}

type TransactionalId = ProducerIdentity & {
  readonly name: string
  readonly timeoutMs: number
  readonly open: OpenTransaction | undefined
  /** The identity that the producer named when it was initialized, which it may do again when the response was lost. */
  readonly successorOf?: ProducerIdentity | undefined
  /** The transaction before, whose end may be requested again when the response was lost. */
  readonly ended?: ProducerIdentity & { readonly commit: boolean }
}

const EPOCH_MAX = 32_767
const TIMEOUT_MS = 60_000

/**
 * Producer ids and transactions. Batches of an open transaction are in the log after the last stable offset and listed
 * in `open_batches`: commit deletes the list entries, abort deletes the batches. All calls run inside a write.
 */
export class TransactionCoordinator {
  readonly #storage: Storage
  /** Ids used since the start; others are loaded from disk. */
  readonly #ids = new Map<string, TransactionalId>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /** Assigns a producer id to a producer without transactions. */
  newProducer(): ProducerIdentity {
    const row = this.#storage
      .prepare(
        `insert into settings (name, value) values ('next_producer_id', 1)
         on conflict (name) do update set value = value + 1 returning value`,
      )
      .get()!
    return { producerId: BigInt(Number(row['value'])), epoch: 0 }
  }

  /**
   * Returns the next epoch of this transactional id and aborts the open transaction of an older producer. Throws if `successorOf` is not
   * its identity, unless the id is unknown.
   */
  init({ name, timeoutMs, successorOf }: Initialization, change: WriteTransaction): ProducerIdentity {
    const known = this.#ids.get(name) ?? this.#load(name)
    if (known !== undefined && successorOf !== undefined && !isSame(known, successorOf)) {
      const isRepeated = known.open === undefined && isSame(known.successorOf, successorOf)
      if (!isRepeated) throw fenced(name)
      return { producerId: known.producerId, epoch: known.epoch }
    }
    if (known?.open !== undefined) this.#abort(known, known.open, change)
    const identity = this.#next(known)
    this.#set({ name, ...identity, timeoutMs: timeoutMs ?? TIMEOUT_MS, open: undefined, successorOf }, change)
    return identity
  }

  /** Whether a producer was ever made with this transactional id. */
  hasTransactionalId(name: string): boolean {
    return this.#ids.has(name) || this.#load(name) !== undefined
  }

  addPartitions(transaction: Transaction, partitions: readonly Partition[], at: TransactionStep): void {
    const open = this.#begin(transaction, at)
    const added = new Set([...open.partitions, ...partitions])
    this.#replace(transaction.transactionalId, { ...open, partitions: added }, at.change)
  }

  addOffsets(
    transaction: Transaction,
    groupId: string,
    offsets: readonly CommittedOffset[],
    at: TransactionStep,
  ): void {
    const open = this.#begin(transaction, at)
    const added = new Map(open.offsets).set(groupId, [...(open.offsets.get(groupId) ?? []), ...offsets])
    this.#replace(transaction.transactionalId, { ...open, offsets: added }, at.change)
  }

  /** Throws unless a batch of this producer may be appended to this partition. */
  checkAppend(name: string, identity: ProducerIdentity, partition: Partition): void {
    const { open } = this.#check({ ...identity, transactionalId: name })
    if (open?.partitions.has(partition)) return
    const description = `partition ${partition.number} of topic '${partition.topic}'`
    throw new BrokerError('invalid_transaction', `${description} was not added to the transaction of '${name}'`)
  }

  /** Throws while an open transaction includes offsets of these partitions. */
  assertNoPendingOffsets(groupId: string, partitions: readonly TopicPartition[]): void {
    const requested = new Set(partitions.map(topicPartitionKey))
    for (const { name, open } of this.#ids.values()) {
      const offset = open?.offsets.get(groupId)?.find((pending) => requested.has(topicPartitionKey(pending)))
      if (offset === undefined) continue
      const description = `partition ${offset.partition} of topic '${offset.topic}'`
      throw new BrokerError(
        'concurrent_transaction',
        `the transaction of '${name}' commits an offset of ${description}`,
      )
    }
  }

  /** Returns the identity of the next transaction: with another epoch, late requests of this one are rejected. */
  end(transaction: Transaction, commit: boolean, change: WriteTransaction): ProducerIdentity {
    const known = this.#hasEnded(transaction, commit) ?? this.#check(transaction)
    const { producerId, epoch, open } = known
    if (open === undefined) return { producerId, epoch }
    if (commit) this.#commit(known, open, change)
    else this.#abort(known, open, change)
    const next = this.#next(known)
    const ended = { producerId, epoch, commit }
    this.#set({ ...known, ...next, open: undefined, successorOf: undefined, ended }, change)
    return next
  }

  /** Whether `abortExpired` has something to do. */
  hasExpired(nowMs: number): boolean {
    return [...this.#ids.values()].some((id) => isExpired(id, nowMs))
  }

  /** Aborts transactions that timed out and fences their producers. */
  abortExpired(nowMs: number, change: WriteTransaction): readonly string[] {
    const expired = [...this.#ids.values()].filter((id) => isExpired(id, nowMs))
    for (const { name, timeoutMs } of expired) this.init({ name, timeoutMs }, change)
    return expired.map((id) => id.name)
  }

  /** First offset of transactions that a crashed process left open, by partition id. */
  unfinishedTransactions(): ReadonlyMap<number, number> {
    const rows = this.#storage.guarded(() =>
      this.#storage
        .prepare(
          `select id >> ${OFFSET_BITS} as partition_id, min(id & ${OFFSET_MASK}) as first from open_batches group by 1`,
        )
        .all(),
    )
    return new Map(rows.map((row) => [Number(row['partition_id']), Number(row['first'])]))
  }

  /** Deletes the batches of transactions that a crashed process left open. Returns their number. */
  abortUnfinished(): number {
    this.#storage
      .prepare(
        `update partitions set end_floor = max(end_floor, (
           select max(batches.last_offset) + 1 from batches, open_batches
           where batches.id = open_batches.id and batches.id >> ${OFFSET_BITS} = partitions.id))
         where id in (select id >> ${OFFSET_BITS} from open_batches)`,
      )
      .run()
    const deleted = this.#storage.prepare('delete from batches where id in (select id from open_batches)').run()
    this.#storage.prepare('delete from open_batches').run()
    return Number(deleted.changes)
  }

  /** Removes the partitions of a deleted topic from all transactions. */
  dropPartitions(partitions: readonly Partition[], change: WriteTransaction): void {
    for (const id of this.#ids.values()) {
      if (id.open === undefined) continue
      const left = [...id.open.partitions].filter((partition) => !partitions.includes(partition))
      this.#replace(id.name, { ...id.open, partitions: new Set(left) }, change)
    }
  }

  #next(known: ProducerIdentity | undefined): ProducerIdentity {
    if (known === undefined || known.epoch >= EPOCH_MAX) return this.newProducer()
    return { producerId: known.producerId, epoch: known.epoch + 1 }
  }

  /** If it is the last transaction that has ended, and no other one has begun. */
  #hasEnded({ transactionalId, producerId, epoch }: Transaction, commit: boolean): TransactionalId | undefined {
    const known = this.#ids.get(transactionalId)
    const { ended, open } = known ?? {}
    const isLast = isSame(ended, { producerId, epoch }) && ended?.commit === commit
    return isLast && open === undefined ? known : undefined
  }

  #commit(id: TransactionalId, open: OpenTransaction, change: WriteTransaction): void {
    this.#storage.prepare('delete from open_batches where transactional_id = ?').run(id.name)
    for (const [groupId, offsets] of open.offsets) writeOffsets(this.#storage, groupId, offsets)
    settle(id, open, change)
  }

  #abort(id: TransactionalId, open: OpenTransaction, change: WriteTransaction): void {
    const batches = 'select id from open_batches where transactional_id = ?'
    const keepEnd = this.#storage.prepare('update partitions set end_floor = ? where id = ?')
    for (const partition of open.partitions) keepEnd.run(partition.endOffset, partition.id)
    this.#storage.prepare(`delete from batches where id in (${batches})`).run(id.name)
    this.#storage.prepare('delete from open_batches where transactional_id = ?').run(id.name)
    settle(id, open, change)
  }

  #begin(transaction: Transaction, at: TransactionStep): OpenTransaction {
    return this.#check(transaction).open ?? { startedMs: at.nowMs, partitions: new Set(), offsets: new Map() }
  }

  #check(transaction: Transaction): TransactionalId {
    const { transactionalId: name, producerId, epoch } = transaction
    const known = this.#ids.get(name)
    if (known === undefined) {
      throw new BrokerError('invalid_transaction', `transactional id '${name}' was not initialized`)
    }
    if (isSame(known, { producerId, epoch })) return known
    throw fenced(name)
  }

  #replace(name: string, open: OpenTransaction | undefined, change: WriteTransaction): void {
    setRevertibly(change, this.#ids, name, { ...this.#ids.get(name)!, open })
  }

  #set(id: TransactionalId, change: WriteTransaction): void {
    this.#storage
      .prepare(
        `insert into transactional_ids (name, producer_id, epoch) values (?, ?, ?)
         on conflict (name) do update set producer_id = excluded.producer_id, epoch = excluded.epoch`,
      )
      .run(id.name, id.producerId, id.epoch)
    setRevertibly(change, this.#ids, id.name, id)
  }

  #load(name: string): TransactionalId | undefined {
    const row = this.#storage.prepare('select producer_id, epoch from transactional_ids where name = ?').get(name)
    if (row === undefined) return undefined
    const producerId = BigInt(Number(row['producer_id']))
    return { name, producerId, epoch: Number(row['epoch']), timeoutMs: TIMEOUT_MS, open: undefined }
  }
}

type Initialization = Pick<TransactionalId, 'name' | 'successorOf'> & { readonly timeoutMs?: number | undefined }

export type TransactionStep = { readonly nowMs: number; readonly change: WriteTransaction }

function isSame(one: ProducerIdentity | undefined, other: ProducerIdentity): boolean {
  return one?.producerId === other.producerId && one.epoch === other.epoch
}

function fenced(name: string): BrokerError {
  return new BrokerError('fenced', `transactional id '${name}' has a newer producer, or its transaction timed out`)
}

function isExpired(id: TransactionalId, nowMs: number): boolean {
  return id.open !== undefined && nowMs - id.open.startedMs >= id.timeoutMs
}

/** Ending a transaction advances the last stable offset of its partitions. */
function settle(id: TransactionalId, open: OpenTransaction, change: WriteTransaction): void {
  for (const partition of open.partitions) {
    const first = partition.openTransactions.get(id.producerId)
    if (first === undefined) continue
    partition.openTransactions.delete(id.producerId)
    change.onRollback(() => partition.openTransactions.set(id.producerId, first))
    change.onCommit(() => partition.notifyListeners())
  }
}
