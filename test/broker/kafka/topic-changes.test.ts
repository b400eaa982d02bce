import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { readClientConfig } from '../../../src/broker/kafka/client-config.ts'
import type { KafkaApi } from '../../../src/broker/kafka/kafka-api.ts'
import { KafkaCluster } from '../../../src/broker/kafka/kafka-cluster.ts'
import type { KafkaConnection } from '../../../src/broker/kafka/kafka-connection.ts'
import type { ClusterMetadata } from '../../../src/broker/kafka/produce-fetch-apis.ts'
import { ResponseErrors } from '../../../src/broker/kafka/response-errors.ts'
import { addPartitions, createTopic, deleteTopic } from '../../../src/broker/kafka/topic-changes.ts'
import { createLogger, silentLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const UNKNOWN = 3
const EXISTS = 36
const AUTHORIZATION = 29
const REPLICATION_FACTOR = 38

it('has created a topic when every node reports it with a leader for each partition', async () => {
  const { nodes, cluster, clock } = twoNodes()
  const creation = watched(createTopic(cluster, { name: 't', partitions: 2 }, silentLogger()))
  await clock.advance(1_000)
  nodes[1].leaders = [1, 2]
  await clock.advance(1_000)
  nodes[2].leaders = [1, -1]
  await clock.advance(1_000)
  expect(creation.isDone).toBe(false)
  nodes[2].leaders = [1, 2]
  await clock.advance(1_000)
  expect(creation.isDone).toBe(true)
  expect(await creation.promise).toBe(true)
})

it('also waits for a topic that another client has just created', async () => {
  const { nodes, cluster, clock, responses } = twoNodes()
  responses['CreateTopics'] = { errorNumber: EXISTS }
  const creation = watched(createTopic(cluster, { name: 't' }, silentLogger()))
  await clock.advance(1_000)
  expect(creation.isDone).toBe(false)
  nodes[1].leaders = [1]
  nodes[2].leaders = [1]
  await clock.advance(1_000)
  expect(await creation.promise).toBe(false)
})

it('fails when not every node reports the topic within default.api.timeout.ms', async () => {
  const { nodes, cluster, clock } = twoNodes()
  nodes[1].leaders = [1]
  const creation = watched(createTopic(cluster, { name: 't' }, silentLogger()))
  await clock.advance(59_000)
  expect(creation.isDone).toBe(false)
  await clock.advance(2_000)
  await expect(creation.promise).rejects.toMatchObject({
    retriable: true,
    message: "topic 't': not every node of the cluster has applied the change",
  })
})

it('does not wait for a node that is unreachable or not authorized to describe the topic', async () => {
  const { nodes, cluster, clock } = twoNodes()
  nodes[1].errorNumber = AUTHORIZATION
  nodes[2].isDown = true
  const creation = watched(createTopic(cluster, { name: 't' }, silentLogger()))
  await clock.advance(0)
  expect(creation.isDone).toBe(true)
})

it('names the setting when the cluster has fewer brokers than replicas are configured', async () => {
  const { cluster, responses } = twoNodes()
  const message = 'Unable to replicate the partition 3 time(s): only 2 broker(s) are registered.'
  responses['CreateTopics'] = responseTo(REPLICATION_FACTOR, message)
  const topic = { name: 't', replicationFactor: 3, replicationSetting: 'x.replication.factor' }
  await expect(createTopic(cluster, topic, silentLogger())).rejects.toMatchObject({
    code: 'invalid_config',
    message:
      `creating topic 't': INVALID_REPLICATION_FACTOR: ${message} ` +
      'Set x.replication.factor to at most the number of brokers, or to -1 for the default of the brokers.',
  })
})

it.each([
  ['a new topic', 0, 2, 3, [{ replicas: 2, expected: 3 }]],
  ['an existing topic', EXISTS, 1, 2, [{ replicas: 1, expected: 2 }]],
  ['a topic with as many as configured', EXISTS, 2, 2, []],
])('warns of too few replicas: %s', async (_, errorNumber, replicas, replicationFactorMax, warnings) => {
  const { nodes, cluster, responses } = twoNodes()
  responses['CreateTopics'] = responseTo(errorNumber)
  for (const node of Object.values(nodes)) Object.assign(node, { leaders: [1], replicas })
  const lines: unknown[] = []
  const logger = createLogger({ write: (line) => void lines.push(JSON.parse(line)) })
  await createTopic(cluster, { name: 't', replicationFactorMax, replicationSetting: 'x' }, logger)
  expect(lines).toMatchObject(warnings.map((warning) => ({ topic: 't', setting: 'x', ...warning })))
})

it('has added partitions when every node reports them all', async () => {
  const { nodes, cluster, clock } = twoNodes()
  nodes[1].leaders = [1, 1, 1]
  nodes[2].leaders = [1, 1]
  const adding = watched(addPartitions(cluster, { topic: 't', total: 3 }))
  await clock.advance(1_000)
  expect(adding.isDone).toBe(false)
  nodes[2].leaders = [1, 1, 1]
  await clock.advance(1_000)
  expect(adding.isDone).toBe(true)
})

it('has deleted a topic when no node reports it or its topic id has changed', async () => {
  const { nodes, cluster, clock } = twoNodes()
  nodes[2].leaders = [1]
  const deleting = watched(deleteTopic(cluster, 't'))
  await clock.advance(1_000)
  expect(deleting.isDone).toBe(false)
  nodes[2].leaders = []
  await clock.advance(1_000)
  expect(deleting.isDone).toBe(true)

  nodes[1].leaders = [1]
  const anew = watched(deleteTopic(cluster, 't'))
  await clock.advance(11_000)
  await expect(anew.promise).resolves.toBeUndefined()
})

/** The response to the creation of topic `t`. */
function responseTo(errorNumber: number, detail?: string) {
  const errors = new ResponseErrors({ topic: 'CREATE' })
  return { errorNumber, error: errors.find(errorNumber, "creating topic 't'", { topic: 't', detail }) }
}

type Node = { leaders: readonly number[]; errorNumber: number; isDown: boolean; replicas: number }

/** Two nodes with separate views of topic `t`, which neither reports yet. */
function twoNodes() {
  const clock = new FakeClock()
  const fresh = (): Node => ({ leaders: [], errorNumber: 0, isDown: false, replicas: 1 })
  const nodes = { 1: fresh(), 2: fresh() }
  const { config } = readClientConfig({ 'bootstrap.servers': 'kafka:1' })
  const responses: Record<string, unknown> = { CreateTopics: { errorNumber: 0 } }
  const line = (id: 1 | 2): KafkaConnection => ({
    isOpen: true,
    call: async <Request, Response>({ name }: KafkaApi<Request, Response>, request: Request) => {
      if (nodes[id].isDown) throw new BrokerError('unavailable', `node ${id} is down`)
      const response = name === 'Metadata' ? viewOf(nodes[id], request as readonly string[]) : responses[name]
      return response as Response
    },
    close: async () => undefined,
  })
  const connector = { open: async ({ port }: { port: number }) => line(port as 1 | 2) }
  return { clock, nodes, responses, cluster: new KafkaCluster({ connector, config, clock }) }
}

function viewOf({ leaders, errorNumber, replicas }: Node, topics: readonly string[]): ClusterMetadata {
  return {
    clusterId: 'c',
    controller: 1,
    nodes: [1, 2].map((id) => ({ id, host: 'kafka', port: id })),
    topics: topics.map((topic) => ({
      topic,
      internal: false,
      errorNumber: errorNumber || (leaders.length === 0 ? UNKNOWN : 0),
      partitions: leaders.map((leader, partition) => ({ partition, leader, replicas })),
    })),
  }
}

function watched<T>(promise: Promise<T>): { readonly promise: Promise<T>; isDone: boolean } {
  const watch = { promise, isDone: false }
  const done = () => {
    watch.isDone = true
  }
  promise.then(done, done)
  return watch
}
