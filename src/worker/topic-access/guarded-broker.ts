import type {
  Broker,
  CommittedOffset,
  Consumer,
  ConsumerOptions,
  MemberGeneration,
  NewRecord,
  NewTopic,
  PartitionOffset,
  PartitionRecords,
  Producer,
  ProducerOptions,
  TopicAdmin,
  TopicPartition,
} from '../../broker/broker.ts'
import type { TopicReader } from '../../sdk/index.ts'
import { type SourceTopicOptions, SourceTopicReader } from '../tasks/source-topic-reader.ts'
import type { TopicAccess } from './topic-access.ts'

/**
 * The broker as one connector may use it: every client that it opens checks the topics of records and the group against the access of
 * the connector. Code that acts for a connector has no other broker.
 */
export class GuardedBroker {
  readonly #broker: Broker
  readonly #access: TopicAccess
  /** Rejects with a `UserError` for a topic that the connector may neither read nor write. */
  readonly topics: Pick<TopicAdmin, 'create' | 'describe'>

  constructor(broker: Broker, access: TopicAccess) {
    this.#broker = broker
    this.#access = access
    this.topics = {
      create: async (topic: NewTopic) => {
        access.requireAny(topic.name)
        return broker.topics.create(topic)
      },
      describe: async (name: string) => {
        access.requireAny(name)
        return broker.topics.describe(name)
      },
    }
  }

  address(): ReturnType<Broker['address']> {
    return this.#broker.address()
  }

  async producer(options?: ProducerOptions): Promise<GuardedProducer> {
    return new GuardedProducer(await this.#broker.producer(options), this.#access)
  }

  /** Rejects with a `UserError` if the group or a named topic is not allowed. A filter does not match topics that are not. */
  async consumer(options: ConsumerOptions): Promise<Consumer> {
    const { topics, groupId } = options
    const access = this.#access
    access.requireGroup(groupId)
    if (typeof topics !== 'function') {
      for (const topic of topics) access.require('read', topic)
      return new GuardedConsumer(await this.#broker.consumer(options), access, false)
    }
    const readable = (topic: string) => topics(topic) && access.allows('read', topic)
    return new GuardedConsumer(await this.#broker.consumer({ ...options, topics: readable }), access, true)
  }

  /** Rejects with a `UserError` if the topic is not allowed. */
  async openTopic(options: Omit<SourceTopicOptions, 'broker'>): Promise<TopicReader> {
    const access = this.#access
    access.require('read', options.topic)
    const reader = await SourceTopicReader.open({ ...options, broker: this.#broker })
    return {
      get nextOffset() {
        return reader.nextOffset
      },
      poll: async (waitMs) => {
        access.require('read', options.topic)
        return reader.poll(waitMs)
      },
      close: () => reader.close(),
    }
  }

  close(): Promise<void> {
    return this.#broker.close()
  }
}

/** Rejects calls with a `UserError` for topics that the connector may not write, however the name of the topic came about. */
export class GuardedProducer implements Producer {
  readonly #producer: Producer
  readonly #access: TopicAccess

  constructor(producer: Producer, access: TopicAccess) {
    this.#producer = producer
    this.#access = access
  }

  async send(...[records, onRejected]: Parameters<Producer['send']>): ReturnType<Producer['send']> {
    this.#access.requireWrites(records)
    return this.#producer.send(records, onRejected)
  }

  /** Sends source offsets to the offsets topics, which no other record may be sent to. */
  async sendSourceOffsets(offsets: readonly NewRecord[]): ReturnType<Producer['send']> {
    for (const topic of new Set(offsets.map((offset) => offset.topic))) this.#access.requireOffsetsTopic(topic)
    return this.#producer.send(offsets)
  }

  begin(): void {
    this.#producer.begin()
  }

  async addPartitions(partitions: readonly TopicPartition[]): Promise<void> {
    this.#access.requireWrites(partitions)
    await this.#producer.addPartitions(partitions)
  }

  async sendOffsets(groupId: string, offsets: readonly CommittedOffset[], member?: MemberGeneration): Promise<void> {
    this.#access.requireGroup(groupId)
    await this.#producer.sendOffsets(groupId, offsets, member)
  }

  commit(): Promise<void> {
    return this.#producer.commit()
  }

  abort(): Promise<void> {
    return this.#producer.abort()
  }

  close(): Promise<void> {
    return this.#producer.close()
  }
}

/** Checks group and topics at each poll, because the policy can change and another member can assign any partition. */
class GuardedConsumer implements Consumer {
  readonly #consumer: Consumer
  readonly #access: TopicAccess
  /** Whether the topics were selected by a filter: then topics that are not allowed are left out. */
  readonly #isFiltered: boolean

  constructor(consumer: Consumer, access: TopicAccess, isFiltered: boolean) {
    this.#consumer = consumer
    this.#access = access
    this.#isFiltered = isFiltered
  }

  get groupId(): string {
    return this.#consumer.groupId
  }

  async poll(waitMsMax: number): Promise<readonly PartitionRecords[]> {
    this.#access.requireGroup(this.groupId)
    const polled = await this.#consumer.poll(waitMsMax)
    if (this.#isFiltered) return polled.filter(({ topic }) => this.#access.allows('read', topic))
    for (const { topic } of polled) this.#access.require('read', topic)
    return polled
  }

  wake(): void {
    this.#consumer.wake()
  }

  assignment(): readonly TopicPartition[] {
    return this.#consumer.assignment()
  }

  seek(positions: readonly PartitionOffset[]): void {
    this.#consumer.seek(positions)
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#consumer.pause(partitions)
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#consumer.resume(partitions)
  }

  commit(offsets: readonly CommittedOffset[]): Promise<void> {
    return this.#consumer.commit(offsets)
  }

  committed(partitions: readonly TopicPartition[]): Promise<readonly CommittedOffset[]> {
    return this.#consumer.committed(partitions)
  }

  member(): MemberGeneration {
    return this.#consumer.member()
  }

  close(): Promise<void> {
    return this.#consumer.close()
  }
}
