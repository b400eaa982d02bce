import type { StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BrokerError } from '../broker-error.ts'
import { type Batch, NO_PRODUCER, singleBatch, writeBaseOffset } from '../record-batch/batch-header.ts'
import { recordsOf } from '../record-batch/record-batch.ts'
import { OFFSET_MASK, rowId } from './database-format.ts'
import type { Partition } from './partition.ts'
import { appendToProducerState, findDuplicate } from './producer-state.ts'
import type { Storage, WriteTransaction } from './storage.ts'
import {
  parseStoredBatch,
  readStoredBatch,
  type StoredBatch,
  toStoredBatch,
  verifyStoredBatch,
} from './stored-batch.ts'
import type { Topic } from './topic-catalog.ts'

/** Rows read in one turn of the event loop. */
const ROWS_AT_ONCE = 5000

/** `transactionalId`: for a batch of a transaction. */
export type AppendRequest = {
  readonly topic: Topic
  readonly partition: Partition
  readonly bytes: Uint8Array
  readonly transactionalId?: string
  readonly nowMs: number
}

/** `more`: a further batch did not fit. */
export type BatchChunks = { readonly chunks: readonly Uint8Array[]; readonly sizeBytes: number; readonly more: boolean }

/** The batches of all partitions. */
export class BatchStore {
  readonly #storage: Storage
  readonly #insert: StatementSync
  readonly #insertOpen: StatementSync
  readonly #at: StatementSync
  readonly #range: StatementSync
  readonly #times: StatementSync
  readonly #sizes: StatementSync

  constructor(storage: Storage) {
    this.#storage = storage
    this.#insert = storage.prepare(
      'insert into batches (id, last_offset, max_timestamp_ms, appended_ms, bytes) values (?, ?, ?, ?, ?)',
    )
    this.#insertOpen = storage.prepare('insert into open_batches (id, transactional_id) values (?, ?)')
    this.#at = storage.prepare(
      `select id & ${OFFSET_MASK} as base_offset, last_offset from batches
       where id >= ? and id <= ? order by id desc limit 1`,
    )
    this.#range = storage.prepare(
      `select id & ${OFFSET_MASK} as base_offset, last_offset, bytes from batches
       where id >= ? and id < ? order by id`,
    )
    this.#times = storage.prepare(
      `select id & ${OFFSET_MASK} as base_offset, last_offset, max_timestamp_ms from batches
       where id >= ? and id < ? order by id limit ?`,
    )
    this.#sizes = storage.prepare(
      `select last_offset, length(bytes) as size from batches where id >= ? and id < ? order by id limit ${ROWS_AT_ONCE}`,
    )
  }

  /** Appends a batch inside a write and returns its base offset; for a duplicate, the original offset. */
  append(append: AppendRequest, change: WriteTransaction): number {
    const { partition, bytes, nowMs } = append
    const header = checkBatch(append)
    const producerState = partition.producers.get(header.producerId)
    const duplicate = header.producerId === NO_PRODUCER ? undefined : findDuplicate(producerState, header)
    if (duplicate !== undefined) return duplicate

    const baseOffset = partition.endOffset
    const lastOffset = baseOffset + header.recordCount - 1
    const id = rowId(partition.id, baseOffset)
    writeBaseOffset(bytes, baseOffset)
    this.#insert.run(id, lastOffset, header.maxTimestampMs, nowMs, bytes)
    change.onRollback(() => {
      partition.endOffset = baseOffset
    })
    partition.endOffset = lastOffset + 1
    change.recordEndOffset(partition.id, partition.endOffset)
    if (header.producerId !== NO_PRODUCER) {
      const next = appendToProducerState(producerState, header, { baseOffset, nowMs })
      setRevertibly(change, partition.producers, header.producerId, next)
    }
    if (append.transactionalId !== undefined) {
      this.#insertOpen.run(id, append.transactionalId)
      if (!partition.openTransactions.has(header.producerId)) {
        setRevertibly(change, partition.openTransactions, header.producerId, baseOffset)
      }
    }
    change.onCommit(() => partition.notifyListeners())
    return baseOffset
  }

  /**
   * Reads whole batches, starting with the one that contains `offset` and ending before `endOffset`: up to `bytesMax`,
   * while the first may have up to `firstBytesMax`. Stops before a damaged batch and throws `data_corrupt` if the first
   * one is damaged. The checksum of the records is verified where they are decoded.
   */
  read(
    partition: Partition,
    range: { readonly offset: number; readonly endOffset: number },
    limit: { readonly bytesMax: number; readonly firstBytesMax: number },
  ): BatchChunks {
    return this.#storage.guarded(() => {
      const at = this.#at.get(rowId(partition.id, 0), rowId(partition.id, range.offset))
      const from =
        at !== undefined && Number(at['last_offset']) >= range.offset ? Number(at['base_offset']) : range.offset
      const chunks: Uint8Array[] = []
      let sizeBytes = 0
      for (const row of this.#range.iterate(rowId(partition.id, from), rowId(partition.id, range.endOffset))) {
        const bytes = soundBytes(partition, toStoredBatch(row), chunks.length === 0)
        if (bytes === undefined) return { chunks, sizeBytes, more: true }
        const first = chunks.length === 0 && bytes.length <= limit.firstBytesMax
        if (!first && sizeBytes + bytes.length > limit.bytesMax) return { chunks, sizeBytes, more: true }
        chunks.push(bytes)
        sizeBytes += bytes.length
      }
      return { chunks, sizeBytes, more: false }
    })
  }

  /** Offset of the first record at or after the timestamp; `endOffset` if there is none. */
  async offsetAt(partition: Partition, timestampMs: number, endOffset: number): Promise<number> {
    let from = partition.startOffset
    for (;;) {
      const rows = this.#storage.guarded(() =>
        this.#times.all(rowId(partition.id, from), rowId(partition.id, endOffset), ROWS_AT_ONCE),
      )
      for (const row of rows) {
        if (Number(row['max_timestamp_ms']) < timestampMs) continue
        const found = await this.#firstRecordAt(partition, Number(row['base_offset']), timestampMs)
        if (found !== undefined) return found
      }
      if (rows.length < ROWS_AT_ONCE) return endOffset
      from = Number(rows.at(-1)!['last_offset']) + 1
      await nextTurn()
    }
  }

  /** The bytes of all batches. */
  async sizeOf(partition: Partition): Promise<number> {
    let bytes = 0
    for (let from = partition.startOffset; ; ) {
      const rows = this.#storage.guarded(() =>
        this.#sizes.all(rowId(partition.id, from), rowId(partition.id, partition.endOffset)),
      )
      for (const row of rows) bytes += Number(row['size'])
      if (rows.length < ROWS_AT_ONCE) return bytes
      from = Number(rows.at(-1)!['last_offset']) + 1
      await nextTurn()
    }
  }

  /** Undefined if compaction removed the record. */
  async #firstRecordAt(partition: Partition, baseOffset: number, timestampMs: number): Promise<number | undefined> {
    const id = rowId(partition.id, baseOffset)
    const [row] = this.#storage.guarded(() => this.#range.all(id, id + 1n))
    if (row === undefined) return undefined
    const records = await recordsOf(readStoredBatch(partition, toStoredBatch(row), verifyStoredBatch))
    return records.find((record) => record.timestampMs >= timestampMs)?.offset
  }
}

/** Undefined for a damaged batch; throws if it is the first. */
function soundBytes(partition: Partition, batch: StoredBatch, isFirst: boolean): Uint8Array | undefined {
  try {
    return readStoredBatch(partition, batch, parseStoredBatch).bytes
  } catch (error) {
    if (isFirst) throw error
    return undefined
  }
}

/** Sets a map entry and restores the previous one on rollback. */
export function setRevertibly<K, V>(change: WriteTransaction, map: Map<K, V>, key: K, value: V): void {
  const before = map.get(key)
  change.onRollback(() => {
    if (before === undefined) map.delete(key)
    else map.set(key, before)
  })
  map.set(key, value)
}

function checkBatch({ topic, bytes, transactionalId }: AppendRequest): Batch {
  const header = singleBatch(bytes)
  if (bytes.length > topic.policy.batchBytesMax) {
    throw new BrokerError(
      'record_too_large',
      `topic '${topic.name}': a batch of ${bytes.length} bytes exceeds max.message.bytes=${topic.policy.batchBytesMax}`,
    )
  }
  if (header.recordCount === 0 || header.nextOffset - header.baseOffset !== header.recordCount) {
    throw new BrokerError(
      'corrupt_batch',
      `topic '${topic.name}': the offsets of a batch do not match its record count`,
    )
  }
  if (header.isTransactional !== (transactionalId !== undefined)) {
    throw new BrokerError(
      'invalid_transaction',
      `topic '${topic.name}': the transactional flag of a batch does not match its request`,
    )
  }
  return header
}
