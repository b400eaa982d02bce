import { expect, onTestFinished } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { kafkaTool, startKafka } from '../env/kafka.ts'
import { startKafkaCluster } from '../env/kafka-cluster.ts'
import { itOn, real } from '../env/real.ts'

const kafka = await real('kafka')
const kafka3 = await real('kafka3')
const javaConnect = await real('javaConnect')

const produce = (bootstrap: string, topic: string) =>
  kafkaTool('ProducerPerformance', [
    ...['--topic', topic, '--num-records', '5', '--record-size', '10', '--throughput', '-1'],
    ...['--producer-props', `bootstrap.servers=${bootstrap}`],
  ])
const consume = (bootstrap: string, topic: string) =>
  kafkaTool('consumer.ConsoleConsumer', [
    ...['--bootstrap-server', bootstrap, '--topic', topic, '--from-beginning', '--max-messages', '5'],
  ])

for (const [name, broker] of Object.entries({ kafka, kafka3 })) {
  itOn([broker], `writes and reads ${name} with the Java tools`, async () => {
    const { bootstrap } = broker.address
    expect((await produce(bootstrap, 'env-tools')).stdout).toContain('5 records sent')
    expect((await consume(bootstrap, 'env-tools')).stderr).toContain('Processed a total of 5 messages')
  })
}

itOn([javaConnect], 'runs a Java Connect worker with the file connectors', async () => {
  const plugins = (await (await fetch(`${javaConnect.address.url}/connector-plugins`)).json()) as { class: string }[]
  expect(plugins.map((plugin) => plugin.class)).toContain('org.apache.kafka.connect.file.FileStreamSourceConnector')
})

itOn([kafka], 'provides a separate broker that can be killed and restarted with its data', async () => {
  const own = await startKafka({ listeners: { SECOND: 'PLAINTEXT' } })
  try {
    await produce(own.listeners['SECOND']!, 'kept')
    await own.kill()
    await own.restart()
    expect((await consume(own.bootstrap, 'kept')).stderr).toContain('Processed a total of 5 messages')
  } finally {
    await own.stop()
  }
})

itOn([kafka], 'provides a cluster of three brokers with logins and ACLs, which can be killed and frozen', async () => {
  const cluster = await startKafkaCluster({ users: { admin: 'a', nobody: 'n' }, superUsers: ['admin'] })
  onTestFinished(() => cluster.stop())
  const open = async (user: string) => {
    const config = { 'bootstrap.servers': cluster.securedBootstrap, ...cluster.clientSettings(user) }
    const broker = await openBroker({ kind: 'kafka', config }, { logger: silentLogger() })
    onTestFinished(() => broker.close())
    return broker
  }
  const [admin, nobody] = [await open('admin'), await open('nobody')]
  const topic = 'replicated'
  await admin.topics.create({ name: topic, partitions: 3 })
  expect((await admin.topics.describe(topic))?.partitions.map(({ replicas }) => replicas)).toEqual([3, 3, 3])
  const send = async (broker: Broker, text: string) => {
    const producer = await broker.producer()
    const records = [0, 1, 2].map((partition) => ({ topic, partition, key: null, value: Buffer.from(text) }))
    return (await producer.send(records)).offsets
  }
  await expect(send(nobody, 'refused')).rejects.toMatchObject({ code: 'not_authorized' })
  expect([...(await send(admin, 'with three'))]).toEqual([0, 0, 0])
  const [first, second] = cluster.nodes
  await first!.kill()
  expect([...(await send(admin, 'with two'))]).toEqual([1, 1, 1])
  await first!.restart()
  await second!.freeze()
  await second!.thaw()
  await second!.shutDown()
  await second!.restart()
  expect([...(await send(admin, 'with all again'))]).toEqual([2, 2, 2])
})
