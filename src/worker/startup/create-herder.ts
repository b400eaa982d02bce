import { systemClock } from '../../common/clock.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import type { ConnectorBrokers } from '../configuration/connector-brokers.ts'
import { Herder } from '../herder/herder.ts'
import type { LeaderDuties } from '../herder/leader-duties.ts'
import type { WorkReconciler } from '../herder/work-reconciler.ts'
import { hostAccess } from '../host-access/host-access.ts'
import { ConnectorOffsets } from '../offsets/connector-offsets.ts'
import type { WorkerSettings } from '../settings.ts'
import type { Stores } from '../stores/open-stores.ts'
import type { TopicPolicies } from '../topic-access/topic-policies.ts'
import { isExactlyOnce } from './create-work-reconciler.ts'
import { converterDefaults, overridePolicyOf } from './derived-settings.ts'
import type { WorkerIsolation } from './open-isolation.ts'

export type CreateHerderOptions = {
  readonly settings: WorkerSettings
  readonly brokers: ConnectorBrokers
  readonly stores: Stores
  readonly isolation: WorkerIsolation
  readonly resolver: ConfigResolver
  readonly topics: TopicPolicies
  readonly reconciler: WorkReconciler
  readonly leader: LeaderDuties
  readonly haveTasksEnded: (connector: string) => boolean
}

export function createHerder(options: CreateHerderOptions): Herder {
  const { settings, brokers, stores, isolation, resolver, topics, reconciler, leader, haveTasksEnded } = options
  const { values } = settings
  const { plugins, access } = isolation
  const { configs, statuses, offsets } = stores
  const exactlyOnceSources = isExactlyOnce(settings)
  const fence = exactlyOnceSources ? (name: string) => leader.fenceZombieSourceTasks(name) : undefined
  return new Herder({
    plugins,
    configs,
    statuses,
    resolver,
    reconciler,
    leader,
    offsets: new ConnectorOffsets({
      brokers,
      plugins,
      resolver,
      offsets,
      accessOf: (name) => topics.accessOf(name),
      fence,
      haveTasksEnded,
      clock: systemClock,
    }),
    validation: {
      plugins,
      groupId: values['group.id'],
      exactlyOnceSources,
      workerDefaults: converterDefaults(settings),
      overrides: overridePolicyOf(settings),
      access: hostAccess(access.host),
      topics,
      isDataTopic: (topic) =>
        configs.state.connectors().some(({ name }) => statuses.state.topics(name).includes(topic)),
    },
    topicTracking: { enabled: values['topic.tracking.enable'], resettable: values['topic.tracking.allow.reset'] },
  })
}
