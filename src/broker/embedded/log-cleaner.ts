import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { Compaction } from './compaction.ts'
import { OFFSET_MASK, rowId } from './database-format.ts'
import { Retention } from './retention.ts'
import type { Storage } from './storage.ts'
import type { Topic, TopicCatalog } from './topic-catalog.ts'

type Options = {
  readonly storage: Storage
  readonly catalog: TopicCatalog
  readonly clock: Clock
  readonly logger: Logger
}

const ROWS_AT_ONCE = 64
const PAGES_AT_ONCE = 256
/** Free pages are reused; only an excess is returned to the file system. */
const FREE_PAGES_MAX = 4096
/** How long an inactive producer is remembered, as in Kafka. */
const PRODUCER_MEMORY_MS = 24 * 60 * 60 * 1000

/**
 * Applies retention, compaction and topic deletion in steps, each of which blocks the event loop for about ten
 * milliseconds and shares its transaction with concurrent writes.
 */
export class LogCleaner {
  readonly #storage: Storage
  readonly #catalog: TopicCatalog
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #retention: Retention
  readonly #compaction: Compaction

  constructor({ storage, catalog, clock, logger }: Options) {
    this.#storage = storage
    this.#catalog = catalog
    this.#clock = clock
    this.#logger = logger
    this.#retention = new Retention(storage)
    this.#compaction = new Compaction(storage)
  }

  /** One pass over all topics. A step that fails, for example on a full disk, is retried in the next pass. */
  async run(signal: AbortSignal): Promise<void> {
    const steps = [
      () => this.#deleteBatchesOfDeletedTopics(signal),
      ...this.#catalog.topics().map((topic) => () => this.#clean(topic, signal)),
      () => this.#vacuum(signal),
    ]
    for (const step of steps) {
      if (signal.aborted) return
      try {
        await step()
      } catch (error) {
        if (!signal.aborted) this.#logger.warn({ err: error }, 'cannot clean the log of the embedded broker')
      }
      await nextTurn()
    }
  }

  async #clean({ name, policy, partitions }: Topic, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.nowMs()
    for (const partition of partitions) {
      // The topic was deleted in the meantime.
      if (signal.aborted || this.#catalog.find(name)?.partitions[partition.number] !== partition) return
      for (const [id, { usedMs }] of partition.producers) {
        if (usedMs < nowMs - PRODUCER_MEMORY_MS) partition.producers.delete(id)
      }
      if (policy.delete) await this.#retention.run(partition, policy, nowMs, signal)
      if (policy.compact) await this.#compaction.run(partition, policy, nowMs, signal)
    }
  }

  /** Removes the batches of deleted topics. */
  async #deleteBatchesOfDeletedTopics(signal: AbortSignal): Promise<void> {
    const deletedPartitions = this.#storage.guarded(() =>
      this.#storage.prepare('select partition_id from doomed').all(),
    )
    for (const row of deletedPartitions) {
      const id = Number(row['partition_id'])
      let left = true
      while (left && !signal.aborted) left = await this.#storage.write(() => this.#deleteSomeBatches(id))
    }
  }

  #deleteSomeBatches(partitionId: number): boolean {
    const { changes } = this.#storage
      .prepare('delete from batches where id in (select id from batches where id >= ? and id <= ? limit ?)')
      .run(rowId(partitionId, 0), rowId(partitionId, 0) | OFFSET_MASK, ROWS_AT_ONCE)
    if (Number(changes) === ROWS_AT_ONCE) return true
    this.#storage.prepare('delete from doomed where partition_id = ?').run(partitionId)
    return false
  }

  async #vacuum(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#freePages() > FREE_PAGES_MAX) {
      await this.#storage.write(() => this.#storage.prepare(`pragma incremental_vacuum(${PAGES_AT_ONCE})`).all())
    }
  }

  #freePages(): number {
    return this.#storage.guarded(() => Number(this.#storage.prepare('pragma freelist_count').get()!['freelist_count']))
  }
}
