import { afterAll, beforeAll, expect, it } from 'vitest'
import { transactionalIdOf } from '../../../src/worker/herder/producer-fencing.ts'
import { type ClusterNode, type KafkaCluster, startKafkaCluster } from '../../env/kafka-cluster.ts'
import { describeOn, real } from '../../env/real.ts'
import { ClusterAdmin } from '../../support/cluster-admin.ts'
import { type ClusterLoad, startClusterLoad } from '../../support/cluster-load.ts'

const kafka = await real('kafka')

describeOn([kafka], 'registry and connectors on three brokers', () => {
  let cluster: KafkaCluster
  let admin: ClusterAdmin
  let load: ClusterLoad
  const firstTask = () => ({ connector: load.sources[0]!, task: 0 })

  beforeAll(async () => {
    cluster = await startKafkaCluster()
    admin = new ClusterAdmin(cluster)
    load = await startClusterLoad({ bootstrap: cluster.bootstrap })
  })
  afterAll(async () => {
    await load?.close()
    await cluster?.stop()
  })

  /** The node stays down until all has recovered from its loss. */
  it.each<[string, () => Promise<ClusterNode>]>([
    ['the leader of a written partition', () => admin.leaderOf(load.topics[0]!)],
    ['the coordinator of the group of the workers', () => admin.groupCoordinatorOf(load.names.exactlyOnce)],
    [
      'the coordinator of the transactions of a task',
      () => admin.transactionCoordinatorOf(transactionalIdOf(load.names.exactlyOnce, firstTask())),
    ],
    ['the active controller', () => admin.controller()],
  ])('recover without %s, which was killed', async (_, find) => {
    await admin.untilInSync()
    const node = await find()
    await node.kill()
    await load.untilRecovered()
    await node.restart()
    await load.untilRecovered()
  })

  it('recover when two of the three brokers are started again, which were killed', async () => {
    await admin.untilInSync()
    const [first, second] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode]
    await Promise.all([first.kill(), second.kill()])
    await load.untilWritesFail()
    await Promise.all([first.restart(), second.restart()])
    await load.untilRecovered()
  })

  it('have lost nothing, and repeated only what at-least-once allows', async () => {
    const report = await load.stop()
    expect(report.problems, JSON.stringify(report)).toEqual([])
  })
})
