import type { Broker } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/error.ts'
import type { StateProgress } from '../../broker/state-topic-checks.ts'
import type { Logger } from '../../config/logger.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import type { WorkerSettings } from '../settings.ts'
import type { ConfigRecord } from './config-codec.ts'
import { ConfigStore } from './config-store.ts'
import { OffsetStore } from './offset-store.ts'
import { StatusStore } from './status-store.ts'
import type { StoreTopic } from './store-topic.ts'

/** The three topics that a worker group keeps everything in. */
export type Stores = {
  readonly configs: ConfigStore
  readonly statuses: StatusStore
  readonly offsets: OffsetStore
  /** Why one of the topics cannot be followed any further. */
  failure(): Error | undefined
  close(): Promise<void>
}

export type StoresOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly settings: WorkerSettings
  /** Every record of the config topic that is read after it was opened. */
  readonly onConfig: (record: ConfigRecord) => void
  /** Each connector of which a status is read, its own or that of a task. */
  readonly onStatus: (connector: string) => void
  /** Called when a topic cannot be followed any further: the worker has to stop. */
  readonly onFailed: (error: Error) => void
  /** Keeps with the group how far its topics were read. */
  readonly saveProgress: StateProgress['save']
}

/** Makes the topics that are missing and reads each to its end. */
export async function openStores(options: StoresOptions): Promise<Stores> {
  const { broker, logger, settings, onConfig, onStatus, onFailed, saveProgress } = options
  const topic = (kind: Kind) => storeTopic(kind, settings)
  const progress = { read: () => broker.groups.offsets(settings.values['group.id']), save: saveProgress }
  const skipValidation = settings.values['storage.topics.skip.validation']
  const common = { broker, logger, skipValidation, progress, onFailed }
  const evidenceOfRecords = () => evidenceIn(broker, topic('status').name)
  const opened = await Promise.allSettled([
    ConfigStore.open({ ...common, topic: topic('config'), evidenceOfRecords, onRecord: onConfig }),
    StatusStore.open({ ...common, topic: topic('status'), onStatus }),
    OffsetStore.open({ ...common, topic: topic('offset') }),
  ])
  const [configs, statuses, offsets] = opened
  if (configs.status === 'fulfilled' && statuses.status === 'fulfilled' && offsets.status === 'fulfilled') {
    const stores = { configs: configs.value, statuses: statuses.value, offsets: offsets.value }
    return {
      ...stores,
      failure: () => stores.configs.failure ?? stores.statuses.failure ?? stores.offsets.failure,
      close: () => closeAll(Object.values(stores)),
    }
  }
  await closeAll(opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
  throw opened.find((one) => one.status === 'rejected')?.reason
}

/** Statuses are written of what is configured, so a group that has some has had configurations. */
async function evidenceIn(broker: Broker, statusTopic: string): Promise<string | undefined> {
  const ends = await broker.topics.offsets(statusTopic, 'latest', 'read_uncommitted').catch((error: unknown) => {
    if (error instanceof BrokerError && error.code === 'topic_not_found') return []
    throw error
  })
  return ends.some(({ offset }) => offset > 0) ? `'${statusTopic}' has statuses of its connectors` : undefined
}

type Kind = 'config' | 'offset' | 'status'

/** Other keys below the prefix are the topic's own, such as `config.storage.min.insync.replicas`. */
function storeTopic(kind: Kind, { values, rest }: WorkerSettings): StoreTopic {
  const replicationFactor = values[`${kind}.storage.replication.factor`] ?? -1
  const partitions = kind === 'config' ? 1 : values[`${kind}.storage.partitions`]
  return {
    name: values[`${kind}.storage.topic`],
    ...(partitions > 0 ? { partitions } : {}),
    ...(replicationFactor > 0 ? { replicationFactor } : {}),
    configs: settingsWithPrefix(`${kind}.storage.`, rest),
  }
}

async function closeAll(stores: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(stores.map((store) => store.close()))
}
