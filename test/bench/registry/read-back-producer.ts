import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker, NewRecord, PartitionReader, Producer } from '../../../src/broker/broker.ts'

/**
 * The part of a registration that waits for Kafka: a record is written, and a reader with a pending fetch request, as the
 * registry has one, returns it. The reader runs until the process ends.
 */
export class ReadBackProducer {
  readonly #topic: string
  readonly #producer: Producer
  readonly #reader: PartitionReader
  #nextOffset = 0
  #onRead: () => void = () => {}

  private constructor(topic: string, producer: Producer, reader: PartitionReader) {
    this.#topic = topic
    this.#producer = producer
    this.#reader = reader
    void this.#follow()
  }

  /** Creates the topic. */
  static async open(broker: Broker, topic: string): Promise<ReadBackProducer> {
    await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
    const reader = broker.reader({ outOfRange: 'error', prefetchesAtEnd: false })
    reader.seek([{ topic, partition: 0, offset: 0 }])
    return new ReadBackProducer(topic, await broker.producer({ identity: await broker.newProducerIdentity() }), reader)
  }

  /** Resolves when the reader has returned the record. */
  async send(record: Pick<NewRecord, 'key' | 'value'>): Promise<void> {
    const { offsets } = await this.#producer.send([{ topic: this.#topic, partition: 0, ...record }])
    while (this.#nextOffset <= offsets[0]!) {
      await new Promise<void>((resolve) => {
        this.#onRead = resolve
      })
    }
  }

  async #follow(): Promise<void> {
    for (;;) {
      for (const { nextOffset } of await this.#reader.poll(1_000)) this.#nextOffset = nextOffset
      this.#onRead()
      // As the registry does, which responds before it sends the next fetch request.
      await nextTurn()
    }
  }
}
