import type { Broker, ProducerIdentity } from '../../broker/broker.ts'
import { isDenied } from '../../broker/broker-error.ts'
import { openStateTopic, type StateTopic, type StateWrite } from '../../broker/state-topic/state-topic.ts'
import type { StateProgress } from '../../broker/state-topic/state-topic-checks.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { RegistryValues } from '../settings.ts'
import { evidenceOfLeader, rememberLeader } from '../store/leader-evidence.ts'
import type { KeyRecord } from './key.ts'
import { KeyRecordCodec, markerRecord, UnreadableKeyError } from './key-record-codec.ts'
import type { KeyState } from './key-state.ts'

export type KeysTopicOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly settings: RegistryValues
  /** Topic configs, used when the topic is created. */
  readonly topicConfigs: Readonly<Record<string, string>>
  /** Called for each record that could not be decoded and was skipped. */
  readonly onUnreadable: () => void
  /** Called once when the topic can no longer be read. The registry then has to stop. */
  readonly onFailed: (error: Error) => void
  /** Commits the offset up to which the topic was read to the consumer group of the registry instances. */
  readonly saveProgress: StateProgress['save']
}

export type KeysTopicWriter = {
  /** Writes the records in order, in one batch, and resolves when the state contains them. */
  append(records: readonly KeyRecord[]): Promise<void>
  close(): Promise<void>
}

export type KeysTopic = {
  /**
   * Fences earlier leaders by the identity of this one, and resolves when the state contains everything that they wrote. If
   * the broker denies writing, each write of the writer is rejected.
   */
  openWriter(identity: ProducerIdentity): Promise<KeysTopicWriter>
  /** Resolves when the state contains every record that is in the topic at the time of the call. */
  refresh(): Promise<void>
  /** Why the state no longer follows the topic; undefined while it does. */
  readonly failure: Error | undefined
  close(): Promise<void>
}

/**
 * Opens the topic of the DEK registry and reads it into `state`; from then on the state follows the topic. If the broker
 * denies access to the topic, the log opens with a `failure`, so that a registry with permissions for the schema topic
 * only can still serve schemas. Rejects with a `BrokerError` if the topic does not meet the requirements (one partition,
 * compacted) or cannot be read within `brokerstore.init.timeout.ms`.
 */
export async function openKeysTopic(state: KeyState, options: KeysTopicOptions): Promise<KeysTopic> {
  const { broker, logger, settings } = options
  const codec = new KeyRecordCodec()
  const name = settings['dek.registry.topic']
  const problems = new ErrorDeduplicator()
  const reportDenied = (error: Error) => {
    if (problems.isRepeated(error)) return
    logger.error(
      { err: error, topic: name },
      'the DEK registry is unavailable: permit access to its topic, or set weir.dek.registry.enable=false',
    )
  }
  let topic: StateTopic
  try {
    topic = await openTopic(state, codec, options)
  } catch (error) {
    if (!isDenied(error)) throw error
    reportDenied(error)
    return unavailable(error)
  }
  return {
    openWriter: async (identity) => {
      const producer = await broker.producer({
        identity,
        deliveryTimeoutMs: settings['brokerstore.timeout.ms'],
        maxBlockMs: settings['brokerstore.timeout.ms'],
        missingTopicMs: 0,
      })
      const write = async (records: readonly StateWrite[]) => {
        const inPartition = records.map((record) => ({ ...record, partition: 0 }))
        await topic.appendBy(producer, inPartition)
      }
      try {
        await write([markerRecord()])
        problems.clear()
      } catch (error) {
        await producer.close()
        if (!isDenied(error)) throw error
        reportDenied(error)
        return rejectingWriter(error)
      }
      await rememberLeader(broker, transactionalIdOf(settings))
      return {
        append: (records) => write(records.map((record) => codec.encode(record))),
        close: () => producer.close(),
      }
    },
    refresh: () => topic.readToEnd(),
    get failure() {
      return topic.failure
    },
    close: () => topic.close(),
  }
}

function openTopic(state: KeyState, codec: KeyRecordCodec, options: KeysTopicOptions): Promise<StateTopic> {
  const { broker, logger, settings, topicConfigs, onUnreadable, onFailed, saveProgress } = options
  const groupId = settings['schema.registry.group.id']
  return openStateTopic({
    broker,
    logger,
    topic: {
      name: settings['dek.registry.topic'],
      partitions: 1,
      replicationFactorMax: settings['brokerstore.topic.replication.factor'],
      replicationSetting: 'brokerstore.topic.replication.factor',
      configs: topicConfigs,
    },
    skipValidation: settings['brokerstore.topic.skip.validation'],
    openTimeoutMs: settings['brokerstore.init.timeout.ms'],
    appendTimeoutMs: settings['brokerstore.timeout.ms'],
    progress: { read: () => broker.groups.offsets(groupId), save: saveProgress },
    evidenceOfRecords: () => evidenceOfLeader(broker, transactionalIdOf(settings)),
    decode: ({ key, value }) => {
      try {
        return codec.decode(key, value)
      } catch (error) {
        if (error instanceof UnreadableKeyError) state.applyUnreadable(error.id)
        throw error
      }
    },
    apply: (record, { timestampMs, offset }) => {
      if (record !== undefined) state.apply(record, timestampMs, offset)
    },
    onUnreadable,
    onFailed,
  })
}

/** The ID is only evidence that the topic had records. */
function transactionalIdOf(settings: RegistryValues): string {
  return `${settings['schema.registry.group.id']}-${settings['dek.registry.topic']}-leader`
}

function unavailable(failure: Error): KeysTopic {
  return {
    openWriter: async () => rejectingWriter(failure),
    refresh: async () => {},
    failure,
    close: async () => {},
  }
}

function rejectingWriter(failure: Error): KeysTopicWriter {
  return { append: () => Promise.reject(failure), close: async () => {} }
}
