import type { Broker } from '../../broker/broker.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic.ts'
import type { Logger } from '../../config/logger.ts'
import type { Position } from '../../sdk/record.ts'
import { OffsetState, partitionId, type StoredOffset, toOffsetKey } from './offset-state.ts'
import type { StoreTopic } from './store-topic.ts'

export type OffsetStoreOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly topic: StoreTopic
}

/** The offsets topic: how far every source is. Running tasks write it themselves; this is its view, and its editor. */
export class OffsetStore {
  readonly state = new OffsetState()
  readonly topicName: string
  #topic: StateTopic | undefined

  private constructor(topicName: string) {
    this.topicName = topicName
  }

  static async open({ broker, logger, topic }: OffsetStoreOptions): Promise<OffsetStore> {
    const store = new OffsetStore(topic.name)
    store.#topic = await openStateTopic({
      broker,
      logger,
      topic,
      apply: ({ key, value }) => store.state.apply(key ?? Buffer.alloc(0), value),
    })
    return store
  }

  /** Brings `state` to what stands in the topic now, whoever wrote it. */
  async refresh(): Promise<void> {
    await this.#topic?.readToEnd()
  }

  /** Everything known of a connector now. */
  async read(connector: string): Promise<readonly StoredOffset[]> {
    await this.refresh()
    return this.state.of(connector)
  }

  /** A null offset forgets the partition. */
  async write(
    connector: string,
    offsets: readonly { readonly partition: Position | null; readonly offset: Position | null }[],
  ): Promise<void> {
    const known = new Map(this.state.of(connector).map(({ key, partition }) => [partitionId(partition), key]))
    await this.#topic?.append(
      offsets.map(({ partition, offset }) => ({
        key: known.get(partitionId(partition)) ?? toOffsetKey(connector, partition),
        value: offset && Buffer.from(JSON.stringify(offset)),
      })),
    )
  }

  async close(): Promise<void> {
    await this.#topic?.close()
  }
}
