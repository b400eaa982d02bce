import type { BrokerBackend } from './backend.ts'
import { BrokerError } from './error.ts'

/** Caches the leaders of partitions until a call reports that they are out of date. */
export class MetadataCache {
  readonly #home: BrokerBackend
  readonly #leaders = new Map<string, readonly number[]>()
  readonly #asking = new Map<string, Promise<readonly number[]>>()

  constructor(home: BrokerBackend) {
    this.#home = home
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
    let asking = this.#asking.get(topic)
    if (!asking) {
      asking = this.#ask(topic).finally(() => this.#asking.delete(topic))
      this.#asking.set(topic, asking)
    }
    return asking
  }

  async #ask(topic: string): Promise<readonly number[]> {
    const [found] = await this.#home.metadata({ topics: [topic], fresh: true })
    // The cached entry stays while no broker responds: the number of partitions decides where keys go.
    if (!found) {
      this.#leaders.delete(topic)
      throw new BrokerError('topic_not_found', `there is no topic '${topic}'`)
    }
    const leaders: number[] = new Array(found.partitions.length).fill(-1)
    for (const { partition, leader } of found.partitions) leaders[partition] = leader
    this.#leaders.set(topic, leaders)
    return leaders
  }
}
