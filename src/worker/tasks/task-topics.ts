import type { NewRecord, NewTopic } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { newTopic, parseTopicCreationRules, type TopicCreationRule } from '../configuration/topic-creation-rules.ts'
import type { TaskClients } from './task-clients.ts'
import type { WorkerTaskContext } from './task-context.ts'

export type TaskTopicsOptions = Pick<WorkerTaskContext, 'log' | 'spec' | 'report' | 'clock'> & {
  readonly clients: TaskClients
}

/** Minimum interval at which a topic in use is reported, in ms. */
const REPORT_INTERVAL_MS = 10_000

/**
 * The topics that a task uses. Creates missing topics and reports each topic to the worker, repeatedly while it is in use: the set of
 * active topics may have been reset.
 */
export class TaskTopics {
  /** When each topic was last reported, in ms of the monotonic clock. */
  readonly #reportedMs = new Map<string, number>()
  readonly #options: TaskTopicsOptions
  readonly #rules: readonly TopicCreationRule[]

  constructor(options: TaskTopicsOptions) {
    const { spec } = options
    this.#options = options
    const { kind, config, worker } = spec
    this.#rules = kind === 'source' && worker.createTopics ? parseTopicCreationRules(config) : []
  }

  /** Creates and reports the topics of these records. Waits only for topics that are new to the task. */
  async ensureTopicsOf(records: readonly NewRecord[]): Promise<void> {
    let last: string | undefined
    for (const { topic } of records) {
      if (topic === last) continue
      last = topic
      if (!this.#reportedMs.has(topic)) await this.create(topic)
      this.recordActiveTopic(topic)
    }
  }

  /**
   * Creates the topic by the connector's `topic.creation.*` rules, or with the brokers' defaults without such rules.
   */
  async create(topic: string): Promise<void> {
    const { clients, log } = this.#options
    try {
      const topics = await clients.topics()
      await topics.create(newTopic(topic, this.#rules))
    } catch (error) {
      // A client without permission to create topics may still write to existing ones.
      if (!(error instanceof BrokerError) || error.code !== 'not_authorized') throw error
      log.debug({ topic }, 'no permission to create the topic; it is expected to exist')
    }
  }

  recordActiveTopic(topic: string): void {
    const { clock, spec, report } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs - (this.#reportedMs.get(topic) ?? Number.NEGATIVE_INFINITY) < REPORT_INTERVAL_MS) return
    this.#reportedMs.set(topic, nowMs)
    if (spec.worker.trackTopics) report({ type: 'topic', topic })
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
