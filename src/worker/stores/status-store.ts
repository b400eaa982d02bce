import type { Broker } from '../../broker/broker.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic/state-topic.ts'
import type { StateProgress, StateTopicDefinition } from '../../broker/state-topic/state-topic-checks.ts'
import type { Logger } from '../../common/logging/logger.ts'
import {
  type ActiveTopic,
  parseStatusRecord,
  type StatusKey,
  type StatusRecord,
  type StatusSubject,
  type StoredStatus,
  toStatusKey,
  toStatusValue,
  toTopicValue,
} from './status-codec.ts'
import { isSafeWrite, StatusState } from './status-state.ts'

export type StatusStoreOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly topic: StateTopicDefinition
  /** Called with each status that is read, of a connector or a task. */
  readonly onStatus?: (record: StatusChange) => void
  /** See `StateTopicOptions`. */
  readonly skipValidation?: boolean
  readonly progress?: StateProgress
  readonly onFailed?: (error: Error) => void
}

/** A status that was written or, if it is null, deleted. */
export type StatusChange = Exclude<StatusRecord, { kind: 'topic' }>

/** The status topic: the status of every connector and task. A write resolves when it has been read back. */
export class StatusStore {
  readonly state = new StatusState()
  #topic: StateTopic | undefined

  private constructor() {}

  static async open(options: StatusStoreOptions): Promise<StatusStore> {
    const store = new StatusStore()
    store.#topic = await openStateTopic({
      broker: options.broker,
      logger: options.logger,
      topic: options.topic,
      skipValidation: options.skipValidation,
      progress: options.progress,
      decode: ({ key, value }) => parseStatusRecord(String(key), value === null ? null : String(value)),
      apply: (record) => {
        if (record === undefined) return
        store.state.apply(record)
        if (record.kind !== 'topic') options.onStatus?.(record)
      },
      onFailed: options.onFailed,
    })
    return store
  }

  async put(subject: StatusSubject, status: StoredStatus): Promise<void> {
    await this.#write(subject, toStatusValue(status))
  }

  /** Like `put`, but does not overwrite a status that another worker wrote in a later generation of the group. */
  async putSafe(subject: StatusSubject, status: StoredStatus): Promise<void> {
    if (isSafeWrite(this.state.of(subject), status)) await this.put(subject, status)
  }

  async putTopic(topic: ActiveTopic): Promise<void> {
    await this.#write({ kind: 'topic', connector: topic.connector, topic: topic.name }, toTopicValue(topic))
  }

  async delete(key: StatusKey): Promise<void> {
    await this.#write(key, null)
  }

  get failure(): Error | undefined {
    return this.#topic?.failure
  }

  async close(): Promise<void> {
    await this.#topic?.close()
  }

  async #write(key: StatusKey, value: string | null): Promise<void> {
    await this.#topic?.append([
      { key: Buffer.from(toStatusKey(key)), value: value === null ? null : Buffer.from(value) },
    ])
  }
}
