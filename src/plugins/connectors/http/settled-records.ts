import type { SinkPartition, SinkPosition, SinkRecord } from '../../../sdk/index.ts'

/** Records of a batch that are delivered, rejected or ignored. They are left out when the runtime puts the batch again. */
export class SettledRecords {
  readonly #ids = new Set<string>()

  get count(): number {
    return this.#ids.size
  }

  has({ origin }: SinkRecord): boolean {
    return this.#ids.has(recordId(origin))
  }

  add(records: readonly SinkRecord[]): void {
    for (const { origin } of records) this.#ids.add(recordId(origin))
  }

  /** The next owner of these partitions receives all of their uncommitted records. */
  removePartitions(partitions: readonly SinkPartition[]): void {
    const prefixes = partitions.map(({ topic, partition }) => `${topic}/${partition}/`)
    for (const id of this.#ids) if (prefixes.some((prefix) => id.startsWith(prefix))) this.#ids.delete(id)
  }

  clear(): void {
    this.#ids.clear()
  }
}

/** No name of a topic has a slash. */
function recordId({ topic, partition, offset }: SinkPosition): string {
  return `${topic}/${partition}/${offset}`
}
