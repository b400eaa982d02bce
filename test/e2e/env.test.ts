import { expect } from 'vitest'
import { kafkaTool, startKafka } from '../env/kafka.ts'
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
