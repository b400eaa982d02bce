import type { Broker, Producer } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic/state-topic.ts'
import type { StateProgress } from '../../broker/state-topic/state-topic-checks.ts'
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

export type KeysTopic = {
  /** Resolves when the state contains everything that earlier leaders wrote. `producer` has fenced them. */
  appendMarker(producer: Producer): Promise<void>
  /** Writes the records in order, in one batch, and resolves when the state contains them. */
  append(records: readonly KeyRecord[], producer: Producer): Promise<void>
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
  let topic: StateTopic
  try {
    topic = await openTopic(state, codec, options)
  } catch (error) {
    if (!(error instanceof BrokerError && error.code === 'not_authorized')) throw error
    logger.error(
      { err: error, topic: settings['dek.registry.topic'] },
      'the DEK registry is unavailable: permit access to its topic, or set weir.dek.registry.enable=false',
    )
    return unavailable(error)
  }
  const fencingId = fencingIdOf(settings)
  const write = async (
    records: readonly { readonly key: Buffer; readonly value: Buffer | null }[],
    producer: Producer,
  ) =>
    topic.applied(
      await topic.append(
        records.map((record) => ({ ...record, partition: 0 })),
        producer,
      ),
    )
  return {
    appendMarker: async (producer) => {
      await write([markerRecord()], producer)
      await rememberLeader(broker, fencingId)
    },
    append: (records, producer) =>
      write(
        records.map((record) => codec.encode(record)),
        producer,
      ),
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
      configs: topicConfigs,
    },
    skipValidation: settings['brokerstore.topic.skip.validation'],
    openTimeoutMs: settings['brokerstore.init.timeout.ms'],
    appendTimeoutMs: settings['brokerstore.timeout.ms'],
    progress: { read: () => broker.groups.offsets(groupId), save: saveProgress },
    evidenceOfRecords: () => evidenceOfLeader(broker, fencingIdOf(settings)),
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

/** The ID is only evidence that the topic had records. Writers are fenced by the transactional ID of the schema topic. */
function fencingIdOf(settings: RegistryValues): string {
  return `${settings['schema.registry.group.id']}-${settings['dek.registry.topic']}-leader`
}

function unavailable(failure: BrokerError): KeysTopic {
  return {
    appendMarker: async () => {},
    append: () => Promise.reject(failure),
    refresh: async () => {},
    failure,
    close: async () => {},
  }
}
