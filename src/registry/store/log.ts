import type { Broker } from '../../broker/broker.ts'
import { openStateTopic } from '../../broker/state-topic.ts'
import type { Logger } from '../../config/logger.ts'
import type { RegistryLog } from '../registry.ts'
import type { RegistryValues } from '../settings.ts'
import { RecordCodec } from './record-codec.ts'
import type { Applied, RegistryState } from './state.ts'

export type LogOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly settings: RegistryValues
  /** Settings of the topic, for when it is made. */
  readonly topicConfigs: Readonly<Record<string, string>>
  /** Hears of every record that was taken or stepped over. */
  readonly observe?: (applied: Applied | 'unreadable') => void
}

/**
 * The registry's topic. Opening it fills `state`; from then on the state follows it. Rejects with a `BrokerError` when
 * the topic is not what a registry needs (one partition, compacted), or can't be read in time.
 */
export async function openRegistryLog(
  state: RegistryState,
  { broker, logger, settings, topicConfigs, observe = () => {} }: LogOptions,
): Promise<RegistryLog & { close(): Promise<void> }> {
  const codec = new RecordCodec()
  const topic = await openStateTopic({
    broker,
    logger,
    topic: {
      name: settings['brokerstore.topic'],
      partitions: 1,
      replicationFactor: settings['brokerstore.topic.replication.factor'],
      configs: topicConfigs,
    },
    skipValidation: settings['brokerstore.topic.skip.validation'],
    openTimeoutMs: settings['brokerstore.init.timeout.ms'],
    appendTimeoutMs: settings['brokerstore.timeout.ms'],
    apply: ({ key, value, timestampMs, offset }) => {
      const applied = state.apply(codec.decode(key, value), timestampMs)
      if (applied === 'id-conflict') logger.error({ offset }, 'a record gives an id a second meaning: it is ignored')
      observe(applied)
    },
    unreadable: () => observe('unreadable'),
  })
  return {
    append: async (records) => {
      await topic.append(records.map((record) => ({ ...codec.encode(record), partition: 0 })))
    },
    refresh: () => topic.readToEnd(),
    close: () => topic.close(),
  }
}
