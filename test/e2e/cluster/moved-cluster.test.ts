import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { type KafkaCluster, startKafkaCluster } from '../../env/kafka-cluster.ts'
import { describeOn, real } from '../../env/real.ts'
import { startClusterLoad } from '../../support/cluster-load.ts'

const kafka = await real('kafka')

describeOn([kafka], 'registry and connectors whose brokers all move', () => {
  it('find them again by bootstrap.servers, and lose nothing', async () => {
    const cluster = await startKafkaCluster()
    onTestFinished(() => cluster.stop())
    const bootstrap = await startForwarder(cluster)
    const load = await startClusterLoad({ bootstrap, workers: 1, pipes: 1 })
    onTestFinished(() => load.close())
    await load.untilRecovered()
    const before = addressesOf(cluster)
    // At once, so that no broker tells the clients of the new addresses of the others.
    await Promise.all(cluster.nodes.map((node) => node.kill()))
    await Promise.all(cluster.nodes.map((node) => node.relocate()))
    expect(addressesOf(cluster).filter((address) => before.includes(address))).toEqual([])
    await Promise.all(cluster.nodes.map((node) => node.restart()))
    await load.untilRecovered()
    const report = await load.stop()
    expect(report.problems, JSON.stringify(report)).toEqual([])
  })
})

function addressesOf({ nodes }: KafkaCluster): readonly string[] {
  return nodes.map(({ listeners }) => listeners['PLAINTEXT']!)
}

/** Starts what a DNS name with changing addresses is to clients: an address that leads to the present one of the first broker. */
async function startForwarder(cluster: KafkaCluster): Promise<string> {
  const server: Server = createServer((incoming) => {
    const [host, port] = addressesOf(cluster)[0]!.split(':') as [string, string]
    const outgoing = connect(Number(port), host)
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const satisfies readonly (readonly [Socket, Socket])[]) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}
