import type { NewRecord } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/error.ts'
import type { TaskLog } from '../../sdk/index.ts'
import { newTopic, parseTopicCreationRules, type TopicCreationRule } from '../configuration/topic-creation-rules.ts'
import type { TaskClients } from './task-clients.ts'
import type { TaskMessage, TaskSpec } from './task-spec.ts'

/** The topics a task meets: made when they are missing, and told to the worker once each. */
export class TaskTopics {
  readonly #known = new Set<string>()
  readonly #clients: TaskClients
  readonly #log: TaskLog
  readonly #spec: TaskSpec
  readonly #report: (message: TaskMessage) => void
  readonly #rules: readonly TopicCreationRule[]

  constructor(parts: {
    readonly clients: TaskClients
    readonly log: TaskLog
    readonly spec: TaskSpec
    readonly report: (message: TaskMessage) => void
  }) {
    this.#clients = parts.clients
    this.#log = parts.log
    this.#spec = parts.spec
    this.#report = parts.report
    const { kind, config, worker } = parts.spec
    this.#rules = kind === 'source' && worker.createTopics ? parseTopicCreationRules(config) : []
  }

  /** Waits only for topics that were not seen before. */
  async prepare(records: readonly NewRecord[]): Promise<void> {
    let last: string | undefined
    for (const { topic } of records) {
      if (topic === last) continue
      last = topic
      if (this.#known.has(topic)) continue
      await this.create(topic)
      this.recordActiveTopic(topic)
    }
  }

  /** As the connector says; else as brokers do by themselves where they may: with their defaults. */
  async create(topic: string): Promise<void> {
    try {
      const topics = await this.#clients.topics()
      await topics.create(newTopic(topic, this.#rules))
    } catch (error) {
      // Who may not make topics may still write to those that are there.
      if (!(error instanceof BrokerError) || error.code !== 'not_authorized') throw error
      this.#log.debug({ topic }, 'not allowed to make the topic')
    }
  }

  recordActiveTopic(topic: string): void {
    if (this.#known.has(topic)) return
    this.#known.add(topic)
    if (this.#spec.worker.trackTopics) this.#report({ type: 'topic', topic })
  }
}
