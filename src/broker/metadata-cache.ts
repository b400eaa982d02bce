import type { BrokerBackend } from './broker-backend.ts'
import { BrokerError } from './broker-error.ts'

/** Caches the leaders of partitions until a call reports that they are out of date. */
export class MetadataCache {
  readonly #backend: BrokerBackend
  readonly #leaders = new Map<string, readonly number[]>()
  readonly #pending = new Map<string, Promise<readonly number[]>>()

  constructor(backend: BrokerBackend) {
    this.#backend = backend
  }

  /** Cached leaders by partition. */
  known(topic: string): readonly number[] | undefined {
    return this.#leaders.get(topic)
  }

  /** Leaders by partition; -1 for a partition without a leader. Throws `topic_not_found`. */
  async leaders(topic: string): Promise<readonly number[]> {
    return this.#leaders.get(topic) ?? this.refresh(topic)
  }

  refresh(topic: string): Promise<readonly number[]> {
    let asking = this.#pending.get(topic)
    if (!asking) {
      asking = this.#fetch(topic).finally(() => this.#pending.delete(topic))
      this.#pending.set(topic, asking)
    }
    return asking
  }

  async #fetch(topic: string): Promise<readonly number[]> {
    const [found] = await this.#backend.metadata({ topics: [topic], fresh: true })
    // The cached entry stays while no broker responds: the number of partitions decides where keys go.
    if (!found) {
      this.#leaders.delete(topic)
      throw new BrokerError('topic_not_found', `topic '${topic}' does not exist`)
    }
    const leaders: number[] = new Array(found.partitions.length).fill(-1)
    for (const { partition, leader } of found.partitions) leaders[partition] = leader
    this.#leaders.set(topic, leaders)
    return leaders
  }
}
