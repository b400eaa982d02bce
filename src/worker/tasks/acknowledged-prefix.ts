/** How far a source partition is. */
export type SourceProgress<Partition> = { readonly partition: Partition; readonly offset: Partition }

type Batch<Partition> = { acknowledged: boolean; readonly progress: readonly SourceProgress<Partition>[] }

/**
 * The longest prefix of batches that are safely stored. What a batch says of its source partitions counts when it and
 * all batches before it are acknowledged: offsets never run ahead of records. One entry a batch, not a record.
 */
export class AcknowledgedPrefix<Partition> {
  readonly #idOf: (partition: Partition) => string
  readonly #batches: Batch<Partition>[] = []
  #head = 0
  #ready = new Map<string, SourceProgress<Partition>>()

  constructor(idOf: (partition: Partition) => string) {
    this.#idOf = idOf
  }

  /** Registers a batch in the order of the source; call what it returns when the batch is stored. */
  add(progress: readonly SourceProgress<Partition>[]): () => void {
    const batch: Batch<Partition> = { acknowledged: false, progress }
    this.#batches.push(batch)
    return () => {
      batch.acknowledged = true
      this.#advance()
    }
  }

  /** What may be committed and was not taken yet. */
  take(): readonly SourceProgress<Partition>[] {
    const ready = [...this.#ready.values()]
    this.#ready = new Map()
    return ready
  }

  /** Puts back what could not be committed, unless there is something newer. */
  restore(progress: readonly SourceProgress<Partition>[]): void {
    const older = new Map(progress.map((entry) => [this.#idOf(entry.partition), entry]))
    this.#ready = new Map([...older, ...this.#ready])
  }

  #advance(): void {
    for (let first = this.#batches[this.#head]; first?.acknowledged; first = this.#batches[this.#head]) {
      for (const entry of first.progress) this.#ready.set(this.#idOf(entry.partition), entry)
      this.#head += 1
    }
    // Moving the rest down for every batch would cost more than the batches.
    if (this.#head > 64 && this.#head * 2 > this.#batches.length) {
      this.#batches.splice(0, this.#head)
      this.#head = 0
    }
  }
}

/** The last offset of every source partition in a batch. Sources use one partition object for many records. */
export function lastOffsets<Partition>(
  records: readonly { readonly sourcePartition: Partition; readonly sourceOffset: Partition }[],
): readonly SourceProgress<Partition>[] {
  const last = new Map<Partition, Partition>()
  for (let index = 0; index < records.length; index++) {
    const record = records[index]
    if (record === undefined || record.sourcePartition === records[index + 1]?.sourcePartition) continue
    // In the order of their last records: two objects may mean one partition.
    last.delete(record.sourcePartition)
    last.set(record.sourcePartition, record.sourceOffset)
  }
  return [...last].map(([partition, offset]) => ({ partition, offset }))
}
