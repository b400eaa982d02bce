import type { Producer } from '../../broker/broker.ts'
import type { ReportRecord, ReportTopic } from '../../sdk/index.ts'
import type { TaskClients } from './task-clients.ts'
import { ensureTopic } from './task-topics.ts'

/** Writes the records that a connector reports. Topics and the producer are opened for the first report. */
export class ConnectorReports {
  readonly #clients: Pick<TaskClients, 'topics' | 'producer'>
  readonly #topics = new Map<string, Promise<void>>()
  #producer: Promise<Producer> | undefined

  constructor(clients: Pick<TaskClients, 'topics' | 'producer'>) {
    this.#clients = clients
  }

  /** Resolves when the records are stored. Rejects with a `BrokerError`, also when the topic cannot be created. */
  async write(topic: ReportTopic, records: readonly ReportRecord[]): Promise<void> {
    if (records.length === 0) return
    await this.#ensureTopic(topic)
    const producer = await this.#openProducer()
    await producer.send(records.map(({ key, value, headers }) => ({ topic: topic.name, key, value, headers })))
  }

  async close(): Promise<void> {
    await (await this.#producer)?.close()
  }

  /** Once per topic. A failure is not kept, so that the next report tries again. */
  #ensureTopic(topic: ReportTopic): Promise<void> {
    const { name } = topic
    const ensured =
      this.#topics.get(name) ??
      ensureTopic(this.#clients, topic).catch((error: unknown) => {
        this.#topics.delete(name)
        throw error
      })
    this.#topics.set(name, ensured)
    return ensured
  }

  #openProducer(): Promise<Producer> {
    this.#producer ??= this.#clients.producer().catch((error: unknown) => {
      this.#producer = undefined
      throw error
    })
    return this.#producer
  }
}
