import type { Broker, Producer } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/error.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic.ts'
import type { StateProgress } from '../../broker/state-topic-checks.ts'
import type { Logger } from '../../config/logger.ts'
import type { RegistryValues } from '../settings.ts'
import { evidenceOfLeader, rememberLeader } from '../store/leader-evidence.ts'
import type { KeyRecord } from './key.ts'
import { KeyRecordCodec, markerRecord } from './key-record-codec.ts'
import type { KeyState } from './key-state.ts'

export type KeyLogOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly settings: RegistryValues
  /** Settings of the topic when it is created. */
  readonly topicConfigs: Readonly<Record<string, string>>
  /** Called for each record that was skipped because it could not be read. */
  readonly onUnreadable: () => void
  /** Called once when the topic cannot be followed any further: the registry has to stop. */
  readonly onFailed: (error: Error) => void
  /** Stores with the group of instances how far the topic was read. */
  readonly saveProgress: StateProgress['save']
}

export type KeyLog = {
  /** Ensures that the state has everything that earlier leaders wrote. `producer` fences them off. */
  appendMarker(producer: Producer): Promise<void>
  /** Resolves when the state has the records. */
  append(records: readonly KeyRecord[], producer: Producer): Promise<void>
  /** Resolves when the state has everything that is in the topic now. */
  refresh(): Promise<void>
  /** Why the state does not follow the topic. */
  readonly failure: Error | undefined
  close(): Promise<void>
}

/**
 * Opens the topic of the DEK registry, fills `state` and follows the topic from then on. Where the broker does not permit
 * it, the log opens with a `failure`, so that a registry whose user may use no topic but that of its schemas still serves
 * them. Rejects with a `BrokerError` when the topic is not what a registry needs, or cannot be read in time.
 */
export async function openKeyLog(state: KeyState, options: KeyLogOptions): Promise<KeyLog> {
  const { broker, logger, settings } = options
  const codec = new KeyRecordCodec()
  let topic: StateTopic
  try {
    topic = await openTopic(state, codec, options)
  } catch (error) {
    if (!(error instanceof BrokerError && error.code === 'not_authorized')) throw error
    logger.error(
      { err: error, topic: settings['dek.registry.topic'] },
      'the DEK registry is unavailable: permit the topic, or set weir.dek.registry.enable=false',
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

function openTopic(state: KeyState, codec: KeyRecordCodec, options: KeyLogOptions): Promise<StateTopic> {
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
    decode: ({ key, value }) => codec.decode(key, value),
    apply: (record, { timestampMs, offset }) => {
      if (record !== undefined) state.apply(record, timestampMs, offset)
    },
    onUnreadable,
    onFailed,
  })
}

/** Writers are fenced by that of the schemas' topic; this one is only evidence that there have been keys. */
function fencingIdOf(settings: RegistryValues): string {
  return `${settings['schema.registry.group.id']}-${settings['dek.registry.topic']}-leader`
}

function unavailable(failure: BrokerError): KeyLog {
  return {
    appendMarker: async () => {},
    append: () => Promise.reject(failure),
    refresh: async () => {},
    failure,
    close: async () => {},
  }
}
