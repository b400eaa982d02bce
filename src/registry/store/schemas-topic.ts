import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker, Producer } from '../../broker/broker.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic/state-topic.ts'
import type { StateProgress } from '../../broker/state-topic/state-topic-checks.ts'
import { type Clock, systemClock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { RegistryValues } from '../settings.ts'
import { evidenceOfLeader, rememberLeader } from './leader-evidence.ts'
import { noopRecord, type RawRecord, RecordCodec, UnreadableVersionError } from './record-codec.ts'
import type { RegistryRecord } from './registry-record.ts'
import type { ApplyResult, RegistryState } from './registry-state.ts'

export type SchemasTopicOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly clock?: Clock
  readonly settings: RegistryValues
  /** Topic configs, used when the topic is created. */
  readonly topicConfigs: Readonly<Record<string, string>>
  /** Called for every record that was applied or skipped. */
  readonly onRecord?: (applied: ApplyResult | 'unreadable', record?: RegistryRecord) => void
  /** Called once when the topic can no longer be read. The registry then has to stop. */
  readonly onFailed?: (error: Error) => void
  /** Commits the offset up to which the topic was read to the consumer group of the registry instances. */
  readonly saveProgress?: StateProgress['save']
}

/** Exclusive write access to the registry's topic. */
export type SchemasTopicWriter = {
  /** The fencing producer. Records that it writes to other topics are covered by the same fencing. */
  readonly producer: Producer
  /**
   * Writes the records in order, in one batch, and resolves when the state contains them. Rejects with a `BrokerError`;
   * after that the writer must be replaced.
   */
  append(records: readonly Exclude<RegistryRecord, { kind: 'none' }>[]): Promise<void>
  close(): Promise<void>
}

export type SchemasTopic = {
  /** Fences the previous writer, and resolves when the state contains everything that it wrote. */
  openWriter(): Promise<SchemasTopicWriter>
  /** Resolves when the index of contents by GUID is complete. The first call starts to add the contents that were read until then. */
  indexContents(): Promise<void>
  /** Resolves when the state contains every record that is in the topic at the time of the call. */
  refresh(): Promise<void>
  /** Why the state no longer follows the topic; undefined while it does. */
  readonly failure: Error | undefined
  close(): Promise<void>
}

/** So that the event loop is blocked for less than a millisecond. */
const INDEXED_PER_TURN = 200

/**
 * Opens the registry's topic and reads it into `state`; from then on the state follows the topic. Rejects with a
 * `BrokerError` if the topic does not meet the requirements (one partition, compacted) or cannot be read within
 * `brokerstore.init.timeout.ms`.
 */
export async function openSchemasTopic(
  state: RegistryState,
  {
    broker,
    logger,
    clock = systemClock,
    settings,
    topicConfigs,
    onRecord = () => {},
    onFailed = () => {},
    saveProgress,
  }: SchemasTopicOptions,
): Promise<SchemasTopic> {
  const codec = new RecordCodec()
  const fencingId = `${settings['schema.registry.group.id']}-${settings['brokerstore.topic']}-leader`
  const deliveryTimeoutMs = settings['brokerstore.timeout.ms']
  let hasRecords = false
  let isIndexed = false
  let isClosed = false
  let remembering: Promise<void> | undefined
  const topic = await openStateTopic({
    broker,
    logger,
    clock,
    topic: {
      name: settings['brokerstore.topic'],
      partitions: 1,
      replicationFactorMax: settings['brokerstore.topic.replication.factor'],
      configs: topicConfigs,
    },
    skipValidation: settings['brokerstore.topic.skip.validation'],
    openTimeoutMs: settings['brokerstore.init.timeout.ms'],
    appendTimeoutMs: settings['brokerstore.timeout.ms'],
    ...(saveProgress && {
      progress: { read: () => broker.groups.offsets(settings['schema.registry.group.id']), save: saveProgress },
    }),
    evidenceOfRecords: () => evidenceOfLeader(broker, fencingId),
    decode: ({ key, value }) => codec.decode(key, value),
    apply: (record, { timestampMs, offset }) => {
      hasRecords = true
      const applied = state.apply(record, timestampMs)
      if (isIndexed) state.indexContents()
      if (applied === 'id-conflict') {
        logger.error({ offset }, 'a record assigns another schema to an existing ID: it is skipped')
      }
      onRecord(applied, record)
    },
    onUnreadable: ({ error }) => {
      hasRecords = true
      if (error instanceof UnreadableVersionError) state.applyUnreadable(error.version)
      onRecord('unreadable')
    },
    onFailed: (error) => {
      // The broker expires unused transactional IDs. The next instance that starts must still find the evidence.
      if (hasRecords) remembering = rememberLeader(broker, fencingId)
      onFailed(error)
    },
  })
  let indexing: Promise<void> | undefined
  const indexAll = async () => {
    while (!isClosed && state.indexContents(INDEXED_PER_TURN)) await nextTurn()
    isIndexed = true
  }
  return {
    indexContents: () => {
      indexing ??= indexAll()
      return indexing
    },
    openWriter: () => openWriter(topic, codec, () => broker.producer({ fencingId, deliveryTimeoutMs, maxBlockMs: 0 })),
    refresh: () => topic.readToEnd(),
    get failure() {
      return topic.failure
    },
    close: async () => {
      isClosed = true
      await topic.close()
      await remembering
    },
  }
}

/**
 * Opens a writer. Its first record is a marker: opening the producer fences older writers, so reading up to the marker
 * applies everything that they wrote.
 */
async function openWriter(
  topic: StateTopic,
  codec: RecordCodec,
  openProducer: () => Promise<Producer>,
): Promise<SchemasTopicWriter> {
  // A known transactional ID is evidence that the topic had records. So the first record is written before the
  // producer is opened.
  if (topic.positions()[0]?.offset === 0) await topic.append([{ ...noopRecord(), partition: 0 }])
  const producer = await openProducer()
  const write = async (records: readonly RawRecord[]) =>
    topic.applied(
      await topic.append(
        records.map((record) => ({ ...record, partition: 0 })),
        producer,
      ),
    )
  try {
    await write([noopRecord()])
  } catch (error) {
    await producer.close()
    throw error
  }
  return {
    producer,
    append: (records) => write(records.map((record) => codec.encode(record))),
    close: () => producer.close(),
  }
}
