import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import type { KafkaApi } from '../../../src/broker/kafka/kafka-api.ts'
import { KafkaCluster } from '../../../src/broker/kafka/kafka-cluster.ts'
import type { KafkaConnection } from '../../../src/broker/kafka/kafka-connection.ts'
import type { ClusterMetadata } from '../../../src/broker/kafka/produce-fetch-apis.ts'
import { addPartitions, createTopic, deleteTopic } from '../../../src/broker/kafka/topic-changes.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const UNKNOWN = 3
const EXISTS = 36
const AUTHORIZATION = 29

it('has created a topic when every node reports it with a leader for each partition', async () => {
  const { nodes, cluster, clock } = twoNodes()
  const creation = watched(createTopic(cluster, { name: 't', partitions: 2 }))
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
  responses['CreateTopics'] = { errorNumber: EXISTS, message: null }
  const creation = watched(createTopic(cluster, { name: 't' }))
  await clock.advance(1_000)
  expect(creation.isDone).toBe(false)
  nodes[1].leaders = [1]
  nodes[2].leaders = [1]
  await clock.advance(1_000)
  expect(await creation.promise).toBe(false)
})

it('fails when not every node reports the topic within 30 s', async () => {
  const { nodes, cluster, clock } = twoNodes()
  nodes[1].leaders = [1]
  const creation = watched(createTopic(cluster, { name: 't' }))
  await clock.advance(29_000)
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
  const creation = watched(createTopic(cluster, { name: 't' }))
  await clock.advance(0)
  expect(creation.isDone).toBe(true)
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

type Node = { leaders: readonly number[]; errorNumber: number; isDown: boolean }

/** Two nodes with separate views of topic `t`, which neither reports yet. */
function twoNodes() {
  const clock = new FakeClock()
  const fresh = (): Node => ({ leaders: [], errorNumber: 0, isDown: false })
  const nodes = { 1: fresh(), 2: fresh() }
  const responses: Record<string, unknown> = { CreateTopics: { errorNumber: 0, message: null } }
  const line = (id: 1 | 2): KafkaConnection => ({
    isOpen: true,
    call: async <Request, Response>({ name }: KafkaApi<Request, Response>, request: Request) => {
      if (nodes[id].isDown) throw new BrokerError('unavailable', `node ${id} is down`)
      const response = name === 'Metadata' ? viewOf(nodes[id], request as readonly string[]) : responses[name]
      return response as Response
    },
    close: async () => undefined,
  })
  const lines = { open: async ({ port }: { port: number }) => line(port as 1 | 2) }
  return { clock, nodes, responses, cluster: new KafkaCluster(lines, { brokers: ['kafka:1'] }, clock) }
}

function viewOf({ leaders, errorNumber }: Node, topics: readonly string[]): ClusterMetadata {
  return {
    clusterId: 'c',
    controller: 1,
    nodes: [1, 2].map((id) => ({ id, host: 'kafka', port: id })),
    topics: topics.map((topic) => ({
      topic,
      internal: false,
      errorNumber: errorNumber || (leaders.length === 0 ? UNKNOWN : 0),
      partitions: leaders.map((leader, partition) => ({ partition, leader, replicas: 1 })),
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
