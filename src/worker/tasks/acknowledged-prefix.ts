/** The offset that was reached in one source partition. */
export type SourceProgress<Partition> = { readonly partition: Partition; readonly offset: Partition }

type Batch<Partition> = { acknowledged: boolean; readonly progress: readonly SourceProgress<Partition>[] }

/**
 * Tracks the longest prefix of acknowledged batches. The offsets of a batch become ready when it and all batches before
 * it are acknowledged, so committed offsets never get ahead of stored records. Keeps one entry per batch.
 */
export class AcknowledgedPrefix<Partition> {
  readonly #idOf: (partition: Partition) => string
  readonly #batches: Batch<Partition>[] = []
  #head = 0
  #ready = new Map<string, SourceProgress<Partition>>()

  constructor(idOf: (partition: Partition) => string) {
    this.#idOf = idOf
  }

  /** Registers a batch; call it in the order of the source. Call the returned function when the batch is stored. */
  add(progress: readonly SourceProgress<Partition>[]): () => void {
    const batch: Batch<Partition> = { acknowledged: false, progress }
    this.#batches.push(batch)
    return () => {
      batch.acknowledged = true
      this.#advance()
    }
  }

  /** Returns the offsets that became ready since the last call. */
  take(): readonly SourceProgress<Partition>[] {
    const ready = [...this.#ready.values()]
    this.#ready = new Map()
    return ready
  }

  /** Returns offsets that could not be committed, unless the same partition has a newer ready offset. */
  restore(progress: readonly SourceProgress<Partition>[]): void {
    const older = new Map(progress.map((entry) => [this.#idOf(entry.partition), entry]))
    this.#ready = new Map([...older, ...this.#ready])
  }

  #advance(): void {
    for (let first = this.#batches[this.#head]; first?.acknowledged; first = this.#batches[this.#head]) {
      for (const entry of first.progress) this.#ready.set(this.#idOf(entry.partition), entry)
      this.#head += 1
    }
    // Entries are removed in bulk, because each removal moves all entries that follow.
    if (this.#head > 64 && this.#head * 2 > this.#batches.length) {
      this.#batches.splice(0, this.#head)
      this.#head = 0
    }
  }
}

/**
 * Returns the last offset of each source partition in a batch. Compares partition objects by identity: sources reuse
 * one object for many records.
 */
export function lastOffsets<Partition>(
  records: readonly { readonly sourcePartition: Partition; readonly sourceOffset: Partition }[],
): readonly SourceProgress<Partition>[] {
  const last = new Map<Partition, Partition>()
  for (let index = 0; index < records.length; index++) {
    const record = records[index]
    if (record === undefined || record.sourcePartition === records[index + 1]?.sourcePartition) continue
    // Ordered by last record, because two objects can denote the same partition.
    last.delete(record.sourcePartition)
    last.set(record.sourcePartition, record.sourceOffset)
  }
  return [...last].map(([partition, offset]) => ({ partition, offset }))
}
