import type { Clock } from '../common/clock.ts'
import type { BrokerBackend } from './broker-backend.ts'
import { BrokerError } from './broker-error.ts'

/** Caches the leaders of partitions until a call reports that they are out of date, or until they are old. */
export class MetadataCache {
  readonly #backend: BrokerBackend
  readonly #clock: Clock
  readonly #leaders = new Map<string, readonly number[]>()
  /** When metadata of a topic was last requested, in ms of the monotonic clock. */
  readonly #requestedMs = new Map<string, number>()
  readonly #pending = new Map<string, Promise<readonly number[]>>()

  constructor(backend: BrokerBackend, clock: Clock) {
    this.#backend = backend
    this.#clock = clock
  }

  /** Cached leaders by partition. */
  known(topic: string): readonly number[] | undefined {
    return this.#leaders.get(topic)
  }

  /** Leaders by partition; -1 for a partition without a leader. Throws `topic_not_found`, and `not_authorized` if this client may not describe the topic. */
  async leaders(topic: string): Promise<readonly number[]> {
    return this.#leaders.get(topic) ?? this.refresh(topic)
  }

  /** Does not wait: the cached entry is used meanwhile. Nothing else shows that a topic has more partitions. */
  refreshIfOld(topic: string, maxAgeMs: number): void {
    const ageMs = this.#clock.monotonicMs() - (this.#requestedMs.get(topic) ?? Number.NEGATIVE_INFINITY)
    if (ageMs > maxAgeMs) this.refresh(topic).catch(() => undefined)
  }

  refresh(topic: string): Promise<readonly number[]> {
    let asking = this.#pending.get(topic)
    if (!asking) {
      this.#requestedMs.set(topic, this.#clock.monotonicMs())
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
