import type { Producer } from '../../broker/broker.ts'
import type { ReportRecord, ReportTopic } from '../../sdk/index.ts'
import type { TaskClients } from './task-clients.ts'

/** Writes what a sink reports about its records. Topics and the producer are opened for the first report. */
export class SinkReports {
  readonly #clients: Pick<TaskClients, 'topics' | 'producer'>
  readonly #topics = new Map<string, Promise<void>>()
  #producer: Promise<Producer> | undefined

  constructor(clients: Pick<TaskClients, 'topics' | 'producer'>) {
    this.#clients = clients
  }

  /** Resolves when the records are stored. Rejects with a `BrokerError`, also when the topic cannot be created. */
  async write(topic: ReportTopic, records: readonly ReportRecord[]): Promise<void> {
    if (records.length === 0) return
    const created = this.#topics.get(topic.name) ?? this.#create(topic)
    this.#topics.set(topic.name, created)
    await created
    this.#producer ??= this.#clients.producer()
    const producer = await this.#producer
    await producer.send(records.map(({ key, value, headers }) => ({ topic: topic.name, key, value, headers })))
  }

  async close(): Promise<void> {
    await (await this.#producer)?.close()
  }

  async #create({ name, partitions, replicationFactor }: ReportTopic): Promise<void> {
    const topics = await this.#clients.topics()
    if ((await topics.describe(name)) === undefined) await topics.create({ name, partitions, replicationFactor })
  }
}
