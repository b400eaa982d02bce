import { parseArgs } from 'node:util'
import { type ClusterNode, type KafkaCluster, startKafkaCluster } from '../../env/kafka-cluster.ts'
import { ClusterAdmin } from '../../support/cluster-admin.ts'
import { type ClusterLoad, startClusterLoad } from '../../support/cluster-load.ts'

/**
 * `node test/e2e/cluster/measure-recovery.ts [--rounds 3] [FAULT…]`: the longest time from writing a line to its copy while brokers fail, with
 * workers of Weir and of Java Connect on the same three brokers at the same time, for docs/reliability.md.
 */
const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '3' } },
  allowPositionals: true,
})
const ROUNDS = Number(values.rounds)
/** One partition, so that one node coordinates all groups, and one all transactions. */
const ONE_COORDINATOR = { 'offsets.topic.num.partitions': '1', 'transaction.state.log.num.partitions': '1' }
const OFFSETS_TOPIC = '__consumer_offsets'

type Programs = 'weir' | 'java'
type Loads = Readonly<Record<Programs, ClusterLoad>>
type Fault = (cluster: KafkaCluster, admin: ClusterAdmin, loads: Loads) => Promise<void>

const FAULTS: Readonly<Record<string, Fault>> = {
  'none, for comparison': async (_, __, loads) => untilRecovered(loads),
  'leader of all written partitions killed': async (_, admin, loads) =>
    killUntilRecovered(await admin.leaderOf(loads.weir.topics[0]!), loads),
  'coordinator of all groups killed': async (_, admin, loads) =>
    killUntilRecovered(await admin.leaderOf(OFFSETS_TOPIC), loads),
  'leader and coordinator frozen': async (_, admin, loads) => {
    const node = await admin.leaderOf(OFFSETS_TOPIC)
    await node.freeze()
    await untilRecovered(loads)
    await node.thaw()
    await untilRecovered(loads)
  },
  'rolling restart': async (cluster, admin, loads) => {
    for (const node of cluster.nodes) {
      await admin.untilInSync()
      await node.shutDown()
      await node.restart()
    }
    await untilRecovered(loads)
  },
}

const chosen = Object.entries(FAULTS).filter(([fault]) => positionals.length === 0 || positionals.includes(fault))

const cluster = await startKafkaCluster({ properties: ONE_COORDINATOR })
const admin = new ClusterAdmin(cluster)
const started: ClusterLoad[] = []
try {
  const start = async (programs: Programs) => {
    const options = { bootstrap: cluster.bootstrap, name: programs, programs, workers: 1, pipes: 1 }
    const load = await startClusterLoad(options)
    started.push(load)
    return load
  }
  const loads: Loads = { weir: await start('weir'), java: await start('java') }
  const delays: { readonly fault: string; readonly weirMs: number; readonly javaMs: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const [fault, cause] of chosen) {
      await gatherRoles(loads)
      for (const load of started) load.takeLongestDelayMs()
      await cause(cluster, admin, loads)
      const measured = {
        fault,
        weirMs: loads.weir.takeLongestDelayMs(),
        javaMs: loads.java.takeLongestDelayMs(),
      }
      delays.push(measured)
      console.error(JSON.stringify(measured))
    }
  }
  console.log('| fault | Weir | Java Connect | ratio |\n| --- | --- | --- | --- |')
  for (const [fault, rounds] of Map.groupBy(delays, (delay) => delay.fault)) {
    const [weirMs, javaMs] = [median(rounds.map((round) => round.weirMs)), median(rounds.map((round) => round.javaMs))]
    console.log(`| ${fault} | ${seconds(weirMs)} | ${seconds(javaMs)} | ${(weirMs / javaMs).toFixed(2)} |`)
  }
  for (const load of started) {
    const { problems, pipes } = await load.stop()
    console.log(JSON.stringify({ problems, pipes }))
    if (problems.length > 0) process.exitCode = 1
  }
} finally {
  await Promise.all(started.map((load) => load.close()))
  await cluster.stop()
}

/** Makes one node the leader of everything that both loads use, so that a fault of it concerns both alike. */
async function gatherRoles({ weir, java }: Loads): Promise<void> {
  await admin.untilInSync()
  const [first, ...others] = cluster.nodes.map(({ id }) => id)
  const topics = [...weir.topics, ...java.topics, weir.names.schemas, OFFSETS_TOPIC, '__transaction_state']
  for (const topic of topics) await admin.reassign(topic, [first!, ...others])
  await admin.electPreferredLeaders()
  await untilRecovered({ weir, java })
}

async function killUntilRecovered(node: ClusterNode, loads: Loads): Promise<void> {
  await node.kill()
  await untilRecovered(loads)
  await node.restart()
  await untilRecovered(loads)
}

async function untilRecovered({ weir, java }: Loads): Promise<void> {
  await Promise.all([weir.untilRecovered(), java.untilRecovered()])
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
