import type { z } from 'zod'
import type { HostAccess } from './access.ts'
import { parseConfig, type RawConfig } from './config.ts'
import type { SinkConnector, SinkPartition, SinkPosition, SourceConnector, StoredListener, TaskLog } from './plugin.ts'
import type { Position, SinkRecord, SourceRecord } from './record.ts'
import { UNRESTRICTED } from './unrestricted.ts'

// Runs one task of a connector against memory, for the tests of the connector's author. No worker, no broker.

type Options = {
  readonly config: RawConfig
  readonly connector?: string
  readonly task?: number
  readonly log?: TaskLog
  /** What the task may use of the machine and the network. Default: everything. */
  readonly access?: HostAccess
}

export type SourceRun = {
  /** Waits until so many records came (all that came by then are given once). Rejects when the source fails or ends first. */
  take(count: number): Promise<readonly SourceRecord[]>
  /** The next batch as the source yields it, empty ones included. */
  nextBatch(): Promise<readonly SourceRecord[]>
  /** Tells the source that these records are in the log. */
  stored(records: readonly SourceRecord[]): void
  stop(): Promise<void>
  readonly rejected: readonly { readonly record: SourceRecord; readonly error: Error }[]
}

/** Starts a source's task; it is asked for a batch only when the test asks for records. */
export function runSource<Config extends z.ZodObject>(
  source: SourceConnector<Config>,
  options: Options & { readonly offsets?: readonly { readonly partition: Position; readonly offset: Position }[] },
): SourceRun {
  const stopping = new AbortController()
  const offsets = new Map(options.offsets?.map(({ partition, offset }) => [positionKey(partition), offset]))
  const listeners: StoredListener[] = []
  const rejected: { record: SourceRecord; error: Error }[] = []
  const batches = source
    .poll({
      ...context(source.config, options, stopping.signal),
      resumeFrom: (at) => offsets.get(positionKey(at)),
      onStored: (listener) => void listeners.push(listener),
      reject: (record, error) => void rejected.push({ record, error }),
    })
    [Symbol.asyncIterator]()
  let held: SourceRecord[] = []
  const nextBatch = async () => {
    const { done, value } = await batches.next()
    if (done) throw new Error(`the source ended after the ${held.length} records that were not taken yet`)
    return value
  }
  return {
    rejected,
    nextBatch,
    stored(records) {
      for (const listener of listeners) listener(records)
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

export type SinkRun = {
  /** Numbers the records' offsets from 0 in each partition; partition 0 when none is said. */
  put(records: readonly HarnessRecord[]): Promise<void>
  /** What the sink says may be committed. */
  flush(): Promise<readonly SinkPosition[]>
  /** Takes partitions away, as when another task is given them. */
  close(partitions: readonly SinkPartition[]): Promise<void>
  stop(): Promise<void>
  readonly rejected: readonly { readonly record: SinkRecord; readonly error: Error }[]
}

export type HarnessRecord = Partial<Omit<SinkRecord, 'topic'>> & { readonly topic: string }

export async function runSink<Config extends z.ZodObject>(
  sink: SinkConnector<Config>,
  options: Options,
): Promise<SinkRun> {
  const stopping = new AbortController()
  const rejected: { record: SinkRecord; error: Error }[] = []
  const positions = new Map<string, SinkPosition>()
  const task = await sink.start({
    ...context(sink.config, options, stopping.signal),
    reject: async (record, error) => void rejected.push({ record, error }),
    requestCommit: () => {},
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
