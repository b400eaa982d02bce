import type { Broker, PartitionOffset } from '../../../src/broker/broker.ts'
import type { TopicRecord } from './recording.ts'

const TOPICS = ['configs', 'offsets', 'status']

/** Reads all records of a worker group's three topics, with the topic names of the recording. */
export class TopicLog {
  readonly #records: TopicRecord[] = []
  readonly #broker: Broker
  readonly #group: string
  readonly #reader: ReturnType<Broker['reader']>
  readonly #next = new Map<string, number>()

  private constructor(broker: Broker, group: string) {
    this.#broker = broker
    this.#group = group
    this.#reader = broker.reader()
  }

  static async open(broker: Broker, group: string): Promise<TopicLog> {
    const log = new TopicLog(broker, group)
    log.#reader.seek((await log.#ends()).map((end) => ({ ...end, offset: 0 })))
    return log
  }

  /** All records up to now. */
  async read(): Promise<readonly TopicRecord[]> {
    const ends = await this.#ends()
    while (ends.some(({ topic, partition, offset }) => (this.#next.get(`${topic} ${partition}`) ?? 0) < offset)) {
      for (const { topic, partition, records, nextOffset } of await this.#reader.poll(1_000)) {
        this.#next.set(`${topic} ${partition}`, nextOffset)
        const name = topic.replace(this.#group, 'connect') as TopicRecord['topic']
        for (const { key, value } of records) {
          this.#records.push({ topic: name, partition, key: String(key), value: value && String(value) })
        }
      }
    }
    return this.#records
  }

  async #ends(): Promise<readonly PartitionOffset[]> {
    const ends = TOPICS.map((topic) => this.#broker.topics.offsets(`${this.#group}-${topic}`, 'latest'))
    return (await Promise.all(ends)).flat()
  }
}
