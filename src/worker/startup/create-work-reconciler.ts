import type { Broker } from '../../broker/broker.ts'
import { systemClock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import type { ConnectorBrokers } from '../configuration/connector-brokers.ts'
import { findAnyConnector } from '../configuration/connector-plugin.ts'
import type { LiteralSecrets } from '../configuration/literal-secrets.ts'
import { LeaderDuties } from '../herder/leader-duties.ts'
import {
  abortForgottenTransaction,
  fenceProducer,
  partitionsOf,
  transactionalIdOf,
} from '../herder/producer-fencing.ts'
import { WorkReconciler } from '../herder/work-reconciler.ts'
import { WorkRunner } from '../herder/work-runner.ts'
import type { PeerClient } from '../membership/peer-client.ts'
import type { PluginHost } from '../plugin-host.ts'
import type { WorkerSettings } from '../settings.ts'
import type { Stores } from '../stores/open-stores.ts'
import type { TaskHost } from '../tasks/task-spec.ts'
import { sessionKeyOptions, taskDefaults } from './derived-settings.ts'
import type { GroupReference } from './group-reference.ts'
import type { WorkerEvents } from './worker-events.ts'

export type CreateWorkReconcilerOptions = {
  readonly settings: WorkerSettings
  readonly broker: Broker
  readonly brokers: ConnectorBrokers
  readonly logger: Logger
  readonly events: WorkerEvents
  readonly stores: Stores
  readonly plugins: PluginHost
  readonly resolver: ConfigResolver
  readonly literals: LiteralSecrets
  readonly taskHost: TaskHost
  readonly peers: PeerClient
  readonly group: GroupReference
}

/** Creates the work reconciler, the work runner and the leader duties, and subscribes the reconciler to the events of the worker. */
export function createWorkReconciler(options: CreateWorkReconcilerOptions) {
  const { settings, broker, brokers, logger, events, stores, plugins, resolver, literals, taskHost, peers, group } =
    options
  const { values } = settings
  const groupId = values['group.id']
  const { configs, statuses, offsets } = stores
  const leader = new LeaderDuties({
    broker,
    brokers,
    groupId,
    logger,
    clock: systemClock,
    configs,
    statuses,
    isLeader: group.isLeader,
    isSource: (config) => findAnyConnector(plugins.catalog, config)?.kind === 'source',
    sessionKey: sessionKeyOptions(settings),
  })
  /** Undefined when this worker is the leader, or no leader is known: then `LeaderDuties` rejects the request. */
  const otherLeaderUrl = () => (group.isLeader() ? undefined : group.current()?.leaderUrl)
  const runner = new WorkRunner({
    plugins,
    resolver,
    literals,
    logger,
    clock: systemClock,
    host: taskHost,
    configs,
    statuses,
    offsets,
    defaults: taskDefaults(settings),
    workerId: () => group.workerId,
    generation: () => group.current()?.generation ?? 0,
    putTasks: async (connector, tasks) => {
      const leaderUrl = otherLeaderUrl()
      if (leaderUrl === undefined) return leader.putTasks(connector, tasks)
      await peers.putTasks(leaderUrl, connector, tasks)
      // The next comparison with the stored tasks must include these.
      await configs.readToEnd()
    },
    fence: isExactlyOnce(settings)
      ? async (id, openPartitions) => {
          const leaderUrl = otherLeaderUrl()
          if (leaderUrl === undefined) await leader.fenceZombieSourceTasks(id.connector)
          else await peers.fenceZombieSourceTasks(leaderUrl, id.connector)
          const transactionalId = transactionalIdOf(groupId, id)
          const config = configs.state.connector(id.connector)?.config ?? {}
          return brokers.run('producer', config, async (own) => {
            if (openPartitions.length > 0) {
              // Aborted together with the records that the transaction may have left in the topics of the connector.
              const written = await partitionsOf(own, statuses.state.topics(id.connector))
              await abortForgottenTransaction(own, transactionalId, [...openPartitions, ...written])
            }
            return fenceProducer(own, transactionalId)
          })
        }
      : undefined,
    onInterrupted: () => events.emit('taskInterrupted'),
    sessionTimeoutMs: values['session.timeout.ms'],
    stopTimeoutMs: values['task.shutdown.graceful.timeout.ms'],
  })
  const reconciler = new WorkReconciler({ logger, configs, statuses, runner, leader, group: group.current })
  events.on('taskInterrupted', () => reconciler.onInterrupted())
  events.on('status', (change) => {
    runner.statusRead(change)
    leader.statusRead(change)
  })
  events.on('configRecord', (record) => {
    if (record.kind === 'restart') reconciler.onRestart(record)
    else if (record.kind !== 'logger') reconciler.wake('connector' in record ? record.connector : undefined)
  })
  return { reconciler, runner, leader }
}

export function isExactlyOnce({ values }: WorkerSettings): boolean {
  return values['exactly.once.source.support'] === 'enabled'
}
