import type { Broker, PartitionOffset } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import type { StateProgress, StateTopicDefinition } from '../../broker/state-topic/state-topic-checks.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import type { WorkerSettings } from '../settings.ts'
import type { TopicPolicies } from '../topic-access/topic-policies.ts'
import type { ConfigRecord } from './config-codec.ts'
import { ConfigStore } from './config-store.ts'
import { OffsetStore } from './offset-store.ts'
import { type StatusChange, StatusStore } from './status-store.ts'

/** The three topics that hold all state of a worker group. */
export type Stores = {
  readonly configs: ConfigStore
  readonly statuses: StatusStore
  readonly offsets: OffsetStore
  /** The error for which one of the topics can no longer be read. */
  failure(): Error | undefined
  close(): Promise<void>
}

export type StoresOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly settings: WorkerSettings
  readonly topics: TopicPolicies
  /** Called with every record of the config topic that is read after the stores were opened. */
  readonly onConfig: (record: ConfigRecord) => void
  /** Called with each status that is read, of a connector or a task. */
  readonly onStatus: (change: StatusChange) => void
  /** Called when a topic can no longer be read: the worker has to stop. */
  readonly onFailed: (error: Error) => void
  /** Commits the offsets up to which the topics were read to the group. */
  readonly saveProgress: StateProgress['save']
}

/** Creates missing topics and reads each topic to its end. Rejects when one of them cannot be opened. */
export async function openStores(options: StoresOptions): Promise<Stores> {
  const { broker, logger, settings, topics, onConfig, onStatus, onFailed, saveProgress } = options
  const topic = (kind: Kind) => storeTopic(kind, settings)
  let saved: Promise<readonly PartitionOffset[]> | undefined
  const readProgress = () => {
    // Read once for all topics. The end of each topic is requested afterwards, so it cannot be older than this progress.
    saved ??= broker.groups.offsets(settings.values['group.id'])
    return saved
  }
  const progress = { read: readProgress, save: saveProgress }
  const skipValidation = settings.values['storage.topics.skip.validation']
  const common = { broker, logger, skipValidation, progress, onFailed }
  const evidenceOfRecords = () => evidenceIn(broker, topic('status').name)
  const opened = await Promise.allSettled([
    ConfigStore.open({ ...common, topic: topic('config'), evidenceOfRecords, onRecord: onConfig }),
    StatusStore.open({ ...common, topic: topic('status'), onStatus }),
    OffsetStore.open({ ...common, topic: topic('offset'), accessOf: (connector) => topics.accessOf(connector) }),
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

/** Statuses are written only for configured connectors, so a group with statuses must have had configurations. */
async function evidenceIn(broker: Broker, statusTopic: string): Promise<string | undefined> {
  const ends = await broker.topics.offsets(statusTopic, 'latest', 'read_uncommitted').catch((error: unknown) => {
    if (error instanceof BrokerError && error.code === 'topic_not_found') return []
    throw error
  })
  return ends.some(({ offset }) => offset > 0) ? `'${statusTopic}' has statuses of its connectors` : undefined
}

const KINDS = ['config', 'offset', 'status'] as const
type Kind = (typeof KINDS)[number]

/** All three, because a cluster that has too few brokers for one topic usually has too few for the others. */
const REPLICATION_SETTINGS = KINDS.map((kind) => `${kind}.storage.replication.factor`).join(', ')

/** Other keys with the prefix are topic configurations, such as `config.storage.min.insync.replicas`. */
function storeTopic(kind: Kind, { values, rest }: WorkerSettings): StateTopicDefinition {
  const partitions = kind === 'config' ? 1 : values[`${kind}.storage.partitions`]
  return {
    name: values[`${kind}.storage.topic`],
    ...(partitions > 0 ? { partitions } : {}),
    replicationFactor: values[`${kind}.storage.replication.factor`],
    replicationSetting: REPLICATION_SETTINGS,
    ...(values['internal.topics.automatic.creation.enable'] ? {} : { createdBy: createdBy(kind) }),
    configs: settingsWithPrefix(`${kind}.storage.`, rest),
  }
}

function createdBy(kind: Kind): string {
  return (
    `Create it, compacted and with the name in ${kind}.storage.topic, ` +
    'or set internal.topics.automatic.creation.enable=true'
  )
}

async function closeAll(stores: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(stores.map((store) => store.close()))
}
