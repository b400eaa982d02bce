import type { StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoredRecord } from '../broker.ts'
import type { Batch } from '../record-batch/batch-header.ts'
import { filterBatch, recordsOf } from '../record-batch/record-batch.ts'
import { OFFSET_MASK, rowId } from './database-format.ts'
import type { Partition } from './partition.ts'
import type { Storage } from './storage.ts'
import { readStoredBatch, toStoredBatch, verifyStoredBatch } from './stored-batch.ts'
import type { TopicPolicy } from './topic-config.ts'

/** Bytes decoded in one turn of the event loop: about ten milliseconds of work. */
const CHUNK_BYTES = 1024 * 1024
const CHUNK_ROWS = 500
const ROWS_READ_AT_ONCE = 1000
/** Limits of the key map: a pass covers as much as fits, the next one continues. */
const KEYS_MAX = 500_000
const KEY_CHARACTERS_MAX = 32 * 1024 * 1024

/** The last offset of each key in the range of a pass. */
class LastOffsets {
  readonly #byKey = new Map<string, number>()
  #characters = 0

  get isFull(): boolean {
    return this.#byKey.size >= KEYS_MAX || this.#characters >= KEY_CHARACTERS_MAX
  }

  /** Called in log order. Keys are decoded as latin1, one character per byte, so that they can be map keys. */
  add({ key: bytes, offset }: StoredRecord): void {
    if (bytes === null) return
    const key = bytes.toString('latin1')
    if (!this.#byKey.has(key)) this.#characters += key.length
    this.#byKey.set(key, offset)
  }

  supersedes({ key, offset }: StoredRecord): boolean {
    return key !== null && offset < (this.#byKey.get(key.toString('latin1')) ?? 0)
  }
}

/** The input of a pass: `last` and `tombstonesUntilMs` decide which records of the batches before `end` are kept. */
type CompactionPass = { readonly end: number; readonly last: LastOffsets; readonly tombstonesUntilMs: number }
type RewriteResult = { readonly bytes: number; readonly oldestTombstoneMs: number }
type Range = { readonly from: number; readonly to: number }

/**
 * Keeps the last record of each key. A tombstone is removed `delete.retention.ms` after it was appended. Offsets never
 * change: a batch loses records or is removed as a whole. As in Kafka, a pass maps the keys of the dirty section first
 * and then rewrites everything before its end.
 */
export class Compaction {
  readonly #storage: Storage
  readonly #batches: StatementSync
  readonly #sizes: StatementSync
  /** Append time of the oldest remaining tombstone, by partition id. */
  readonly #tombstones = new Map<number, number>()

  constructor(storage: Storage) {
    this.#storage = storage
    this.#batches = storage.prepare(
      `select id & ${OFFSET_MASK} as base_offset, last_offset, appended_ms, bytes from batches
       where id >= ? and id < ? order by id`,
    )
    this.#sizes = storage.prepare(
      `select last_offset, appended_ms, length(bytes) as size from batches
       where id >= ? and id < ? order by id limit ${ROWS_READ_AT_ONCE}`,
    )
  }

  async run(partition: Partition, policy: TopicPolicy, nowMs: number, signal: AbortSignal): Promise<void> {
    const { cleanOffset, cleanBytes } = this.#state(partition)
    const dirty = await this.#measure(partition, cleanOffset, nowMs - policy.compactionLagMsMin)
    const isDirty = dirty.bytes > 0 && dirty.bytes >= policy.dirtyRatioMin * (dirty.bytes + cleanBytes)
    const tombstonesUntilMs = nowMs - policy.tombstoneRetentionMs
    if (!isDirty && !((this.#tombstones.get(partition.id) ?? nowMs) <= tombstonesUntilMs)) return

    const last = new LastOffsets()
    const end = await this.#mapKeys(partition, { from: cleanOffset, to: dirty.end }, last, signal)
    const result = await this.#rewrite(partition, { end, last, tombstonesUntilMs }, signal)
    if (signal.aborted) return
    this.#tombstones.set(partition.id, result.oldestTombstoneMs)
    const store = this.#storage.prepare('update partitions set clean_offset = ?, clean_bytes = ? where id = ?')
    await this.#storage.write(() => store.run(end, result.bytes, partition.id))
  }

  #state(partition: Partition): { readonly cleanOffset: number; readonly cleanBytes: number } {
    const row = this.#storage.guarded(() =>
      this.#storage.prepare('select clean_offset, clean_bytes from partitions where id = ?').get(partition.id),
    )
    return { cleanOffset: Number(row?.['clean_offset'] ?? 0), cleanBytes: Number(row?.['clean_bytes'] ?? 0) }
  }

  /** Size and end of the section that may be compacted: before the last stable offset and older than the lag. */
  async #measure(partition: Partition, from: number, untilMs: number): Promise<{ bytes: number; end: number }> {
    let bytes = 0
    let end = from
    for (;;) {
      const range = [rowId(partition.id, end), rowId(partition.id, Math.max(end, partition.stableOffset))] as const
      const rows = this.#storage.guarded(() => this.#sizes.all(...range))
      for (const row of rows) {
        if (Number(row['appended_ms']) > untilMs) return { bytes, end }
        bytes += Number(row['size'])
        end = Number(row['last_offset']) + 1
      }
      if (rows.length < ROWS_READ_AT_ONCE) return { bytes, end }
      await nextTurn()
    }
  }

  /** Returns the end of the mapped range. */
  async #mapKeys(partition: Partition, range: Range, last: LastOffsets, signal: AbortSignal): Promise<number> {
    let end = range.from
    for await (const rows of this.#chunks(partition, range, signal)) {
      for (const row of rows) {
        for (const record of await recordsOf(row.batch)) last.add(record)
        end = row.batch.nextOffset
      }
      if (last.isFull) return end
    }
    return signal.aborted ? end : range.to
  }

  async #rewrite(partition: Partition, pass: CompactionPass, signal: AbortSignal): Promise<RewriteResult> {
    let bytes = 0
    let oldestTombstoneMs = Number.POSITIVE_INFINITY
    const range = { from: partition.startOffset, to: pass.end }
    for await (const rows of this.#chunks(partition, range, signal)) {
      const results = await Promise.all(rows.map((row) => rewriteBatch(row, pass)))
      const changed = results.filter((result) => result.changed)
      if (changed.length > 0) await this.#storage.write(() => this.#store(partition, changed))
      for (const result of results) {
        bytes += result.bytes?.length ?? 0
        if (result.hasTombstones) oldestTombstoneMs = Math.min(oldestTombstoneMs, result.row.appendedMs)
      }
    }
    return { bytes, oldestTombstoneMs }
  }

  /** Only the cleaner changes existing batches, and its steps run one after another. */
  #store(partition: Partition, changed: readonly Rewritten[]): void {
    const update = this.#storage.prepare('update batches set bytes = ? where id = ?')
    const remove = this.#storage.prepare('delete from batches where id = ?')
    const keepEnd = this.#storage.prepare('update partitions set end_floor = max(end_floor, ?) where id = ?')
    for (const { row, bytes } of changed) {
      const id = rowId(partition.id, row.batch.baseOffset)
      if (bytes !== undefined) update.run(bytes, id)
      else {
        remove.run(id)
        keepEnd.run(row.batch.nextOffset, partition.id)
      }
    }
  }

  /** Yields chunks of batches, each in its own turn of the event loop. */
  async *#chunks(partition: Partition, range: Range, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
    let { from } = range
    while (from < range.to && !signal.aborted) {
      const rows = this.#storage.guarded(() => this.#readChunk(partition, { ...range, from }))
      if (rows.length === 0) return
      yield rows
      from = rows.at(-1)!.batch.nextOffset
      await nextTurn()
    }
  }

  #readChunk(partition: Partition, range: Range): readonly Row[] {
    const rows: Row[] = []
    let left = CHUNK_BYTES
    for (const row of this.#batches.iterate(rowId(partition.id, range.from), rowId(partition.id, range.to))) {
      // Verified here, because a rewritten batch gets a new checksum.
      const batch = readStoredBatch(partition, toStoredBatch(row), verifyStoredBatch)
      rows.push({ batch, appendedMs: Number(row['appended_ms']) })
      left -= batch.bytes.length
      if (left <= 0 || rows.length >= CHUNK_ROWS) break
    }
    return rows
  }
}

type Row = { readonly batch: Batch; readonly appendedMs: number }

/** The result for one batch; no bytes if no record is left. */
type Rewritten = {
  readonly row: Row
  readonly bytes: Buffer | undefined
  readonly changed: boolean
  readonly hasTombstones: boolean
}

async function rewriteBatch(row: Row, pass: CompactionPass): Promise<Rewritten> {
  let hasTombstones = false
  const bytes = await filterBatch(row.batch, (record) => {
    const kept = isKept(record, row, pass)
    hasTombstones ||= kept && isTombstone(record)
    return kept
  })
  return { row, bytes, changed: bytes !== row.batch.bytes, hasTombstones }
}

function isTombstone({ key, value }: StoredRecord): boolean {
  return key !== null && value === null
}

function isKept(record: StoredRecord, row: Row, pass: CompactionPass): boolean {
  const isExpiredTombstone = isTombstone(record) && row.appendedMs <= pass.tombstonesUntilMs
  return !isExpiredTombstone && !pass.last.supersedes(record)
}
