import type { Broker } from '../../broker/broker.ts'
import { openStateTopic, type StateTopic } from '../../broker/state-topic.ts'
import type { Logger } from '../../config/logger.ts'
import type { Pen } from '../leader.ts'
import type { RegistryValues } from '../settings.ts'
import type { RegistryRecord } from './record.ts'
import { noopRecord, type RawRecord, RecordCodec } from './record-codec.ts'
import type { Applied, RegistryState } from './state.ts'

export type LogOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly settings: RegistryValues
  /** Settings of the topic, for when it is made. */
  readonly topicConfigs: Readonly<Record<string, string>>
  /** Hears of every record that was taken or stepped over. */
  readonly observe?: (applied: Applied | 'unreadable', record?: RegistryRecord) => void
}

export type RegistryLog = {
  /** Takes the right to write from whoever had it, and resolves when the state has all that they wrote. */
  openPen(): Promise<Pen>
  /** Resolves when the state has everything that stands in the topic now. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/**
 * The registry's topic. Opening it fills `state`; from then on the state follows it. Rejects with a `BrokerError` when
 * the topic is not what a registry needs (one partition, compacted), or can't be read in time.
 */
export async function openRegistryLog(
  state: RegistryState,
  { broker, logger, settings, topicConfigs, observe = () => {} }: LogOptions,
): Promise<RegistryLog> {
  const codec = new RecordCodec()
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
    apply: ({ key, value, timestampMs, offset }) => {
      const record = codec.decode(key, value)
      const applied = state.apply(record, timestampMs)
      if (applied === 'id-conflict') logger.error({ offset }, 'a record gives an id a second meaning: it is ignored')
      observe(applied, record)
    },
    unreadable: () => observe('unreadable'),
  })
  return {
    openPen: () => openPen(topic, codec, broker, settings),
    refresh: () => topic.readToEnd(),
    close: () => topic.close(),
  }
}

/** Its first record is a marker: from there on no older pen can write, and reading up to it shows all that they wrote. */
async function openPen(topic: StateTopic, codec: RecordCodec, broker: Broker, settings: RegistryValues): Promise<Pen> {
  const fencingId = `${settings['schema.registry.group.id']}-${settings['brokerstore.topic']}-leader`
  const producer = await broker.producer({ fencingId, deliveryTimeoutMs: settings['brokerstore.timeout.ms'] })
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
  return { append: (records) => write(records.map((record) => codec.encode(record))), close: () => producer.close() }
}
