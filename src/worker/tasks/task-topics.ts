import type { NewRecord, NewTopic } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import type { TaskLog } from '../../sdk/index.ts'
import { newTopic, parseTopicCreationRules, type TopicCreationRule } from '../configuration/topic-creation-rules.ts'
import type { TaskClients } from './task-clients.ts'
import type { TaskMessage, TaskSpec } from './task-spec.ts'

export type TaskTopicsOptions = {
  readonly clients: TaskClients
  readonly log: TaskLog
  readonly spec: TaskSpec
  readonly report: (message: TaskMessage) => void
}

/** The topics that a task uses. Creates missing topics and reports each topic to the worker once. */
export class TaskTopics {
  readonly #known = new Set<string>()
  readonly #clients: TaskClients
  readonly #log: TaskLog
  readonly #spec: TaskSpec
  readonly #report: (message: TaskMessage) => void
  readonly #rules: readonly TopicCreationRule[]

  constructor({ clients, log, spec, report }: TaskTopicsOptions) {
    this.#clients = clients
    this.#log = log
    this.#spec = spec
    this.#report = report
    const { kind, config, worker } = spec
    this.#rules = kind === 'source' && worker.createTopics ? parseTopicCreationRules(config) : []
  }

  /** Creates and reports the topics of these records. Waits only for topics that are new to the task. */
  async ensureTopicsOf(records: readonly NewRecord[]): Promise<void> {
    let last: string | undefined
    for (const { topic } of records) {
      if (topic === last) continue
      last = topic
      if (this.#known.has(topic)) continue
      await this.create(topic)
      this.recordActiveTopic(topic)
    }
  }

  /**
   * Creates the topic by the connector's `topic.creation.*` rules, or with the brokers' defaults without such rules.
   */
  async create(topic: string): Promise<void> {
    try {
      const topics = await this.#clients.topics()
      await topics.create(newTopic(topic, this.#rules))
    } catch (error) {
      // A client without permission to create topics may still write to existing ones.
      if (!(error instanceof BrokerError) || error.code !== 'not_authorized') throw error
      this.#log.debug({ topic }, 'no permission to create the topic; it is expected to exist')
    }
  }

  recordActiveTopic(topic: string): void {
    if (this.#known.has(topic)) return
    this.#known.add(topic)
    if (this.#spec.worker.trackTopics) this.#report({ type: 'topic', topic })
  }
}

/**
 * Creates a topic unless it exists. It is looked up first, so that a client without permission to create topics can use an
 * existing one.
 */
export async function ensureTopic(clients: Pick<TaskClients, 'topics'>, topic: NewTopic): Promise<void> {
  const topics = await clients.topics()
  if ((await topics.describe(topic.name)) === undefined) await topics.create(topic)
}
