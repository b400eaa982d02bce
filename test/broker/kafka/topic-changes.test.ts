import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/error.ts'
import { KafkaCluster } from '../../../src/broker/kafka/cluster.ts'
import type { KafkaConnection } from '../../../src/broker/kafka/connection.ts'
import type { ClusterMetadata } from '../../../src/broker/kafka/log-apis.ts'
import type { KafkaApi } from '../../../src/broker/kafka/protocol.ts'
import { addPartitions, createTopic, deleteTopic } from '../../../src/broker/kafka/topic-changes.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const UNKNOWN = 3
const EXISTS = 36
const AUTHORIZATION = 29

it('has made a topic when every node shows it with a leader for each partition', async () => {
  const { nodes, cluster, clock } = twoNodes()
  const making = watched(createTopic(cluster, { name: 't', partitions: 2 }))
  await clock.advance(1_000)
  nodes[1].leaders = [1, 2]
  await clock.advance(1_000)
  nodes[2].leaders = [1, -1]
  await clock.advance(1_000)
  expect(making.isDone).toBe(false)
  nodes[2].leaders = [1, 2]
  await clock.advance(1_000)
  expect(making.isDone).toBe(true)
  expect(await making.promise).toBe(true)
})

it('waits as well for a topic that another one has just made', async () => {
  const { nodes, cluster, clock, answers } = twoNodes()
  answers['CreateTopics'] = { errorNumber: EXISTS, message: null }
  const making = watched(createTopic(cluster, { name: 't' }))
  await clock.advance(1_000)
  expect(making.isDone).toBe(false)
  nodes[1].leaders = [1]
  nodes[2].leaders = [1]
  await clock.advance(1_000)
  expect(await making.promise).toBe(false)
})

it('says what is missing when a node does not show the topic within 30 s', async () => {
  const { nodes, cluster, clock } = twoNodes()
  nodes[1].leaders = [1]
  const making = watched(createTopic(cluster, { name: 't' }))
  await clock.advance(29_000)
  expect(making.isDone).toBe(false)
  await clock.advance(2_000)
  await expect(making.promise).rejects.toMatchObject({
    retriable: true,
    message: "topic 't': not every node of the cluster has applied the change",
  })
})

it('does not wait for a node that is out of reach, nor for one that may not show the topic', async () => {
  const { nodes, cluster, clock } = twoNodes()
  nodes[1].errorNumber = AUTHORIZATION
  nodes[2].isDown = true
  const making = watched(createTopic(cluster, { name: 't' }))
  await clock.advance(0)
  expect(making.isDone).toBe(true)
})

it('has added partitions when every node shows them all', async () => {
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

it('has deleted a topic when no node shows it, or when it is clear that it was made anew', async () => {
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

/** Two nodes, each with its own view of topic `t`, which neither shows yet. */
function twoNodes() {
  const clock = new FakeClock()
  const fresh = (): Node => ({ leaders: [], errorNumber: 0, isDown: false })
  const nodes = { 1: fresh(), 2: fresh() }
  const answers: Record<string, unknown> = { CreateTopics: { errorNumber: 0, message: null } }
  const line = (id: 1 | 2): KafkaConnection => ({
    isOpen: true,
    call: async <Request, Response>({ name }: KafkaApi<Request, Response>, request: Request) => {
      if (nodes[id].isDown) throw new BrokerError('unavailable', `node ${id} is down`)
      const answer = name === 'Metadata' ? viewOf(nodes[id], request as readonly string[]) : answers[name]
      return answer as Response
    },
    close: async () => undefined,
  })
  const lines = { open: async ({ port }: { port: number }) => line(port as 1 | 2) }
  return { clock, nodes, answers, cluster: new KafkaCluster(lines, { brokers: ['kafka:1'] }, clock) }
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
