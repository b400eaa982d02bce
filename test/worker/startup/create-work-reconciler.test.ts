import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import type { ConnectorBrokers } from '../../../src/worker/configuration/connector-brokers.ts'
import type { PeerClient } from '../../../src/worker/membership/peer-client.ts'
import { workerSettings } from '../../../src/worker/settings.ts'
import { createWorkReconciler } from '../../../src/worker/startup/create-work-reconciler.ts'
import type { GroupReference } from '../../../src/worker/startup/group-reference.ts'
import { WorkerEvents } from '../../../src/worker/startup/worker-events.ts'
import type { Stores } from '../../../src/worker/stores/open-stores.ts'
import { addConnector, createTestWorkRunner } from '../../support/work-runner.ts'

it('a connector whose config record arrives before the work reconciler exists is started with the next record', async () => {
  const { parts, configs, tasks } = createTestWorkRunner()
  const events = new WorkerEvents()
  const work = { connectors: [], tasks: [0, 1].map((task) => ({ connector: 'c', task })) }
  const group = { work, has: () => true, isLeader: false, rebalanceIfWorkChanged: () => undefined }
  addConnector(configs, 2)
  expect(events.emit('configRecord', { kind: 'commit', connector: 'c', tasks: 2 })).toBe(false)
  const { configs: configStore, statuses, offsets, plugins, resolver, literals, logger, host: threads } = parts
  const { reconciler } = createWorkReconciler({
    settings: workerSettings([]),
    broker: {} as Broker,
    brokers: {} as ConnectorBrokers,
    logger,
    events,
    stores: { configs: configStore, statuses, offsets } as Stores,
    plugins,
    resolver,
    literals,
    taskHost: threads,
    peers: {} as PeerClient,
    group: { current: () => group, isLeader: () => false, workerId: 'me:1' } as unknown as GroupReference,
  })
  events.emit('configRecord', { kind: 'target', connector: 'c', target: 'STARTED' })
  await reconciler.isResponding()
  expect(tasks.map(({ spec }) => spec.task)).toEqual([0, 1])
})
