import type { Broker } from '../../broker/broker.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic/state-topic.ts'
import type { StateProgress, StateTopicDefinition } from '../../broker/state-topic/state-topic-checks.ts'
import { printExactJson } from '../../common/exact-json.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { Position } from '../../sdk/record.ts'
import type { TopicAccess } from '../topic-access/topic-access.ts'
import { OffsetState, parseOffsetRecord, partitionId, type StoredOffset, toOffsetKey } from './offset-state.ts'

export type OffsetStoreOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly topic: StateTopicDefinition
  /** Decides which topics a connector may use for its offsets. */
  readonly accessOf: (connector: string) => Pick<TopicAccess, 'requireOffsetsTopic'>
  /** See `StateTopicOptions`. */
  readonly skipValidation?: boolean
  readonly progress?: StateProgress
  /** Called when the worker's topic fails. A failed topic of a single connector affects only that connector. */
  readonly onFailed?: (error: Error) => void
}

type OpenTopic = { readonly state: OffsetState; readonly topic: StateTopic }

/**
 * The source offsets in the worker's offsets topic and in separate topics of single connectors, which take precedence.
 * Running tasks write these topics by themselves (`SourceOffsets` in `tasks/source-offsets.ts`); this class reads and
 * alters them.
 */
export class OffsetStore {
  readonly #options: OffsetStoreOptions
  readonly #shared: OpenTopic
  readonly #separate = new Map<string, Promise<OpenTopic>>()

  private constructor(options: OffsetStoreOptions, shared: OpenTopic) {
    this.#options = options
    this.#shared = shared
  }

  static async open(options: OffsetStoreOptions): Promise<OffsetStore> {
    return new OffsetStore(options, await openTopic(options))
  }

  get failure(): Error | undefined {
    return this.#shared.topic.failure
  }

  /** Reads the worker's topic to its current end. */
  async refresh(timeoutMs?: number): Promise<void> {
    await this.#shared.topic.readToEnd(timeoutMs)
  }

  /**
   * The offsets from which a connector with this configuration resumes. Reads the connector's separate topic to its
   * current end, but not the worker's topic. Rejects with a `UserError` if the connector may not use its topic.
   */
  async of(connector: string, config: RawConfig): Promise<readonly StoredOffset[]> {
    const shared = this.#shared.state.of(connector)
    const separate = await this.#separateTopicOf(connector, config)
    if (!separate) return shared
    await separate.topic.readToEnd()
    const preferred = separate.state.of(connector)
    const known = new Set(preferred.map(({ partition }) => partitionId(partition)))
    return [...preferred, ...shared.filter(({ partition }) => !known.has(partitionId(partition)))]
  }

  /** All offsets of a connector, after reading both topics to their current end. */
  async read(connector: string, config: RawConfig): Promise<readonly StoredOffset[]> {
    await this.refresh()
    return this.of(connector, config)
  }

  /** A null offset deletes the partition. */
  async write(
    connector: string,
    config: RawConfig,
    offsets: readonly { readonly partition: Position | null; readonly offset: Position | null }[],
  ): Promise<void> {
    const known = new Map(
      (await this.of(connector, config)).map(({ key, partition }) => [partitionId(partition), key] as const),
    )
    const records = offsets.map(({ partition, offset }) => ({
      key: known.get(partitionId(partition)) ?? toOffsetKey(connector, partition),
      value: offset && Buffer.from(printExactJson(offset)),
    }))
    const separate = await this.#separateTopicOf(connector, config)
    // Deleted in both topics: an offset that remained in the worker's topic would become effective.
    await this.#shared.topic.append(records)
    await separate?.topic.append(records)
  }

  async close(): Promise<void> {
    const separate = await Promise.allSettled(this.#separate.values())
    const opened = separate.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    await Promise.all([this.#shared, ...opened].map(({ topic }) => topic.close()))
  }

  /** The connector's separate topic, which is opened at first use and created when it is missing. */
  async #separateTopicOf(connector: string, config: RawConfig): Promise<OpenTopic | undefined> {
    const { topic } = this.#options
    const name = ownOffsetsTopic(config)
    if (name === undefined || name === topic.name) return undefined
    this.#options.accessOf(connector).requireOffsetsTopic(name)
    const known = this.#separate.get(name)
    const onFailed = (): void => this.#closeSeparate(name)
    const opened = known ?? openTopic({ ...this.#options, onFailed, topic: { ...topic, name } })
    this.#separate.set(name, opened)
    return opened.catch((error: unknown) => {
      this.#separate.delete(name)
      throw error
    })
  }

  /** After a failure, the next connector that needs the topic opens it again, and fails if the cause persists. */
  #closeSeparate(name: string): void {
    const opened = this.#separate.get(name)
    this.#separate.delete(name)
    void opened?.then(({ topic }) => topic.close())
  }
}

/** The `offsets.storage.topic` of a connector; undefined if it is not set. */
export function ownOffsetsTopic(config: RawConfig): string | undefined {
  return trimAsJava(config['offsets.storage.topic'] ?? '') || undefined
}

async function openTopic(options: OffsetStoreOptions): Promise<OpenTopic> {
  const { broker, logger, topic, skipValidation, progress, onFailed } = options
  const state = new OffsetState()
  const opened = await openStateTopic({
    broker,
    logger,
    topic,
    skipValidation,
    progress,
    // The transaction of a task that was killed must not prevent the start of the worker that aborts it, as the next start
    // of that task does. The offsets of each task are read to the end before it starts.
    openTo: 'stable',
    decode: ({ key, value }) => parseOffsetRecord(key ?? Buffer.alloc(0), value),
    apply: (record) => state.apply(record),
    onFailed,
  })
  return { state, topic: opened }
}
