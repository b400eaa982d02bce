import { expect, it, onTestFinished } from 'vitest'
import { createBrokerClient } from '../../src/broker/broker-client.ts'
import { openKafkaBackend } from '../../src/broker/kafka/kafka-backend.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { startKafka } from '../env/kafka.ts'
import { describeOn, real } from '../env/real.ts'
import { DatagenVerifier } from '../support/datagen-verifier.ts'
import { until } from '../support/until.ts'
import { clientOf, WAIT, WorkerGroup } from '../support/worker-group.ts'

const SETTINGS = {
  'heartbeat.interval.ms': '500',
  'scheduled.rebalance.max.delay.ms': '0',
  'offset.flush.interval.ms': '500',
  'exactly.once.source.support': 'enabled',
}
// Kafka 4 rejects such records by default. A broker that restarts while a transaction ends can still leave it open.
const PROPERTIES = { 'transaction.partition.verification.enable': 'false' }

// Only determines whether Kafka is available. The test starts a separate broker with other properties.
const kafka = await real('kafka')

describeOn([kafka], 'a transaction of a source task that its coordinator has forgotten', () => {
  it('is aborted by the next start of the task on a worker that starts later, which repeats and loses nothing', async () => {
    const { bootstrap, ...broker } = await startKafka({ properties: PROPERTIES })
    onTestFinished(() => broker.stop())
    const group = new WorkerGroup(bootstrap, SETTINGS)
    const [worker] = await group.start(1)
    const client = clientOf(worker!)
    const topic = `${group.id}-records`
    const verifier = new DatagenVerifier(bootstrap, { topic, tasks: 1, iterations: 2_000 })
    await client.create('gen', { 'connector.class': 'Datagen', ...verifier.config, rate: '500' })
    // The worker ends the transaction in the topics to which the connector has written before.
    await until('the task to write', WAIT, async () => (await client.topics('gen')).includes(topic))
    await client.stop('gen')
    await until('the task to stop', WAIT, async () => (await client.status('gen')).tasks.length === 0)
    await forgetTransaction(bootstrap, `${group.id}-gen-0`, [topic, `${group.id}-offsets`])
    await worker!.kill()
    group.forget(worker!)
    const next = await group.startOne()
    await until('the new worker to lead', WAIT, () =>
      clientOf(next)
        .resume('gen')
        .then(
          () => true,
          () => false,
        ),
    )
    expect(await verifier.untilComplete(WAIT.timeoutMs)).toBe(0)
  })
})

/** Leaves a transaction open whose partitions its coordinator does not know. */
async function forgetTransaction(bootstrap: string, transactionalId: string, topics: readonly string[]): Promise<void> {
  const logger = silentLogger()
  const backend = await openKafkaBackend({ 'bootstrap.servers': bootstrap }, { logger })
  const forgetful = { ...backend, addPartitionsToTransaction: async () => {} }
  const broker = createBrokerClient(forgetful, { logger, address: () => Promise.reject(new Error('not shared')) })
  const producer = await broker.producer({ transactionalId })
  producer.begin()
  const never = { key: Buffer.from('["gen",{}]'), value: Buffer.from('{}'), partition: 0 }
  await producer.send(topics.map((topic) => ({ ...never, topic })))
  for (const topic of topics) {
    const ends = await broker.topics.offsets(topic, 'latest', 'read_uncommitted')
    const stable = await broker.topics.offsets(topic, 'latest', 'read_committed')
    const endOf = (offsets: typeof ends) => offsets.find(({ partition }) => partition === 0)?.offset
    expect(endOf(stable)).toBe(endOf(ends)! - 1)
  }
  await broker.close()
}
