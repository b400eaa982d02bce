import type { DatabaseSync } from 'node:sqlite'
import { OFFSET_BITS, OFFSET_MASK } from './database-format.ts'
import { batchFault, type StoredBatch, toStoredBatch } from './stored-batch.ts'

/** A corrupt batch or, without `batch`, an error that SQLite reports about the database. */
export type DatabaseDamage = { readonly message: string; readonly partitionId?: number; readonly batch?: StoredBatch }

/**
 * Verifies a whole database: its structure by SQLite, the checksum of each batch, and that batches do not overlap.
 * Damage that stops SQLite is thrown as its error.
 */
export function* findDamage(sqlite: DatabaseSync): Generator<DatabaseDamage> {
  for (const row of sqlite.prepare('pragma quick_check').all()) {
    const message = String(row['quick_check'])
    if (message !== 'ok') yield { message }
  }
  yield* findDamagedBatches(sqlite)
}

export function* findDamagedBatches(sqlite: DatabaseSync): Generator<DatabaseDamage> {
  const rows = sqlite.prepare(
    `select id >> ${OFFSET_BITS} as partition_id, id & ${OFFSET_MASK} as base_offset, last_offset, bytes
     from batches order by id`,
  )
  let before = { partitionId: -1, lastOffset: -1 }
  for (const row of rows.iterate()) {
    const partitionId = Number(row['partition_id'])
    const batch = toStoredBatch(row)
    const overlaps = before.partitionId === partitionId && before.lastOffset >= batch.baseOffset
    const fault = batchFault(batch) ?? (overlaps ? 'it overlaps the previous batch' : undefined)
    if (fault !== undefined) yield { message: fault, partitionId, batch }
    before = { partitionId, lastOffset: batch.lastOffset }
  }
}
