import type { Broker } from '../../broker/broker.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic.ts'
import type { StateProgress } from '../../broker/state-topic-checks.ts'
import type { Logger } from '../../config/logger.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { Position } from '../../sdk/record.ts'
import { OffsetState, parseOffsetRecord, partitionId, type StoredOffset, toOffsetKey } from './offset-state.ts'
import type { StoreTopic } from './store-topic.ts'

export type OffsetStoreOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly topic: StoreTopic
  /** See `StateTopicOptions`. */
  readonly skipValidation?: boolean
  readonly progress?: StateProgress
  /** Of the worker's topic. One that a connector has for itself stops only what needs it. */
  readonly onFailed?: (error: Error) => void
}

type Opened = { readonly state: OffsetState; readonly topic: StateTopic }

/**
 * How far every source is, in the worker's offsets topic and in those that single connectors have for themselves: these win.
 * Running tasks write them; this is their view, and their editor.
 */
export class OffsetStore {
  readonly #options: OffsetStoreOptions
  readonly #shared: Opened
  readonly #own = new Map<string, Promise<Opened>>()

  private constructor(options: OffsetStoreOptions, shared: Opened) {
    this.#options = options
    this.#shared = shared
  }

  static async open(options: OffsetStoreOptions): Promise<OffsetStore> {
    return new OffsetStore(options, await openTopic(options))
  }

  get failure(): Error | undefined {
    return this.#shared.topic.failure
  }

  /** Brings what is known of the worker's topic to what stands in it now, whoever wrote it. */
  async refresh(): Promise<void> {
    await this.#shared.topic.readToEnd()
  }

  /** Where a connector of this configuration goes on: from its own topic as it is now, the worker's as it was read last. */
  async of(connector: string, config: RawConfig): Promise<readonly StoredOffset[]> {
    const shared = this.#shared.state.of(connector)
    const own = await this.#ownOf(config)
    if (!own) return shared
    await own.topic.readToEnd()
    const mine = own.state.of(connector)
    const known = new Set(mine.map(({ partition }) => partitionId(partition)))
    return [...mine, ...shared.filter(({ partition }) => !known.has(partitionId(partition)))]
  }

  /** Everything known of a connector now. */
  async read(connector: string, config: RawConfig): Promise<readonly StoredOffset[]> {
    await this.refresh()
    return this.of(connector, config)
  }

  /** A null offset forgets the partition. */
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
      value: offset && Buffer.from(JSON.stringify(offset)),
    }))
    const own = await this.#ownOf(config)
    // What was forgotten in its own topic only would come back from the worker's.
    await this.#shared.topic.append(records)
    await own?.topic.append(records)
  }

  async close(): Promise<void> {
    const own = await Promise.allSettled(this.#own.values())
    const opened = own.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    await Promise.all([this.#shared, ...opened].map(({ topic }) => topic.close()))
  }

  /** Opened when it is first asked for, and made when it is missing. */
  async #ownOf(config: RawConfig): Promise<Opened | undefined> {
    const { topic } = this.#options
    const name = ownOffsetsTopic(config)
    if (name === undefined || name === topic.name) return undefined
    const known = this.#own.get(name)
    const onFailed = (): void => this.#forget(name)
    const opened = known ?? openTopic({ ...this.#options, onFailed, topic: { ...topic, name } })
    this.#own.set(name, opened)
    return opened.catch((error: unknown) => {
      this.#own.delete(name)
      throw error
    })
  }

  /** The next connector that needs it opens it anew, and fails with what is wrong with it. */
  #forget(name: string): void {
    const opened = this.#own.get(name)
    this.#own.delete(name)
    void opened?.then(({ topic }) => topic.close())
  }
}

/** Undefined: it has none. */
export function ownOffsetsTopic(config: RawConfig): string | undefined {
  return config['offsets.storage.topic']?.trim() || undefined
}

async function openTopic(options: OffsetStoreOptions): Promise<Opened> {
  const { broker, logger, topic, skipValidation, progress, onFailed } = options
  const state = new OffsetState()
  const opened = await openStateTopic({
    broker,
    logger,
    topic,
    skipValidation,
    progress,
    decode: ({ key, value }) => parseOffsetRecord(key ?? Buffer.alloc(0), value),
    apply: (record) => state.apply(record),
    onFailed,
  })
  return { state, topic: opened }
}
