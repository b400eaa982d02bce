import type { StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { OFFSET_MASK, rowId } from './database-format.ts'
import type { Partition } from './partition.ts'
import type { Storage, WriteTransaction } from './storage.ts'
import type { TopicPolicy } from './topic-config.ts'

const ROWS_AT_ONCE = 64
const ROWS_READ_AT_ONCE = 1000

/** Deletes whole batches from the start of a partition by age and size, but never those of an open transaction. */
export class Retention {
  readonly #storage: Storage
  readonly #oldest: StatementSync
  readonly #newest: StatementSync
  readonly #delete: StatementSync
  readonly #moveStart: StatementSync

  constructor(storage: Storage) {
    this.#storage = storage
    this.#oldest = storage.prepare(
      `select last_offset, max_timestamp_ms from batches where id >= ? and id < ? order by id limit ${ROWS_AT_ONCE}`,
    )
    this.#newest = storage.prepare(
      `select id & ${OFFSET_MASK} as base_offset, length(bytes) as size from batches
       where id >= ? and id < ? order by id desc limit ${ROWS_READ_AT_ONCE}`,
    )
    this.#delete = storage.prepare('delete from batches where id >= ? and id < ?')
    this.#moveStart = storage.prepare(
      'update partitions set start_offset = ?, end_floor = max(end_floor, start_offset, ?) where id = ?',
    )
  }

  async run(partition: Partition, policy: TopicPolicy, nowMs: number, signal: AbortSignal): Promise<void> {
    const untilMs = policy.retentionMs < 0 ? Number.NEGATIVE_INFINITY : nowMs - policy.retentionMs
    const keepFrom = policy.retentionBytes < 0 ? 0 : await this.#firstKept(partition, policy.retentionBytes)
    let more = true
    while (more && !signal.aborted) {
      if (this.#deletable(partition, untilMs, keepFrom).length === 0) return
      more = await this.#storage.write((change) => this.#deleteSome(partition, { untilMs, keepFrom }, change))
    }
  }

  /** Base offset of the newest batch from which on there are at least `bytes`: as in Kafka, not less than that is kept. */
  async #firstKept(partition: Partition, bytes: number): Promise<number> {
    let left = bytes
    let first = partition.endOffset
    for (;;) {
      const rows = this.#storage.guarded(() => this.#newest.all(rowId(partition.id, 0), rowId(partition.id, first)))
      for (const row of rows) {
        left -= Number(row['size'])
        first = Number(row['base_offset'])
        if (left <= 0) return first
      }
      if (rows.length < ROWS_READ_AT_ONCE) return 0
      await nextTurn()
    }
  }

  /** Last offsets of the first batches that may be deleted. */
  #deletable(partition: Partition, untilMs: number, keepFrom: number): readonly number[] {
    const range = [rowId(partition.id, partition.startOffset), rowId(partition.id, partition.stableOffset)] as const
    const rows = this.#storage.guarded(() => this.#oldest.all(...range))
    const firstKept = rows.findIndex(
      (row) => Number(row['max_timestamp_ms']) >= untilMs && Number(row['last_offset']) >= keepFrom,
    )
    return rows.slice(0, firstKept < 0 ? rows.length : firstKept).map((row) => Number(row['last_offset']))
  }

  #deleteSome(
    partition: Partition,
    limit: { readonly untilMs: number; readonly keepFrom: number },
    change: WriteTransaction,
  ): boolean {
    const deletable = this.#deletable(partition, limit.untilMs, limit.keepFrom)
    if (deletable.length === 0) return false
    const before = partition.startOffset
    const startOffset = deletable.at(-1)! + 1
    this.#delete.run(rowId(partition.id, before), rowId(partition.id, startOffset))
    this.#moveStart.run(startOffset, startOffset, partition.id)
    change.onRollback(() => {
      partition.startOffset = before
    })
    partition.startOffset = startOffset
    return deletable.length === ROWS_AT_ONCE
  }
}
