import type { StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { joinBatch, splitBatch } from './batch-parts.ts'
import { type RecordSpan, recordSpans } from './batch-records.ts'
import type { Partition } from './partition.ts'
import { OFFSET_MASK, rowId } from './schema.ts'
import type { Storage } from './storage.ts'
import type { TopicPolicy } from './topic-config.ts'

/** How long a slice goes on, on top of its last batch. */
const SLICE_MS = 8
const ROWS_LOOKED_AT_ONCE = 1000
/** Of the map of a pass: a pass goes as far as it reaches, the next one goes on from there. */
const KEYS_MAX = 500_000
const KEY_CHARACTERS_MAX = 32 * 1024 * 1024

/** The last offset of each key in the part that a pass looks at. */
type LastOffsets = { readonly byKey: Map<string, number>; characters: number }

/** What one pass does: keep of the batches below `end` what `last` and `tombstonesUntilMs` leave over. */
type Pass = { readonly end: number; readonly last: LastOffsets; readonly tombstonesUntilMs: number }
type Kept = { readonly bytes: number; readonly oldestTombstoneMs: number }

const NOTHING_KEPT: Kept = { bytes: 0, oldestTombstoneMs: Number.POSITIVE_INFINITY }

/**
 * Keeps the last record of each key. A tombstone goes too, when it stood for `delete.retention.ms` since it was
 * appended. Offsets never change: a batch keeps its place and loses records, or goes as a whole. As Kafka's cleaner, a
 * pass first maps the keys of the part not yet clean, then goes over everything before its end.
 */
export class Compaction {
  readonly #storage: Storage
  readonly #batches: StatementSync
  readonly #sizes: StatementSync
  /** When the oldest tombstone that a pass left behind was appended, by partition id. */
  readonly #tombstones = new Map<number, number>()

  constructor(storage: Storage) {
    this.#storage = storage
    this.#batches = storage.prepare(
      `select id & ${OFFSET_MASK} as base_offset, last_offset, appended_ms, bytes from batches
       where id >= ? and id < ? order by id`,
    )
    this.#sizes = storage.prepare(
      `select last_offset, appended_ms, length(bytes) as size from batches
       where id >= ? and id < ? order by id limit ${ROWS_LOOKED_AT_ONCE}`,
    )
  }

  async run(partition: Partition, policy: TopicPolicy, nowMs: number, signal: AbortSignal): Promise<void> {
    const { cleanOffset, cleanBytes } = this.#state(partition)
    const dirty = await this.#measure(partition, cleanOffset, nowMs - policy.compactionLagMsMin)
    const isDirty = dirty.bytes > 0 && dirty.bytes >= policy.dirtyRatioMin * (dirty.bytes + cleanBytes)
    const tombstonesUntilMs = nowMs - policy.tombstoneRetentionMs
    if (!isDirty && !((this.#tombstones.get(partition.id) ?? nowMs) <= tombstonesUntilMs)) return

    const last: LastOffsets = { byKey: new Map(), characters: 0 }
    const end = await this.#mapKeys(partition, { from: cleanOffset, to: dirty.end }, last, signal)
    const kept = await this.#rewrite(partition, { end, last, tombstonesUntilMs }, signal)
    if (signal.aborted) return
    this.#tombstones.set(partition.id, kept.oldestTombstoneMs)
    const store = this.#storage.prepare('update partitions set clean_offset = ?, clean_bytes = ? where id = ?')
    await this.#storage.write(() => store.run(end, kept.bytes, partition.id))
  }

  #state(partition: Partition): { readonly cleanOffset: number; readonly cleanBytes: number } {
    const row = this.#storage.guarded(() =>
      this.#storage.prepare('select clean_offset, clean_bytes from partitions where id = ?').get(partition.id),
    )
    return { cleanOffset: Number(row?.['clean_offset'] ?? 0), cleanBytes: Number(row?.['clean_bytes'] ?? 0) }
  }

  /** Size and end of what may be compacted: before the last stable offset, and older than the lag. */
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
      if (rows.length < ROWS_LOOKED_AT_ONCE) return { bytes, end }
      await nextTurn()
    }
  }

  /** Answers how far the map reaches. */
  async #mapKeys(
    partition: Partition,
    range: { readonly from: number; readonly to: number },
    last: LastOffsets,
    signal: AbortSignal,
  ): Promise<number> {
    let at = range.from
    while (at < range.to && !signal.aborted) {
      if (last.byKey.size >= KEYS_MAX || last.characters >= KEY_CHARACTERS_MAX) break
      at = this.#slice(partition, { from: at, to: range.to }, (row) => {
        for (const { key, offset } of recordSpans(splitBatch(row.bytes))) {
          if (key === undefined) continue
          if (!last.byKey.has(key)) last.characters += key.length
          last.byKey.set(key, offset)
        }
      })
      await nextTurn()
    }
    return at
  }

  async #rewrite(partition: Partition, pass: Pass, signal: AbortSignal): Promise<Kept> {
    let from = partition.startOffset
    let kept = NOTHING_KEPT
    while (from < pass.end && !signal.aborted) {
      const range = { from: Math.max(from, partition.startOffset), to: pass.end }
      const done = await this.#storage.write(() => this.#rewriteSlice(partition, range, pass))
      from = done.next
      kept = add(kept, done.kept)
    }
    return kept
  }

  #rewriteSlice(
    partition: Partition,
    range: { readonly from: number; readonly to: number },
    pass: Pass,
  ): { readonly next: number; readonly kept: Kept } {
    let kept = NOTHING_KEPT
    const next = this.#slice(partition, range, (row) => {
      kept = add(kept, this.#rewriteBatch(partition, row, pass))
    })
    return { next, kept }
  }

  #rewriteBatch(partition: Partition, row: Row, pass: Pass): Kept {
    const parts = splitBatch(row.bytes)
    const spans = [...recordSpans(parts)]
    const left = spans.filter((span) => isKept(span, row, pass))
    const oldestTombstoneMs = left.some(({ tombstone }) => tombstone) ? row.appendedMs : Number.POSITIVE_INFINITY
    const id = rowId(partition.id, row.baseOffset)
    if (left.length === spans.length && left.length > 0) return { bytes: row.bytes.length, oldestTombstoneMs }
    if (left.length === 0) {
      this.#storage.prepare('delete from batches where id = ?').run(id)
      const keepEnd = this.#storage.prepare('update partitions set end_floor = max(end_floor, ?) where id = ?')
      keepEnd.run(row.lastOffset + 1, partition.id)
      return { bytes: 0, oldestTombstoneMs }
    }
    const bytes = joinBatch(parts, left)
    this.#storage.prepare('update batches set bytes = ? where id = ?').run(bytes, id)
    return { bytes: bytes.length, oldestTombstoneMs }
  }

  /** Visits batches for some milliseconds; answers where the next slice begins. */
  #slice(
    partition: Partition,
    range: { readonly from: number; readonly to: number },
    visit: (row: Row) => void,
  ): number {
    return this.#storage.guarded(() => {
      const startedMs = performance.now()
      const rows = this.#batches.iterate(rowId(partition.id, range.from), rowId(partition.id, range.to))
      for (const row of rows) {
        const lastOffset = Number(row['last_offset'])
        const bytes = row['bytes'] as Uint8Array
        const place = { baseOffset: Number(row['base_offset']), lastOffset, appendedMs: Number(row['appended_ms']) }
        visit({ ...place, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) })
        if (performance.now() - startedMs >= SLICE_MS) return lastOffset + 1
      }
      return range.to
    })
  }
}

type Row = {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly appendedMs: number
  readonly bytes: Buffer
}

function isKept({ key, offset, tombstone }: RecordSpan, row: Row, pass: Pass): boolean {
  if (key === undefined) return true
  if (offset < (pass.last.byKey.get(key) ?? 0)) return false
  return !(tombstone && row.appendedMs <= pass.tombstonesUntilMs)
}

function add(one: Kept, other: Kept): Kept {
  return {
    bytes: one.bytes + other.bytes,
    oldestTombstoneMs: Math.min(one.oldestTombstoneMs, other.oldestTombstoneMs),
  }
}
