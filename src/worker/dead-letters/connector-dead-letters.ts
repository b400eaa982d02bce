import type { Broker, NewRecord, StoredRecord } from '../../broker/broker.ts'
import { messageOf } from '../../common/errors.ts'
import { type DeadLetterRecord, parseDeadLetter, toReplayRecord } from '../../dead-letters/dead-letter.ts'
import { MAX_BLOCK_MS, replayGroupOf } from '../../dead-letters/replay.ts'
import {
  addReplayMarks,
  type DeadLetterPosition,
  isMarked,
  type ReplayMarks,
  readReplayMarks,
} from '../../dead-letters/replay-marks.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { type ClientSettings, clientSettings } from '../configuration/client-settings.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import { connectionDifference } from '../configuration/connection-difference.ts'
import { findAnyConnector } from '../configuration/connector-plugin.ts'
import { parseTaskConfig } from '../configuration/task-config.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PayloadEdit, PluginHost } from '../plugin-host.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import { GuardedBroker } from '../topic-access/guarded-broker.ts'
import type { TopicAccess } from '../topic-access/topic-access.ts'
import { type PayloadView, PayloadViews } from './converted-payloads.ts'
import type { DeadLetterReader } from './dead-letter-reader.ts'
import type { ScannedPartition } from './dead-letter-scan.ts'
import { type DeadLetterDescription, describeDeadLetter } from './describe-dead-letter.ts'

export type ConnectorDeadLettersOptions = {
  readonly broker: Broker
  readonly reader: DeadLetterReader
  readonly plugins: PluginHost
  readonly resolver: ConfigResolver
  readonly connector: (name: string) => ConnectorState | undefined
  readonly converterDefaults: RawConfig
  /** The settings of the worker for Kafka clients of connectors. */
  readonly clientDefaults: RawConfig
  /** Decides which topics a connector may use. */
  readonly accessOf: (connector: string) => TopicAccess
}

export type DeadLetterQuery = {
  readonly partition?: number
  readonly before?: number
  readonly limit: number
  readonly exceptionClass?: string
}

/** How a record was replayed before: one by one in the console, by `weir dlq replay`, or, as far as is known, not at all. */
export type ReplayedBy = 'console' | 'command' | null

export type DeadLetterView = DeadLetterDescription & {
  readonly key: PayloadView
  readonly value: PayloadView
  /** Where a replay sends it; null if it cannot be replayed, for the reason in `problem`. */
  readonly target: string | null
  readonly problem: string | null
  readonly replayed: ReplayedBy
}

export type DeadLetterPage = {
  readonly topic: string
  readonly exists: boolean
  /** Newest first. */
  readonly records: readonly DeadLetterView[]
  readonly partitions: readonly ScannedPartition[]
  readonly partitionCount: number
  readonly ofOthers: number
  /** Why it is not known which records were replayed; null if it is known. */
  readonly marksProblem: string | null
}

export type ReplayRequest = {
  readonly records: readonly (DeadLetterPosition & {
    /** The corrected payload; absent to replay it unchanged. */
    readonly key?: PayloadEdit
    readonly value?: PayloadEdit
  })[]
  /** For records whose headers do not name their topic. */
  readonly topic?: string
  /** Checks everything and sends nothing. */
  readonly isDryRun: boolean
}

/** Where each record was sent, and how it had been replayed before. */
export type ReplayResponse = {
  readonly records: readonly (DeadLetterPosition & { readonly topic: string; readonly replayed: ReplayedBy })[]
  readonly marksProblem: string | null
}

/** What is needed to read and replay the dead letters of one connector. */
type Source = {
  readonly name: string
  readonly config: RawConfig
  readonly topic: string
  readonly access: TopicAccess
  readonly clients: ClientSettings
  readonly readsTopic: (topic: string) => boolean
  /** The topic of a record that does not name it. */
  readonly onlyTopic: string | undefined
  readonly payloads: PayloadViews
}

type Marks = { readonly of: (deadLetter: DeadLetterRecord) => ReplayedBy; readonly problem: string | null }

/** Shows and replays the dead letters of sink connectors. Every method may throw a `WorkerError`. */
export class ConnectorDeadLetters {
  readonly #options: ConnectorDeadLettersOptions

  constructor(options: ConnectorDeadLettersOptions) {
    this.#options = options
  }

  async page(name: string, query: DeadLetterQuery): Promise<DeadLetterPage> {
    const source = await this.#source(name)
    const { topic } = source
    const scanned = await this.#options.reader.scan({ ...query, topic, connector: name })
    const nothing = { partitions: [], partitionCount: 0, ofOthers: 0, marksProblem: null }
    if (scanned === undefined) return { topic, exists: false, records: [], ...nothing }
    const { records, partitions, partitionCount, ofOthers } = scanned
    const deadLetters = records.map(({ partition, record }) => parseDeadLetter(partition, restored(record)))
    const [marks, keys, values] = await Promise.all([
      this.#marks(source),
      source.payloads.view('key', deadLetters, records),
      source.payloads.view('value', deadLetters, records),
    ])
    const views = deadLetters.map((deadLetter, at) =>
      toView(deadLetter, source, marks, keys[at] as PayloadView, values[at] as PayloadView),
    )
    return { topic, exists: true, records: views, partitions, partitionCount, ofOthers, marksProblem: marks.problem }
  }

  /** One record as a whole, to be edited. */
  async record(name: string, position: DeadLetterPosition): Promise<DeadLetterView> {
    const source = await this.#source(name)
    const deadLetters = await this.#read(source, [position])
    const [marks, [key], [value]] = await Promise.all([
      this.#marks(source),
      source.payloads.view('key', deadLetters),
      source.payloads.view('value', deadLetters),
    ])
    return toView(deadLetters[0] as DeadLetterRecord, source, marks, key as PayloadView, value as PayloadView)
  }

  /** Sends all of the records, or none when one of them cannot be sent. */
  async replay(name: string, request: ReplayRequest): Promise<ReplayResponse> {
    const source = await this.#source(name)
    const deadLetters = await this.#read(source, request.records)
    const [marks, records] = await Promise.all([
      this.#marks(source),
      Promise.all(deadLetters.map((deadLetter, at) => this.#toRecord(source, deadLetter, at, request))),
    ])
    const replayed = deadLetters.map((deadLetter, at) => ({
      partition: deadLetter.partition,
      offset: deadLetter.record.offset,
      topic: (records[at] as NewRecord).topic,
      replayed: marks.of(deadLetter),
    }))
    if (request.isDryRun) return { records: replayed, marksProblem: marks.problem }
    const producer = await new GuardedBroker(this.#options.broker, source.access).producer({
      ...source.clients.producer(),
      maxBlockMs: MAX_BLOCK_MS,
    })
    try {
      await producer.send(records)
    } finally {
      await producer.close()
    }
    // The records are sent: a failure here must not look as if they were not.
    const marksProblem = await addReplayMarks(this.#options.broker, source.topic, request.records).then(
      () => null,
      (error: unknown) => messageOf(error),
    )
    return { records: replayed, marksProblem }
  }

  async #toRecord(
    source: Source,
    deadLetter: DeadLetterRecord,
    at: number,
    request: ReplayRequest,
  ): Promise<NewRecord> {
    const { partition, record } = deadLetter
    const place = `${partition}/${record.offset}`
    const found = targetOf(deadLetter, source, request.topic)
    if (typeof found === 'string') throw new WorkerError('dead_letter_refused', `${place}: ${found}`)
    const { key, value } = request.records[at] ?? {}
    const encoded = async (role: 'key' | 'value', edited: PayloadEdit | undefined) => {
      try {
        return edited === undefined ? record[role] : await source.payloads.encode(role, deadLetter, found.topic, edited)
      } catch (error) {
        throw new WorkerError('dead_letter_refused', `${place}, ${role}: ${messageOf(error)}`, { cause: error })
      }
    }
    return { ...found, key: await encoded('key', key), value: await encoded('value', value) }
  }

  async #read(source: Source, positions: readonly DeadLetterPosition[]): Promise<readonly DeadLetterRecord[]> {
    const records = await this.#options.reader.read(source.topic, positions)
    return records.map((record, at) => {
      const { partition, offset } = positions[at] as DeadLetterPosition
      const deadLetter = record && parseDeadLetter(partition, restored(record))
      if (deadLetter && (deadLetter.errors.get('connector.name') ?? source.name) === source.name) return deadLetter
      throw new WorkerError(
        'dead_letter_not_found',
        `the dead-letter topic '${source.topic}' has no record ${partition}/${offset} of connector ${source.name}: ` +
          'it was deleted after its retention time, or never existed',
      )
    })
  }

  async #source(name: string): Promise<Source> {
    const { connector: find, plugins, resolver, clientDefaults, converterDefaults } = this.#options
    const connector = find(name)
    if (connector === undefined) throw new WorkerError('connector_not_found', `Connector ${name} not found`)
    const unavailable = (reason: string) => new WorkerError('no_dead_letters', `Connector ${name} ${reason}`)
    if (findAnyConnector(plugins.catalog, connector.config)?.kind !== 'sink')
      throw unavailable('is not a sink whose plugin is installed, so its dead letters are not shown')
    const config = await resolved(resolver, connector, unavailable)
    const { deadLetters, topics } = parsed(config, unavailable)
    if (deadLetters === undefined) throw unavailable('has no errors.deadletterqueue.topic.name')
    const { topic } = deadLetters
    const access = this.#options.accessOf(name)
    const problem = access.problem('read', topic)
    if (problem !== undefined) throw unavailable(`has dead letters that are not shown: ${problem}`)
    const clients = clientSettings(clientDefaults, config)
    await this.#requireSameCluster(clients, unavailable)
    return {
      name,
      config,
      topic,
      access,
      clients,
      readsTopic: typeof topics === 'function' ? topics : (one) => topics.includes(one),
      onlyTopic: typeof topics !== 'function' && topics.length === 1 ? topics[0] : undefined,
      payloads: new PayloadViews({ plugins, config, defaults: converterDefaults, mask: (text) => resolver.mask(text) }),
    }
  }

  async #requireSameCluster(clients: ClientSettings, unavailable: (reason: string) => WorkerError): Promise<void> {
    for (const kind of ['producer', 'consumer'] as const) {
      const difference = await connectionDifference(this.#options.broker, clients, kind)
      if (difference !== undefined)
        throw unavailable(`has ${difference}, so its dead letters cannot be read here: use weir dlq`)
    }
  }

  async #marks({ name, topic }: Source): Promise<Marks> {
    try {
      const { broker } = this.#options
      const [single, ...committed] = await Promise.all([
        readReplayMarks(broker, topic),
        broker.groups.offsets(replayGroupOf(topic)),
        broker.groups.offsets(replayGroupOf(topic, name)),
      ])
      const positions = committed.flat().filter((one) => one.topic === topic)
      return { of: (deadLetter) => replayedBy(deadLetter, single, positions), problem: null }
    } catch (error) {
      return { of: () => null, problem: messageOf(error) }
    }
  }
}

function replayedBy(
  { partition, record }: DeadLetterRecord,
  single: ReplayMarks,
  committed: readonly DeadLetterPosition[],
): ReplayedBy {
  if (isMarked(single, { partition, offset: record.offset })) return 'console'
  return committed.some((one) => one.partition === partition && record.offset < one.offset) ? 'command' : null
}

async function resolved(
  resolver: ConfigResolver,
  { config }: ConnectorState,
  unavailable: (reason: string) => WorkerError,
): Promise<RawConfig> {
  try {
    return (await resolver.resolve(config)).config
  } catch (error) {
    throw unavailable(`has placeholders that cannot be resolved: ${messageOf(error)}`)
  }
}

function parsed(config: RawConfig, unavailable: (reason: string) => WorkerError) {
  try {
    return parseTaskConfig(config)
  } catch (error) {
    throw unavailable(`has an invalid configuration: ${messageOf(error)}`)
  }
}

/**
 * The record to send, or why it cannot be sent. Headers can be written by anybody who can write to the dead-letter topic, so
 * only topics that the connector reads are accepted: otherwise such a header would write to any topic of the worker's account.
 */
function targetOf(deadLetter: DeadLetterRecord, source: Source, topicOfRequest?: string): NewRecord | string {
  const topic = deadLetter.errors.get('topic') ?? topicOfRequest ?? source.onlyTopic
  if (topic === undefined) {
    return 'no header names its topic, because errors.deadletterqueue.context.headers.enable was not set: choose a topic'
  }
  if (!source.readsTopic(topic)) return `its topic is '${topic}', which the connector does not read`
  return source.access.problem('write', topic) ?? toReplayRecord(deadLetter, topic)
}

function toView(
  deadLetter: DeadLetterRecord,
  source: Source,
  marks: Marks,
  key: PayloadView,
  value: PayloadView,
): DeadLetterView {
  const target = targetOf(deadLetter, source)
  return {
    ...describeDeadLetter(deadLetter),
    key,
    value,
    target: typeof target === 'string' ? null : target.topic,
    problem: typeof target === 'string' ? target : null,
    replayed: marks.of(deadLetter),
  }
}

/** Buffers arrive from a thread as arrays. */
function restored(record: StoredRecord): StoredRecord {
  const { key, value } = record
  return { ...record, key: key && Buffer.from(key), value: value && Buffer.from(value) }
}
