import type { CommittedPosition, SinkPartition, SinkRecord } from '../../../sdk/index.ts'
import { type Boundary, encodeBoundaries } from './file-boundaries.ts'
import { FileSet, type FileSetOptions } from './file-set.ts'
import type { Placement } from './partitioner.ts'
import { isCompleteBefore, isCompleteNow, nextScheduledMs, type RotationSettings } from './rotation.ts'

export type PartitionFilesOptions = FileSetOptions & {
  readonly rotation: RotationSettings
  /** Whether the path of a record depends on the clock. */
  readonly usesClock: boolean
  /** Throws a `DataError`. */
  readonly place: (record: SinkRecord, clockMs: number) => Placement
}

/**
 * The files of a topic partition. Decides where a set of files ends: where a former owner of the partition has decided it, or else by the
 * rotation.
 */
export class PartitionFiles {
  readonly partition: SinkPartition
  readonly #options: PartitionFilesOptions
  /** Boundaries of a former owner, of which files may be visible. */
  #recorded: readonly Boundary[]
  #open: FileSet | undefined
  #ended: FileSet[] = []
  /** The offset up to which all files are visible; undefined until the first record. */
  #storedOffset: number | undefined
  #committedOffset: number | undefined
  #nextOffset: number | undefined

  constructor(
    options: PartitionFilesOptions,
    partition: SinkPartition,
    start: { readonly offset: number | undefined; readonly boundaries: readonly Boundary[] },
  ) {
    this.#options = options
    this.partition = partition
    this.#recorded = start.boundaries
    this.#storedOffset = start.offset
    this.#committedOffset = start.offset
  }

  get heldBytes(): number {
    return (this.#open?.heldBytes ?? 0) + this.#ended.reduce((sum, set) => sum + set.heldBytes, 0)
  }

  /** Whether the open set may end here: it has records, and no former owner decided otherwise. */
  get canEnd(): boolean {
    return this.#recorded.length === 0 && (this.#open?.records ?? 0) > 0
  }

  /** Whether the record was added before. */
  isKnown({ origin }: SinkRecord): boolean {
    return this.#nextOffset !== undefined && origin.offset < this.#nextOffset
  }

  /** The topic begins anew: what was read of it and is not visible is gone. Returns what must be discarded. */
  restart(): readonly FileSet[] {
    const discarded = this.#sets()
    this.#open = undefined
    this.#ended = []
    this.#recorded = []
    this.#storedOffset = undefined
    this.#nextOffset = undefined
    return discarded
  }

  /** Must be called before each record. Ends sets of a former owner whose last record does not exist any more. */
  reached({ origin }: SinkRecord): void {
    this.#storedOffset ??= origin.offset
    this.#nextOffset ??= this.#storedOffset
    for (let [next] = this.#recorded; next !== undefined && origin.offset >= next.endOffset; [next] = this.#recorded) {
      this.#nextOffset = next.endOffset
      this.endSet()
    }
  }

  /** Adds a record, which completes sets. Throws a `DataError` for a record that cannot be stored. */
  add(record: SinkRecord, nowMs: number): Promise<void> | undefined {
    const clockMs = this.#recorded[0]?.clockMs ?? nowMs
    const placement = this.#options.place(record, clockMs)
    if (this.#mustEndBefore(record, placement, nowMs)) this.endSet()
    this.#open ??= new FileSet(this.#options, {
      clockMs: this.#options.usesClock ? clockMs : undefined,
      scheduledMs: nextScheduledMs(nowMs, this.#options.rotation),
    })
    return this.#open.add(record, placement)
  }

  /** Must be called after each record, also if it was not stored. */
  passed({ origin }: SinkRecord): void {
    this.#nextOffset = origin.offset + 1
    const [recorded] = this.#recorded
    const { recordsMax, fileRecordsMax } = this.#options.rotation
    const { records = 0, fileRecords = 0 } = this.#open ?? {}
    const isFull = records >= recordsMax || fileRecords >= fileRecordsMax
    if (recorded === undefined ? isFull : recorded.endOffset === this.#nextOffset) this.endSet()
  }

  /** Completes the set if its time is over, although no record follows. */
  endDueSet(nowMs: number): void {
    const { rotation, usesClock } = this.#options
    if (this.#open === undefined || this.#recorded.length > 0) return
    if (isCompleteNow(rotation, this.#open, nowMs, usesClock ? nowMs : undefined)) this.endSet()
  }

  /** Completes the set before the next record. */
  endSet(): void {
    const set = this.#open
    this.#open = undefined
    const [recorded, ...others] = this.#recorded
    const isRecorded = recorded !== undefined && this.#nextOffset === recorded.endOffset
    if (isRecorded) this.#recorded = others
    if (set === undefined || set.records === 0) return
    set.boundary = { endOffset: this.#nextOffset!, clockMs: set.clockMs }
    set.isRecorded = isRecorded
    this.#ended.push(set)
  }

  /** The boundaries to commit before the files of `endedSets` may become visible; undefined if that is done. */
  unrecorded(): CommittedPosition | undefined {
    if (this.#ended.every(({ isRecorded }) => isRecorded)) return undefined
    return this.#position()
  }

  /** The boundaries of `unrecorded` are committed. */
  recorded({ offset }: CommittedPosition): void {
    const { count } = encodeBoundaries(offset, this.#boundaries())
    for (const set of this.#ended.slice(0, count)) set.isRecorded = true
    this.#committedOffset = offset
  }

  /** The sets whose files may become visible now, in order. */
  recordedSets(): readonly FileSet[] {
    const end = this.#ended.findIndex(({ isRecorded }) => !isRecorded)
    return end < 0 ? this.#ended : this.#ended.slice(0, end)
  }

  /** The files of the first set are visible. */
  stored(set: FileSet): void {
    this.#ended = this.#ended.filter((one) => one !== set)
    this.#storedOffset = set.boundary!.endOffset
  }

  /** The position to commit; undefined if it is committed, or if files of a set may be visible in part. */
  committable(): CommittedPosition | undefined {
    if (this.#ended.length > 0) return undefined
    const isEmpty = (this.#open?.records ?? 0) === 0
    if (isEmpty && this.#nextOffset !== undefined && this.#recorded.length === 0) this.#storedOffset = this.#nextOffset
    if (this.#storedOffset === undefined || this.#storedOffset === this.#committedOffset) return undefined
    return this.#position()
  }

  async spill(): Promise<void> {
    for (const set of this.#sets()) await set.spill()
  }

  async abort(): Promise<void> {
    await Promise.all(this.#sets().map((set) => set.abort()))
  }

  #sets(): readonly FileSet[] {
    return this.#open === undefined ? this.#ended : [...this.#ended, this.#open]
  }

  #boundaries(): readonly Boundary[] {
    return [...this.#ended.map(({ boundary }) => boundary!), ...this.#recorded]
  }

  #position(): CommittedPosition {
    const offset = this.#storedOffset!
    const boundaries = this.#boundaries()
    const at = { ...this.partition, offset }
    return boundaries.length === 0 ? at : { ...at, metadata: encodeBoundaries(offset, boundaries).text }
  }

  /** A former owner's boundaries are the only ones until they are reached, except where a file cannot have two schemas. */
  #mustEndBefore(record: SinkRecord, { path, period, timestampMs }: Placement, nowMs: number): boolean {
    const set = this.#open
    if (set === undefined) return false
    if (set.needsOtherSchema(record, path)) return true
    if (this.#recorded.length > 0) return false
    if (this.#options.usesClock && period !== set.lastPeriod) return true
    const needsFile = !set.hasFile(record.topic, path)
    return isCompleteBefore(this.#options.rotation, set, { timestampMs, path, needsFile }, nowMs)
  }
}
