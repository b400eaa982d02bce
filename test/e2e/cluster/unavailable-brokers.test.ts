import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KafkaCluster, startKafkaCluster } from '../../env/kafka-cluster.ts'
import { describeOn, real } from '../../env/real.ts'
import { ClusterAdmin } from '../../support/cluster-admin.ts'
import { type ClusterLoad, startClusterLoad } from '../../support/cluster-load.ts'

const kafka = await real('kafka')

describeOn([kafka], 'registry and connectors on three brokers', () => {
  let cluster: KafkaCluster
  let admin: ClusterAdmin
  let load: ClusterLoad

  beforeAll(async () => {
    cluster = await startKafkaCluster()
    admin = new ClusterAdmin(cluster)
    load = await startClusterLoad({ bootstrap: cluster.bootstrap })
  })
  afterAll(async () => {
    await load?.close()
    await cluster?.stop()
  })

  it('recover while a broker is frozen, and after it continues', async () => {
    const node = await admin.leaderOf(load.topics[0]!)
    await node.freeze()
    await load.untilRecovered()
    await node.thaw()
    await load.untilRecovered()
  })

  it('work through a rolling restart', async () => {
    for (const node of cluster.nodes) {
      await admin.untilInSync()
      await node.shutDown()
      await node.restart()
    }
    await load.untilRecovered()
  })

  it('follow partitions that are reassigned to other brokers', async () => {
    await admin.untilInSync()
    const topics = [load.names.schemas, ...load.topics]
    for (const topic of topics) {
      const { id } = await admin.leaderOf(topic)
      const others = cluster.nodes.map((node) => node.id).filter((other) => other !== id)
      await admin.reassign(topic, others)
    }
    await load.untilRecovered()
    for (const topic of topics) await admin.reassign(topic, [3, 2, 1])
    await load.untilRecovered()
  })

  it('follow leaders that are elected', async () => {
    await admin.untilInSync()
    const moved = async () => (await admin.leaderOf(load.topics[0]!)).id
    const before = await moved()
    const others = cluster.nodes.map((node) => node.id).filter((other) => other !== before)
    for (const topic of [load.names.schemas, ...load.topics]) await admin.reassign(topic, [...others, before])
    await admin.electPreferredLeaders()
    await load.untilRecovered()
    expect(await moved()).not.toBe(before)
  })

  it('have lost nothing, and repeated only what at-least-once allows', async () => {
    const report = await load.stop()
    expect(report.problems, JSON.stringify(report)).toEqual([])
  })
})
