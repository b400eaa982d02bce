import type { z } from 'zod'
import { parseConfig, type RawConfig } from './config.ts'
import type { HostAccess } from './host-access.ts'
import type {
  CommittedPosition,
  ReportRecord,
  SinkConnector,
  SinkPartition,
  SinkPosition,
  SourceConnector,
  SourceLag,
  SourceSnapshot,
  StoredListener,
  TaskLog,
  TopicReader,
  TopicReaderOptions,
  TopicRecord,
} from './plugin.ts'
import type { Position, SinkRecord, SourceRecord } from './record.ts'
import { UNRESTRICTED } from './unrestricted-access.ts'

// Runs a task of a connector in memory, without worker and broker, for tests of the connector.

type Options = {
  readonly config: RawConfig
  readonly connector?: string
  readonly task?: number
  readonly log?: TaskLog
  /** Access of the task to files and the network. Default: unrestricted. */
  readonly access?: HostAccess
}

export type SourceRun = {
  /** Waits for at least so many records and returns all that were yielded since. Rejects when the source fails or ends before. */
  take(count: number): Promise<readonly SourceRecord[]>
  /** The next batch of the source, which may be empty. */
  nextBatch(): Promise<readonly SourceRecord[]>
  /** Reports to the source that these records are in the log. */
  stored(records: readonly SourceRecord[]): void
  /** Reports to the source that this offset is committed. */
  committed(partition: Position, offset: Position): void
  /** Writes a record to a topic that the source reads with `openTopic`. */
  produce(topic: string, key: string | null, value: string | null): void
  /** The values of the records of a topic, those that the source has written with `report` and those of `produce`. */
  reported(topic: string): readonly string[]
  stop(): Promise<void>
  readonly rejected: readonly { readonly record: SourceRecord; readonly error: Error }[]
  /** How far the source has reported to be behind. */
  readonly lags: readonly SourceLag[]
  /** The progress of snapshots that the source has reported. */
  readonly snapshots: readonly SourceSnapshot[]
  /** The offsets that the source set without records. */
  readonly advanced: readonly { readonly partition: Position; readonly offset: Position }[]
}

/** Starts a task of a source. A batch is requested only when the test requests records. */
export function runSource<Config extends z.ZodObject>(
  source: SourceConnector<Config>,
  options: Options & { readonly offsets?: readonly { readonly partition: Position; readonly offset: Position }[] },
): SourceRun {
  const stopping = new AbortController()
  const offsets = new Map(options.offsets?.map(({ partition, offset }) => [positionKey(partition), offset]))
  const committed = new Map(offsets)
  const commitListeners: (() => void)[] = []
  const listeners: StoredListener[] = []
  const rejected: { record: SourceRecord; error: Error }[] = []
  const lags: SourceLag[] = []
  const snapshots: SourceSnapshot[] = []
  const advanced: { partition: Position; offset: Position }[] = []
  const topics = new HarnessTopics()
  const batches = source
    .poll({
      ...context(source.config, options, stopping.signal),
      resumeFrom: (at) => offsets.get(positionKey(at)),
      committedOffset: (at) => committed.get(positionKey(at)),
      onStored: (listener) => void listeners.push(listener),
      onCommitted: (listener) => void commitListeners.push(listener),
      advance: (partition, offset) => void advanced.push({ partition, offset }),
      openTopic: async (topic) => topics.open(topic),
      reportLag: (lag) => void lags.push(lag),
      reportSnapshot: (progress) => void snapshots.push(progress),
      report: async ({ name }, records) => {
        for (const { key, value } of records) topics.add(name, key, value)
      },
      isExactlyOnce: false,
      reject: (record, error) => void rejected.push({ record, error }),
    })
    [Symbol.asyncIterator]()
  let held: SourceRecord[] = []
  const nextBatch = async () => {
    const { done, value } = await batches.next()
    if (done) throw new Error(`the source ended; ${held.length} of its records were not taken`)
    return value
  }
  return {
    rejected,
    advanced,
    lags,
    snapshots,
    nextBatch,
    produce: (topic, key, value) => topics.produce(topic, key, value),
    reported: (topic) => topics.values(topic),
    stored(records) {
      for (const listener of listeners) listener(records, () => records.map(() => null))
    },
    committed(partition, offset) {
      committed.set(positionKey(partition), offset)
      for (const listener of commitListeners) listener()
    },
    async take(count) {
      while (held.length < count) held.push(...(await nextBatch()))
      const taken = held.slice(0, count)
      held = held.slice(count)
      return taken
    },
    async stop() {
      stopping.abort()
      await batches.return?.()
    },
  }
}

/** Topics of one partition in memory. */
class HarnessTopics {
  readonly #records = new Map<string, TopicRecord[]>()

  produce(topic: string, key: string | null, value: string | null): void {
    const toBytes = (text: string | null) => (text === null ? null : Buffer.from(text))
    this.add(topic, toBytes(key), toBytes(value))
  }

  add(topic: string, key: Uint8Array | null, value: Uint8Array | null): void {
    const records = this.#toSourceRecords(topic)
    records.push({ offset: records.length, key, value })
  }

  values(topic: string): readonly string[] {
    return this.#toSourceRecords(topic).map(({ value }) => Buffer.from(value ?? []).toString())
  }

  open({ topic, offset }: TopicReaderOptions): TopicReader {
    const records = this.#toSourceRecords(topic)
    let nextOffset = offset ?? records.length
    return {
      get nextOffset() {
        return nextOffset
      },
      async poll() {
        const polled = records.slice(nextOffset)
        nextOffset = records.length
        return polled
      },
      async close() {},
    }
  }

  #toSourceRecords(topic: string): TopicRecord[] {
    const records = this.#records.get(topic) ?? []
    this.#records.set(topic, records)
    return records
  }
}

export type SinkRun = {
  /** Puts records with offsets from 0 in each partition. Default: partition 0. */
  put(records: readonly HarnessRecord[]): Promise<void>
  /** The offsets that the sink returns for a commit. */
  flush(): Promise<readonly SinkPosition[]>
  /** Revokes partitions, as a rebalance does. */
  close(partitions: readonly SinkPartition[]): Promise<void>
  stop(): Promise<void>
  readonly rejected: readonly { readonly record: SinkRecord; readonly error: Error }[]
  /** What the sink committed itself, in order. */
  readonly committed: readonly CommittedPosition[]
  readonly reported: readonly (ReportRecord & { readonly topic: string })[]
}

export type HarnessRecord = Partial<Omit<SinkRecord, 'topic'>> & { readonly topic: string }

export async function runSink<Config extends z.ZodObject>(
  sink: SinkConnector<Config>,
  options: Options,
): Promise<SinkRun> {
  const stopping = new AbortController()
  const rejected: { record: SinkRecord; error: Error }[] = []
  const reported: (ReportRecord & { readonly topic: string })[] = []
  const positions = new Map<string, SinkPosition>()
  const committed: CommittedPosition[] = []
  const task = await sink.start({
    ...context(sink.config, options, stopping.signal),
    reject: async (record, error) => void rejected.push({ record, error }),
    report: async ({ name }, records) => void reported.push(...records.map((record) => ({ ...record, topic: name }))),
    seek: (changed) => {
      for (const { topic, partition, offset } of changed) {
        positions.set(positionKey({ topic, partition }), { topic, partition, offset })
      }
    },
    setPausedPartitions: () => {},
    requestCommit: () => {},
    committedOffsets: async (partitions) =>
      partitions.flatMap(({ topic, partition }) => {
        const last = committed.findLast((at) => at.topic === topic && at.partition === partition)
        return last === undefined ? [] : [last]
      }),
    commitOffsets: async (offsets) => void committed.push(...offsets),
    groupMember: () => ({ groupId: `connect-${options.connector ?? 'test'}`, memberId: 'test', generation: 1 }),
  })
  const number = (record: HarnessRecord): SinkRecord => {
    const at = { topic: record.topic, partition: record.partition ?? 0 }
    const offset = record.offset ?? positions.get(positionKey(at))?.offset ?? 0
    return { ...EMPTY_RECORD, ...record, ...at, offset, origin: record.origin ?? { ...at, offset } }
  }
  const open = async ({ topic, partition, offset }: SinkRecord) => {
    const at = { topic, partition }
    if (!positions.has(positionKey(at))) await task.open?.([at])
    positions.set(positionKey(at), { ...at, offset: offset + 1 })
  }
  return {
    rejected,
    reported,
    committed,
    async put(records) {
      const numbered: SinkRecord[] = []
      for (const record of records) {
        const next = number(record)
        await open(next)
        numbered.push(next)
      }
      await task.put(numbered)
    },
    async flush() {
      const offsets = [...positions.values()]
      return (await task.flush?.(offsets)) ?? offsets
    },
    async close(partitions) {
      for (const { topic, partition } of partitions) positions.delete(positionKey({ topic, partition }))
      await task.close?.(partitions)
    },
    async stop() {
      stopping.abort()
      await task.close?.([...positions.values()])
      await task.stop?.()
    },
  }
}

const EMPTY_RECORD = { key: null, keySchema: null, value: null, valueSchema: null, headers: [], timestampMs: null }

const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function context<Config extends z.ZodObject>(spec: Config, options: Options, signal: AbortSignal) {
  const { config: raw, connector = 'test', task = 0, log = SILENT, access = UNRESTRICTED } = options
  return { ...access, connector, task, config: parseConfig(spec, raw), raw, signal, log }
}

function positionKey(position: Position): string {
  return JSON.stringify(Object.entries(position).sort(([a], [b]) => (a < b ? -1 : 1)))
}
