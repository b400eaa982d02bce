import type { Broker, PartitionReader, PartitionReaderOptions } from '../../broker/broker.ts'
import type { TopicReader, TopicRecord } from '../../sdk/index.ts'

export type SourceTopicOptions = {
  readonly broker: Pick<Broker, 'topics' | 'reader'>
  readonly topic: string
  readonly offset: number | undefined
  readonly limits?: Pick<PartitionReaderOptions, 'isolation' | 'pollBytesMax'>
}

/** Reads partition 0 of a topic for a source, as soon as the topic exists. */
export class SourceTopicReader implements TopicReader {
  readonly #options: SourceTopicOptions
  #reader: PartitionReader | undefined
  #nextOffset: number
  #isClosed = false

  private constructor(options: SourceTopicOptions, nextOffset: number) {
    this.#options = options
    this.#nextOffset = nextOffset
  }

  static async open(options: SourceTopicOptions): Promise<SourceTopicReader> {
    const { broker, topic, offset } = options
    if (offset !== undefined) return new SourceTopicReader(options, offset)
    const isCreated = (await broker.topics.describe(topic)) !== undefined
    const [end] = isCreated ? await broker.topics.offsets(topic, 'latest') : []
    return new SourceTopicReader(options, end?.offset ?? 0)
  }

  get nextOffset(): number {
    return this.#nextOffset
  }

  async poll(waitMs: number): Promise<readonly TopicRecord[]> {
    const reader = this.#reader ?? (await this.#start())
    const polled = (await reader?.poll(waitMs)) ?? []
    for (const { nextOffset } of polled) this.#nextOffset = nextOffset
    return polled.flatMap(({ records }) => records.map(({ offset, key, value }) => ({ offset, key, value })))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#reader?.close()
  }

  async #start(): Promise<PartitionReader | undefined> {
    const { broker, topic, limits } = this.#options
    if ((await broker.topics.describe(topic)) === undefined || this.#isClosed) return undefined
    this.#reader = broker.reader({ ...limits, outOfRange: 'earliest', waitsForMissingTopics: true })
    this.#reader.seek([{ topic, partition: 0, offset: this.#nextOffset }])
    return this.#reader
  }
}
