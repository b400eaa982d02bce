import type { Broker, Header } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic/state-topic.ts'
import type { StateProgress, StateTopicDefinition } from '../../broker/state-topic/state-topic-checks.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { activeSpan, TRACEPARENT } from '../../common/tracing.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { type ConfigRecord, parseConfigRecord, type StoredTargetState, toConfigRecord } from './config-codec.ts'
import { ConfigState, sameConfig } from './config-state.ts'
import { ConnectorChanges } from './connector-changes.ts'

export type ConfigStoreOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly topic: StateTopicDefinition
  /** Called with every record that is read after the store was opened. */
  readonly onRecord: (record: ConfigRecord) => void
  /** See `StateTopicOptions`. */
  readonly evidenceOfRecords?: () => Promise<string | undefined>
  readonly skipValidation?: boolean
  readonly progress?: StateProgress
  readonly onFailed?: (error: Error) => void
}

type ConnectorRecord = Extract<ConfigRecord, { readonly kind: 'connector' }>

/** The config topic: connectors, their tasks and target states. A write resolves when it has been read back. */
export class ConfigStore {
  readonly state = new ConfigState()
  /** All that decides on the state of a connector and then writes does so in turn. */
  readonly changes = new ConnectorChanges(() => this.#catchUp())
  readonly #options: ConfigStoreOptions
  #topic: StateTopic | undefined
  #offset = -1
  /** The spans that changed configurations while this store was open, by connector. Empty without tracing. */
  readonly #traceparents = new Map<string, string>()
  /** How many writes had no response in time, and how many of them had been read back, or had failed, at the last reading. */
  readonly #uncertain = { writes: 0, read: 0 }

  private constructor(options: ConfigStoreOptions) {
    this.#options = options
  }

  static async open(options: ConfigStoreOptions): Promise<ConfigStore> {
    const store = new ConfigStore(options)
    store.#topic = await openStateTopic({
      broker: options.broker,
      logger: options.logger,
      topic: { ...options.topic, partitions: 1 },
      skipValidation: options.skipValidation,
      progress: options.progress,
      evidenceOfRecords: options.evidenceOfRecords,
      decode: ({ key, value }) => parseConfigRecord(String(key), value === null ? null : String(value)),
      apply: (record, { offset, headers }) => store.#apply(record, offset, headers),
      onFailed: options.onFailed,
    })
    return store
  }

  /** The span that changed the configuration of the connector last, on any worker with tracing. */
  traceparentOf(connector: string): string | undefined {
    return this.#traceparents.get(connector)
  }

  /** The offset after the last record that was read; -1 when there was none. */
  get offset(): number {
    return this.#offset
  }

  /**
   * Writes the target state of a new connector before its configuration, so that no worker starts a connector that
   * should be paused. Writes the tasks again if the configuration is theirs: nobody else does, and a worker that reads the compacted
   * topic ignores tasks that precede the configuration, as Kafka Connect does.
   */
  async putConnector(connector: string, config: RawConfig, target?: StoredTargetState): Promise<void> {
    const first: ConfigRecord[] = target === undefined ? [] : [{ kind: 'target', connector, target }]
    const { appliedConfig, inconsistent, tasks } = this.state.connector(connector) ?? {}
    const isApplied = appliedConfig !== undefined && inconsistent === false && sameConfig(config, appliedConfig)
    const last = isApplied && tasks !== undefined ? taskRecords(connector, tasks) : []
    await this.write([...first, { kind: 'connector', connector, config }, ...last])
  }

  async deleteConnector(connector: string): Promise<void> {
    await this.write([
      { kind: 'connector', connector, config: null },
      { kind: 'target', connector, target: null },
    ])
  }

  async putTarget(connector: string, target: StoredTargetState): Promise<void> {
    await this.write([{ kind: 'target', connector, target }])
  }

  /** Writes a complete set of task configurations, which takes effect with its commit record. */
  async putTasks(connector: string, tasks: readonly RawConfig[]): Promise<void> {
    await this.write(taskRecords(connector, tasks))
  }

  /** Deletes the records that the deletion of a connector leaves behind. Kafka Connect never deletes them. */
  async deleteRemainingRecords(connector: string): Promise<void> {
    const records = Array.from(
      { length: this.state.taskRecordCount(connector) },
      (_, task): ConfigRecord => ({ kind: 'task', connector, task, config: null }),
    )
    const isFenced = this.state.fencedTasks(connector) !== undefined
    const fencing: ConfigRecord[] = isFenced ? [{ kind: 'fencing', connector, tasks: null }] : []
    await this.write([...records, { kind: 'commit', connector, tasks: null }, ...fencing])
  }

  async write(records: readonly ConfigRecord[]): Promise<void> {
    const span = activeSpan()
    const headers: readonly Header[] = span === undefined ? [] : [[TRACEPARENT, Buffer.from(span.traceparent)]]
    const writes = records.map(toConfigRecord).map(({ key, value }) => ({
      key: Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      headers,
    }))
    try {
      await this.#topic?.append(writes)
    } catch (error) {
      if (!(error instanceof BrokerError) || error.retriable) this.#uncertain.writes += 1
      throw error
    }
  }

  /** What a write without a response has stored decides on the next change, too: without it, a connector could be created twice. */
  async #catchUp(): Promise<void> {
    const { writes, read } = this.#uncertain
    if (writes === read) return
    await this.readToEnd()
    this.#uncertain.read = Math.max(this.#uncertain.read, writes)
  }

  async readToEnd(timeoutMs?: number): Promise<void> {
    await this.#topic?.readToEnd(timeoutMs)
  }

  async close(): Promise<void> {
    await this.#topic?.close()
  }

  get failure(): Error | undefined {
    return this.#topic?.failure
  }

  #apply(record: ConfigRecord | undefined, offset: number, headers: readonly Header[]): void {
    this.#offset = offset + 1
    if (record === undefined) return
    this.state.apply(record)
    if (!this.#topic) return
    if (record.kind === 'connector') this.#recordSpan(record, headers)
    this.#options.onRecord(record)
  }

  #recordSpan({ connector, config }: ConnectorRecord, headers: readonly Header[]): void {
    const [, value] = headers.find(([key]) => key === TRACEPARENT) ?? []
    const traceparent = value ? Buffer.from(value).toString() : undefined
    if (traceparent === undefined || config === null) this.#traceparents.delete(connector)
    else this.#traceparents.set(connector, traceparent)
  }
}

/** The records of a complete set of tasks. */
function taskRecords(connector: string, tasks: readonly RawConfig[]): readonly ConfigRecord[] {
  const records = tasks.map((config, task): ConfigRecord => ({ kind: 'task', connector, task, config }))
  return [...records, { kind: 'commit', connector, tasks: tasks.length }]
}
