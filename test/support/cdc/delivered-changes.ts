import type { Broker, PartitionReader } from '../../../src/broker/broker.ts'
import { parseJson } from '../debezium.ts'

/**
 * Counts the changes of `ConcurrentWriters` that the stream has delivered. The topic of `clients` has the row of its client for
 * each transaction, with the number of its changes until then.
 */
export class DeliveredChanges {
  readonly #broker: Broker
  readonly #topic: string
  readonly #changesOf = new Map<number, number>()
  #reader: PartitionReader | undefined
  #next = 0

  constructor(broker: Broker, topic: string) {
    this.#broker = broker
    this.#topic = topic
  }

  async count(): Promise<number> {
    for (const [end] = await this.#offsets(); this.#next < (end?.offset ?? 0); ) await this.#read()
    return [...this.#changesOf.values()].reduce((sum, changes) => sum + changes, 0)
  }

  async #offsets() {
    const isCreated = (await this.#broker.topics.describe(this.#topic)) !== undefined
    return isCreated ? this.#broker.topics.offsets(this.#topic, 'latest') : []
  }

  async #read(): Promise<void> {
    if (this.#reader === undefined) {
      this.#reader = this.#broker.reader()
      this.#reader.seek([{ topic: this.#topic, partition: 0, offset: 0 }])
    }
    for (const { records, nextOffset } of await this.#reader.poll(1_000)) {
      this.#next = nextOffset
      for (const { value } of records) {
        const { op, after } = Object(parseJson(value))
        if (op === 'u') this.#changesOf.set(Number(after.id), Number(after.changes))
      }
    }
  }
}
