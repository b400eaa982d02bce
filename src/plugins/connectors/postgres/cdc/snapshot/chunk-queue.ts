import type { Table } from '../changes/change.ts'
import type { Chunk, SnapshotRelation } from './snapshot-plan.ts'

type PlanRelation = (relation: SnapshotRelation) => Promise<readonly Chunk[]>

/** A chunk that is being read: whether it was read to its end, and batches of it that were not yielded. */
export type ChunkState = { isRead: boolean; batchesHeld: number }

/** Gives the chunks of tables to readers, in the order of the tables. A table is planned when its first chunk is requested. */
export class ChunkQueue {
  readonly #relations: SnapshotRelation[]
  readonly #plan: PlanRelation
  readonly #chunks: Chunk[] = []
  readonly #states = new Map<Chunk, ChunkState>()
  /** Relations and chunks of each table that are not read to their end. */
  readonly #open: Map<Table, number>
  /** Called when a table has no rows to read. */
  readonly #onEmpty: (relation: SnapshotRelation) => void
  #planning: Promise<unknown> = Promise.resolve()

  constructor(
    relations: readonly SnapshotRelation[],
    plan: PlanRelation,
    onEmpty: (relation: SnapshotRelation) => void,
  ) {
    this.#relations = [...relations]
    this.#plan = plan
    this.#onEmpty = onEmpty
    this.#open = new Map()
    for (const { table } of relations) this.#add(table, 1)
  }

  /** The next chunk; undefined when there is none. Planning uses one session, so calls wait for each other. */
  next(): Promise<Chunk | undefined> {
    const next = this.#planning.then(() => this.#next())
    this.#planning = next.catch(() => undefined)
    return next
  }

  stateOf(chunk: Chunk): ChunkState {
    return this.#states.get(chunk)!
  }

  /** Whether it was the last chunk of its table. */
  endChunk({ relation: { table } }: Chunk): boolean {
    return this.#add(table, -1) === 0
  }

  async #next(): Promise<Chunk | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) return chunk
      const relation = this.#relations.shift()
      if (relation === undefined) return undefined
      const chunks = await this.#plan(relation)
      this.#chunks.push(...chunks)
      for (const planned of chunks) this.#states.set(planned, { isRead: false, batchesHeld: 0 })
      if (this.#add(relation.table, chunks.length - 1) === 0) this.#onEmpty(relation)
    }
  }

  #add(table: Table, count: number): number {
    const open = (this.#open.get(table) ?? 0) + count
    this.#open.set(table, open)
    return open
  }
}
