import { setImmediate } from 'node:timers/promises'
import {
  type CommittedPosition,
  DataError,
  type SinkContext,
  type SinkPartition,
  type SinkRecord,
  type SinkTask,
} from '../../../sdk/index.ts'
import { parseBoundaries } from './file-boundaries.ts'
import { MemoryBudget } from './memory-budget.ts'
import type { ObjectStore } from './object-store.ts'
import { PartitionFiles, type PartitionFilesOptions } from './partition-files.ts'

export type ObjectSinkSettings = Omit<PartitionFilesOptions, 'store' | 'memory'> & {
  readonly bytesMax: number
  /**
   * What happens to a record without a value. `write`: its key and headers are stored in the folder `tombstoneFolder`. `store`: it is
   * stored as others.
   */
  readonly onNull: 'ignore' | 'fail' | 'write' | 'store'
  readonly tombstoneFolder: string
  /** Whether ignored records without a value are sent to the dead-letter queue. */
  readonly reportsNull: boolean
  /** Whether files are complete when offsets are committed. */
  readonly endsAtCommit: boolean
}

export type ObjectSinkContext = Pick<
  SinkContext<unknown>,
  'log' | 'reject' | 'committedOffsets' | 'commitOffsets' | 'requestCommit'
> & { readonly nowMs: () => number }

/** Objects that are made visible at the same time. */
const CONCURRENT_MAX = 8

/**
 * Writes records to objects, each record exactly once. Where files end is decided once and committed, as metadata of the offset before
 * their records, before any of them is visible. Whoever continues after a crash reads that and writes the same files again, so each write
 * replaces an object by the same one. The offset after the records is committed when all of them are visible.
 */
export class ObjectSink implements SinkTask {
  readonly putsEmptyBatches = true
  readonly #settings: ObjectSinkSettings
  readonly #options: PartitionFilesOptions
  readonly #store: ObjectStore
  readonly #context: ObjectSinkContext
  readonly #memory: MemoryBudget
  readonly #partitions = new Map<string, PartitionFiles>()
  /** Whether the last `put` failed, so that its records come again. */
  #isRetry = false
  #hasWarned = false

  constructor(settings: ObjectSinkSettings, store: ObjectStore, context: ObjectSinkContext) {
    this.#settings = settings
    this.#store = store
    this.#context = context
    this.#memory = new MemoryBudget(settings.bytesMax)
    this.#options = {
      ...settings,
      store,
      memory: this.#memory,
      place: (record, clockMs) => {
        const isTombstone = record.value === null || record.value === undefined
        if (isTombstone && settings.onNull !== 'store')
          return { path: settings.tombstoneFolder, period: '', timestampMs: undefined }
        const placed = settings.place(record, clockMs)
        return { ...placed, path: settings.names.pathOf(record, placed.path) }
      },
    }
  }

  async open(partitions: readonly SinkPartition[]): Promise<void> {
    const committed = new Map((await this.#context.committedOffsets(partitions)).map((at) => [keyOf(at), at]))
    for (const partition of partitions) {
      const at = committed.get(keyOf(partition))
      const boundaries = at === undefined ? [] : parseBoundaries(at.offset, at.metadata)
      if (boundaries.length > 0)
        this.#context.log.info(
          { ...partition, offset: at?.offset, ends: boundaries.length },
          'the files of a former task are written again as it began them',
        )
      this.#partitions.set(
        keyOf(partition),
        new PartitionFiles(this.#options, partition, { offset: at?.offset, boundaries }),
      )
    }
    await this.#abortOrphans(partitions)
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    const isRetry = this.#isRetry
    this.#isRetry = true
    const nowMs = this.#context.nowMs()
    await this.#continue()
    for (const record of records) {
      const files = this.#filesOf(record)
      if (files.isKnown(record)) {
        if (isRetry) continue
        for (const set of files.restart()) await set.abort()
      }
      files.reached(record)
      await this.#add(files, record, nowMs)
      files.passed(record)
      if (this.#memory.isExceeded) await this.#release()
    }
    for (const files of this.#partitions.values()) files.endDueSet(nowMs)
    await this.#storeEndedSets()
    this.#isRetry = false
  }

  async flush(): Promise<readonly CommittedPosition[]> {
    if (this.#settings.endsAtCommit && !this.#isRetry) {
      for (const files of this.#partitions.values()) if (files.canEnd) files.endSet()
      // The next call of `put` continues after an error, and reports it if it persists.
      await this.#storeEndedSets().catch(() => {})
    }
    return [...this.#partitions.values()].flatMap((files) => files.committable() ?? [])
  }

  async close(partitions: readonly SinkPartition[]): Promise<void> {
    const closed = partitions.map(keyOf)
    await Promise.all(closed.map((key) => this.#partitions.get(key)?.abort()))
    for (const key of closed) this.#partitions.delete(key)
    this.#isRetry = false
  }

  stop(): void {
    this.#store.close()
  }

  #filesOf({ origin }: SinkRecord): PartitionFiles {
    const files = this.#partitions.get(keyOf(origin))
    if (files === undefined) throw new Error(`${keyOf(origin)} is not assigned to the task`)
    return files
  }

  /** What a `put` before this one could not finish. */
  async #continue(): Promise<void> {
    await this.#storeEndedSets()
    if (this.#isRetry) for (const files of this.#partitions.values()) await files.spill()
  }

  async #add(files: PartitionFiles, record: SinkRecord, nowMs: number): Promise<void> {
    const { onNull, reportsNull } = this.#settings
    try {
      if ((record.value === null || record.value === undefined) && (onNull === 'ignore' || onNull === 'fail')) {
        if (onNull === 'ignore' && !reportsNull) return
        throw new DataError('the record has no value, and behavior.on.null.values is not write')
      }
      // An upload that fails is continued by the next call: the record has been added.
      const upload = files.add(record, nowMs)
      if (upload !== undefined) {
        files.passed(record)
        await upload
      }
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'data') throw error
      await this.#context.reject(record, error as Error)
    }
  }

  /** Ends the sets with most bytes until the others fit in the memory. */
  async #release(): Promise<void> {
    for (const files of this.#partitions.values()) await files.spill()
    while (this.#memory.isExceeded) {
      const [largest] = [...this.#partitions.values()]
        .filter(({ canEnd }) => canEnd)
        .sort((a, b) => b.heldBytes - a.heldBytes)
      if (largest === undefined) return
      if (!this.#hasWarned)
        this.#context.log.warn(
          largest.partition,
          'open files need more memory than buffer.memory.bytes: the files of a partition end early, so that they are smaller',
        )
      this.#hasWarned = true
      largest.endSet()
      await this.#storeEndedSets()
    }
  }

  async #storeEndedSets(): Promise<void> {
    for (;;) {
      const all = [...this.#partitions.values()]
      const unrecorded = all.flatMap((files) => {
        const position = files.unrecorded()
        return position === undefined ? [] : [{ files, position }]
      })
      if (unrecorded.length > 0) {
        await this.#context.commitOffsets(unrecorded.map(({ position }) => position))
        for (const { files, position } of unrecorded) files.recorded(position)
      }
      let count = 0
      for (const files of all) {
        for (const set of files.recordedSets()) {
          await set.complete(inParallel)
          files.stored(set)
          count += 1
        }
      }
      if (count === 0) return
      if (!this.#settings.endsAtCommit) this.#context.requestCommit()
    }
  }

  /** Uploads of a task that was killed, which would cost space without being visible. */
  async #abortOrphans(partitions: readonly SinkPartition[]): Promise<void> {
    const { names } = this.#settings
    const topics = new Set(partitions.map(({ topic }) => topic))
    for (const name of topics) {
      try {
        const uploads = await this.#store.openUploads(names.prefixOf(name))
        const own = uploads.filter(({ key }) =>
          partitions.some(({ topic, partition }) => topic === name && names.isOfPartition(key, topic, partition)),
        )
        await inParallel(own.map((upload) => () => this.#store.abortUpload(upload)))
      } catch (error) {
        const message =
          'incomplete uploads of former tasks were not aborted: permit it, or set a lifecycle rule that removes them'
        this.#context.log.warn({ err: error, topic: name }, message)
      }
    }
  }
}

function keyOf({ topic, partition }: SinkPartition): string {
  return `${topic}-${partition}`
}

/** Runs tasks, a few at a time. Rejects with the first error when all that began have ended. */
async function inParallel(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  const queue = tasks.values()
  const work = async () => {
    for (const task of queue) {
      if (errors.length > 0) return
      await task().catch((error: unknown) => errors.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(CONCURRENT_MAX, tasks.length) }, work))
  if (errors.length > 0) throw errors[0]
  await setImmediate()
}
