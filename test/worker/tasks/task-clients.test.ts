import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { TaskClients } from '../../../src/worker/tasks/task-clients.ts'
import { taskSpec } from '../../support/task.ts'
import { openTestBroker } from '../../support/topic.ts'

/** Opens a topic of a cluster with these servers, for a connector whose consumers have the servers `kafka-0:9092,kafka-1:9092`. */
async function openTopic(bootstrapServers: string, config: RawConfig = {}) {
  const embedded = await openTestBroker('signals')
  const withServers = (servers: string) => ({
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
    log: silentLogger(),
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
