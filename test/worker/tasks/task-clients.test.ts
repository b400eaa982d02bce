import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { TaskClients } from '../../../src/worker/tasks/task-clients.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { taskSpec } from '../../support/task.ts'
import { openTestBroker } from '../../support/topic.ts'
import { guardedBroker } from '../../support/topic-access.ts'

const RUNNING = {
  log: silentLogger(),
  clock: new FakeClock(),
  signal: new AbortController().signal,
  status: { setError: () => undefined },
}

/** Opens a topic of a cluster with these servers, for a connector whose consumers have the servers `kafka-0:9092,kafka-1:9092`. */
async function openTopic(bootstrapServers: string, config: RawConfig = {}) {
  const embedded = await openTestBroker('signals')
  const withServers = (servers: string) =>
    guardedBroker({
      ...embedded,
      topics: embedded.topics,
      reader: embedded.reader.bind(embedded),
      address: async () => ({ kind: 'kafka' as const, config: { 'bootstrap.servers': servers } }),
    })
  const clients = new TaskClients({
    spec: taskSpec({ class: 'Own', kind: 'source' }, config),
    broker: withServers('kafka-0:9092,kafka-1:9092'),
    connect: async (connection) => {
      const servers = connection['bootstrap.servers']
      return servers === undefined ? undefined : withServers(servers)
    },
    ...RUNNING,
  })
  const reader = await clients.topicReader({ topic: 'signals', offset: undefined, bootstrapServers })
  await reader.close()
}

it("opens a topic of the cluster of the connector's consumers only", async () => {
  await openTopic('KAFKA-1:9092, kafka-2:9092')
  await openTopic('other:9092', { 'consumer.override.bootstrap.servers': 'other:9092' })
  await expect(openTopic('other:9092')).rejects.toThrow(
    "the Kafka cluster other:9092 is not that of the connector's consumers (kafka-0:9092,kafka-1:9092): " +
      'remove the key that names it, or set consumer.override.bootstrap.servers to the same servers',
  )
})

it.each<[string, RawConfig, { readonly maxBlockMs: number; readonly missingTopicMs: number }]>([
  ['without a limit, as in Kafka Connect', {}, { maxBlockMs: 2 ** 31 - 1, missingTopicMs: 60_000 }],
  ['for max.block.ms', { 'producer.override.max.block.ms': '5000' }, { maxBlockMs: 5_000, missingTopicMs: 5_000 }],
])('lets the producer of a task wait for its brokers %s', async (_, config, waits) => {
  const embedded = await openTestBroker('lines')
  const asked: unknown[] = []
  const clients = new TaskClients({
    spec: taskSpec({ class: 'Own', kind: 'source' }, config),
    broker: guardedBroker({
      ...embedded,
      topics: embedded.topics,
      producer: (options) => {
        asked.push(options)
        return embedded.producer(options)
      },
    }),
    connect: async () => undefined,
    ...RUNNING,
  })
  await (await clients.producer()).close()
  expect(asked).toEqual([expect.objectContaining(waits)])
})

it.each(['create', 'describe'] as const)('repeats to %s a topic until the brokers can, and shows why', async (verb) => {
  const embedded = await openTestBroker('lines')
  const clock = new FakeClock()
  const shown: unknown[] = []
  const failures = [new BrokerError('timeout', 'no response of the brokers within 60000 ms')]
  const whenAvailable =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      const failure = failures.pop()
      if (failure !== undefined) throw failure
      return call(...args)
    }
  const { topics } = embedded
  const clients = new TaskClients({
    ...RUNNING,
    spec: taskSpec({ class: 'Own', kind: 'sink' }, {}),
    broker: guardedBroker({
      ...embedded,
      topics: {
        ...topics,
        create: whenAvailable((topic) => topics.create(topic)),
        describe: whenAvailable((name) => topics.describe(name)),
      },
    }),
    connect: async () => undefined,
    clock,
    status: { setError: (error) => shown.push(error) },
  })
  const admin = await clients.topics()
  const done = verb === 'create' ? admin.create({ name: 'lines' }) : admin.describe('lines')
  await clock.advance(1_000)
  await done
  expect(shown).toEqual([expect.objectContaining({ code: 'timeout' }), undefined])
})
