import type { Broker } from '../../broker/broker.ts'
import type { Lifecycle } from '../../common/lifecycle.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import { ConnectorDeadLetters } from '../dead-letters/connector-dead-letters.ts'
import { DeadLetterReader } from '../dead-letters/dead-letter-reader.ts'
import { ConnectorPreview } from '../preview/connector-preview.ts'
import type { TopicRoutes } from '../routes/topics.ts'
import type { WorkerSettings } from '../settings.ts'
import type { Stores } from '../stores/open-stores.ts'
import type { TopicPolicies } from '../topic-access/topic-policies.ts'
import { TopicDirectory } from '../topics/topic-directory.ts'
import { TopicRecords } from '../topics/topic-records.ts'
import { clientSettingsOf, converterDefaults, registrySettingsOf } from './derived-settings.ts'
import type { WorkerIsolation } from './open-isolation.ts'

export type OpenRecordAccessOptions = {
  readonly settings: WorkerSettings
  readonly broker: Broker
  readonly life: Lifecycle
  readonly stores: Stores
  readonly isolation: Pick<WorkerIsolation, 'plugins'>
  readonly resolver: ConfigResolver
  readonly topics: TopicPolicies
}

/** What the console shows of topics, and of the records that connectors read and write. */
export type RecordAccess = {
  readonly topics: TopicRoutes
  readonly deadLetters: ConnectorDeadLetters
  readonly preview: ConnectorPreview
}

export function openRecordAccess(options: OpenRecordAccessOptions): RecordAccess {
  const { settings, broker, life, stores, isolation, resolver, topics } = options
  const isProgramTopic = (topic: string) => topics.isProgramTopic(topic)
  const records = new TopicRecords(broker, {
    registry: registrySettingsOf(settings),
    maskedTags: settings.values['records.masked.tags'],
    isProgramTopic,
  })
  life.onStop('records', () => records.close())
  const reader = new DeadLetterReader(broker)
  life.onStop('dead letters', () => reader.close())
  const topicsOf = (connector: string) => stores.statuses.state.topics(connector)
  const directory = new TopicDirectory({
    broker,
    isProgramTopic,
    connectors: () => stores.configs.state.connectors().map(({ name }) => name),
    topicsOf,
  })
  const common = {
    broker,
    plugins: isolation.plugins,
    resolver,
    connector: (name: string) => stores.configs.state.connector(name),
    converterDefaults: converterDefaults(settings),
    clientDefaults: clientSettingsOf(settings),
  }
  return {
    topics: { directory, records },
    deadLetters: new ConnectorDeadLetters({ ...common, reader, accessOf: (name) => topics.accessOf(name) }),
    preview: new ConnectorPreview({
      ...common,
      records,
      topicsOf,
      accessWith: (name, config) => topics.accessWith(name, config),
    }),
  }
}
