import type { Broker, Producer } from '../../broker/broker.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic.ts'
import type { StateProgress } from '../../broker/state-topic-checks.ts'
import type { Logger } from '../../config/logger.ts'
import type { KeyLog } from '../dek/key-log.ts'
import type { LeaderWriter } from '../leadership/leader-election.ts'
import type { RegistryValues } from '../settings.ts'
import { evidenceOfLeader, rememberLeader } from './leader-evidence.ts'
import type { RegistryRecord } from './record.ts'
import { noopRecord, type RawRecord, RecordCodec } from './record-codec.ts'
import type { ApplyResult, RegistryState } from './state.ts'

export type LogOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly settings: RegistryValues
  /** Settings of the topic, for when it is made. */
  readonly topicConfigs: Readonly<Record<string, string>>
  /** Hears of every record that was taken or stepped over. */
  readonly observe?: (applied: ApplyResult | 'unreadable', record?: RegistryRecord) => void
  /** Called once when the topic cannot be followed any further: the registry has to stop. */
  readonly onFailed?: (error: Error) => void
  /** Keeps with the group of instances how far the topic was read. */
  readonly saveProgress?: StateProgress['save']
}

export type RegistryLog = {
  /**
   * Takes the right to write from whoever had it, and resolves when the state has all that they wrote. The writer writes
   * to the keys of the DEK registry too, where it is on.
   */
  openWriter(keyLog?: KeyLog): Promise<LeaderWriter>
  /** Resolves when the state has everything that stands in the topic now. */
  refresh(): Promise<void>
  /** Why the state no longer follows the topic. */
  readonly failure: Error | undefined
  close(): Promise<void>
}

/**
 * The registry's topic. Opening it fills `state`; from then on the state follows it. Rejects with a `BrokerError` when
 * the topic is not what a registry needs (one partition, compacted), or can't be read in time.
 */
export async function openRegistryLog(
  state: RegistryState,
  { broker, logger, settings, topicConfigs, observe = () => {}, onFailed = () => {}, saveProgress }: LogOptions,
): Promise<RegistryLog> {
  const codec = new RecordCodec()
  const fencingId = `${settings['schema.registry.group.id']}-${settings['brokerstore.topic']}-leader`
  const deliveryTimeoutMs = settings['brokerstore.timeout.ms']
  let remembering: Promise<void> | undefined
  const topic = await openStateTopic({
    broker,
    logger,
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
      const applied = state.apply(record, timestampMs)
      if (applied === 'id-conflict') logger.error({ offset }, 'a record gives an id a second meaning: it is ignored')
      observe(applied, record)
    },
    onUnreadable: () => observe('unreadable'),
    onFailed: (error) => {
      // The broker forgets a producer in time. Whoever starts next must still see that there were records.
      if (topic.positions().some(({ offset }) => offset > 0)) remembering = rememberLeader(broker, fencingId)
      onFailed(error)
    },
  })
  return {
    openWriter: (keyLog) => openPen(topic, codec, () => broker.producer({ fencingId, deliveryTimeoutMs }), keyLog),
    refresh: () => topic.readToEnd(),
    get failure() {
      return topic.failure
    },
    close: async () => {
      await topic.close()
      await remembering
    },
  }
}

/** Its first record is a marker: from there on no older pen can write, and reading up to it shows all that they wrote. */
async function openPen(
  topic: StateTopic,
  codec: RecordCodec,
  open: () => Promise<Producer>,
  keyLog: KeyLog | undefined,
): Promise<LeaderWriter> {
  // That a producer of this name is known is evidence that the topic had records: so the first record comes before it.
  if (topic.positions()[0]?.offset === 0) await topic.append([{ ...noopRecord(), partition: 0 }])
  const producer = await open()
  const write = async (records: readonly RawRecord[]) =>
    topic.applied(
      await topic.append(
        records.map((record) => ({ ...record, partition: 0 })),
        producer,
      ),
    )
  try {
    await write([noopRecord()])
    await keyLog?.mark(producer)
  } catch (error) {
    await producer.close()
    throw error
  }
  return {
    append: (records) => write(records.map((record) => codec.encode(record))),
    appendKeys: async (records) => keyLog?.append(records, producer),
    close: () => producer.close(),
  }
}
