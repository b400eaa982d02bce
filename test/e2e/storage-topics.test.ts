import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { startJavaConnect } from '../env/java-connect.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, itOn, real } from '../env/real.ts'
import { runWeir, setArgs } from '../support/cli.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { runWorkerProcess, startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const KINDS = ['config', 'offset', 'status']

const [kafka, java] = [await real('kafka'), await real('javaConnect')]

describeOn([kafka], 'topics of the programs on a cluster of one broker', () => {
  itOn(
    [java],
    'a worker does not start with the default of three replicas, and neither does Kafka Connect',
    async () => {
      const group = nameOf('default')
      const topics = Object.fromEntries(KINDS.map((kind) => [`${kind}.storage.topic`, `${group}-${kind}`]))
      const settings = { 'group.id': group, listeners: `http://127.0.0.1:${await freePort()}`, ...topics }
      const { code, stderr } = await runWeir(temporaryDirectory(), 'worker', ...log(), ...setArgs(settings))
      expect([code, stderr]).toEqual([1, expect.stringMatching(/INVALID_REPLICATION_FACTOR: .*only 1 broker/)])
      expect(stderr).toContain(
        'Set config.storage.replication.factor, offset.storage.replication.factor, status.storage.replication.factor ' +
          'to at most the number of brokers, or to -1 for the default of the brokers.',
      )
      // Kafka Connect tries for default.api.timeout.ms before it ends.
      const properties = Object.fromEntries(KINDS.map((kind) => [`${kind}.storage.replication.factor`, '3']))
      const theirs = await startJavaConnect({
        bootstrap: kafka.address.bootstrap,
        groupId: `${group}-java`,
        properties,
      })
      onTestFinished(() => theirs.kill())
      const failure = /topic creation failed due to .*The target replication factor of 3 cannot be reached/
      await until('its failure', WAIT, () => failure.test(readFileSync(theirs.logFile, 'utf8')))
    },
  )

  it('a worker with internal.topics.automatic.creation.enable=false starts only when its topics exist', async () => {
    const group = nameOf('existing')
    const settings = { 'internal.topics.automatic.creation.enable': 'false' }
    const { code, stderr } = await runWorkerProcess({ log: log(), groupId: group, settings })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/the topic '.*' does not exist\. Create it, compacted/)])
    const broker = await openTestBrokerOn(kafka.address.bootstrap)
    for (const kind of ['configs', 'offsets', 'status'])
      await broker.topics.create({
        name: `${group}-${kind}`,
        partitions: 1,
        replicationFactor: 1,
        configs: { 'cleanup.policy': 'compact' },
      })
    const worker = await startWorkerProcess({ log: log(), groupId: group, settings })
    await worker.kill()
  })

  it('a worker starts with -1, the default of the brokers; a sink without replicas for its dead letters fails', async () => {
    const settings = Object.fromEntries(KINDS.map((kind) => [`${kind}.storage.replication.factor`, '-1']))
    const group = nameOf('brokers')
    const worker = await startWorkerProcess({ log: log(), groupId: group, settings })
    onTestFinished(() => worker.kill())
    const broker = await openTestBrokerOn(kafka.address.bootstrap)
    const replicas = async (topic: string) => (await broker.topics.describe(topic))?.partitions[0]?.replicas
    expect([await replicas(`${group}-configs`), await replicas(`${group}-status`)]).toEqual([1, 1])

    await broker.topics.create({ name: group, partitions: 1, replicationFactor: 1 })
    const client = createWorkerClient({ url: worker.url })
    await client.create(group, {
      'connector.class': 'FileStreamSink',
      topics: group,
      file: `${temporaryDirectory()}/out.txt`,
      'errors.deadletterqueue.topic.name': `${group}-dead`,
    })
    let trace: string | undefined
    await until('the task to fail', WAIT, async () => {
      const status = await client.status(group).catch(() => undefined)
      trace = status?.tasks[0]?.trace
      return trace !== undefined
    })
    expect(trace).toContain('Set errors.deadletterqueue.topic.replication.factor to at most the number of brokers')
  })

  it('a registry starts with one replica of its topics, and warns', async () => {
    const group = nameOf('registry')
    const settings = {
      'schema.registry.group.id': group,
      'brokerstore.topic': group,
      'dek.registry.topic': `${group}-keys`,
      'brokerstore.topic.replication.factor': '3',
    }
    const registry = await startRegistryProcess(log(), settings)
    onTestFinished(() => registry.kill())
    const warnings = readFileSync(registry.logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('has fewer replicas'))
      .map((line) => JSON.parse(line))
    const warning = { level: 'warn', replicas: 1, expected: 3, setting: 'brokerstore.topic.replication.factor' }
    expect(warnings).toMatchObject([group, `${group}-keys`].map((topic) => ({ ...warning, topic })))
  })
})

function log(): readonly string[] {
  return ['--bootstrap', kafka.address.bootstrap]
}

function nameOf(what: string): string {
  return `storage-topics-${what}-${process.pid}`
}

async function openTestBrokerOn(bootstrap: string): Promise<Broker> {
  const address = { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } } as const
  const broker = await openBroker(address, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  return broker
}
