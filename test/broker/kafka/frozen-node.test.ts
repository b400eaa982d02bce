import { expect, it, onTestFinished } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../../src/broker/broker-client.ts'
import { openStateTopic } from '../../../src/broker/state-topic/state-topic.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { PING, scriptedCluster } from '../../support/scripted-cluster.ts'
import { watched } from '../../support/watched.ts'

const GROUP = { type: 0, key: 'g', rights: {} }

/** A node that has accepted a connection and no longer responds: calls neither succeed nor fail. */
it('a call ends when another node reports that its node has left the cluster, long before request.timeout.ms', async () => {
  const { cluster, clock, nodes, leave } = scriptedCluster(3)
  await cluster.metadata([])
  nodes.get(1)!.isFrozen = true
  const call = watched(cluster.onNode(1, PING, undefined))
  await clock.advance(8_000)
  expect(call.outcome).toBeUndefined()
  leave(1)
  await clock.advance(4_000)
  expect(call.outcome).toMatchObject({ code: 'unavailable', message: 'node-1:1 left the cluster before it answered' })
})

it('a long poll uses no connection that was open when its node did not answer another call', async () => {
  const { cluster, clock, nodes, script } = scriptedCluster(1, { 'request.timeout.ms': '5000' })
  const poll = () => watched(cluster.onNodeLongPoll(1, PING, undefined, { waitMs: 60_000 }))
  await cluster.metadata([])
  poll()
  await clock.advance(0)
  nodes.get(1)!.deadConnections = script.connections.length
  const call = watched(cluster.onNode(1, PING, undefined))
  await clock.advance(3_000)
  const whileOverdue = poll()
  await clock.advance(0)
  expect(whileOverdue.outcome).toBe('pong')
  nodes.get(1)!.deadConnections = script.connections.length
  await clock.advance(2_000)
  expect(call.outcome).toMatchObject({ code: 'timeout' })
  const afterTimeout = poll()
  await clock.advance(0)
  expect(afterTimeout.outcome).toBe('pong')
})

it('a coordinator that freezes is replaced as soon as the cluster has another one', async () => {
  const { cluster, clock, nodes, leave, setCoordinator } = scriptedCluster(3)
  setCoordinator(1)
  await cluster.metadata([])
  const heartbeat = () =>
    cluster.withCoordinator(GROUP, async (node) => [node, await cluster.onNode(node, PING, undefined)])
  expect(await heartbeat()).toEqual([1, 'pong'])
  nodes.get(1)!.isFrozen = true
  const call = watched(heartbeat())
  await clock.advance(9_000)
  setCoordinator(2)
  leave(1)
  await clock.advance(4_000)
  expect(call.outcome).toEqual([2, 'pong'])
})

it('metadata is requested from a node that responds, while another one owes an answer', async () => {
  const { cluster, clock, nodes } = scriptedCluster(3)
  await cluster.metadata([])
  nodes.get(1)!.isFrozen = true
  watched(cluster.onNode(1, PING, undefined))
  await clock.advance(2_000)
  const found = watched(cluster.metadata([]))
  await clock.advance(0)
  expect(found.outcome).toMatchObject({ clusterId: 'c' })
})

it('a call of the only node waits for request.timeout.ms, and the whole call for default.api.timeout.ms', async () => {
  const { cluster, clock, nodes } = scriptedCluster(1, {
    'request.timeout.ms': '5000',
    'default.api.timeout.ms': '12000',
  })
  await cluster.metadata([])
  nodes.get(1)!.isFrozen = true
  const one = watched(cluster.onNode(1, PING, undefined))
  const whole = watched(cluster.withCoordinator(GROUP, (node) => cluster.onNode(node, PING, undefined)))
  await clock.advance(5_000)
  expect(one.outcome).toMatchObject({ code: 'timeout' })
  expect(whole.outcome).toBeUndefined()
  await clock.advance(7_000)
  expect(whole.outcome).toMatchObject({ code: 'timeout', message: 'no response of the brokers within 12000 ms' })
})

it('a write to a state topic fails after its timeout, although the broker never responds', async () => {
  const clock = new FakeClock()
  const log = frozenLog()
  const broker = createBrokerClient(log.backend, {
    logger: silentLogger(),
    clock,
    address: () => Promise.reject(new Error('none')),
  })
  const topic = await openStateTopic({
    broker,
    clock,
    logger: silentLogger(),
    topic: { name: 't', partitions: 1 },
    skipValidation: true,
    appendTimeoutMs: 5_000,
    decode: () => undefined,
    apply: () => undefined,
  })
  const write = watched(topic.append([{ key: Buffer.from('k'), value: Buffer.from('v') }]))
  await clock.advance(4_999)
  expect(write.outcome).toBeUndefined()
  await clock.advance(1)
  expect(write.outcome).toMatchObject({ code: 'timeout', message: expect.stringContaining('5000 ms') })
  onTestFinished(() => log.thaw())
})

it.each([
  ['a request that nobody answers', 'produce'],
  ['metadata that nobody sends after a rejection', 'metadata'],
] as const)('delivery.timeout.ms limits a record also during %s', async (_, frozen) => {
  const clock = new FakeClock()
  const log = frozenLog(frozen)
  const broker = createBrokerClient(log.backend, {
    logger: silentLogger(),
    clock,
    address: () => Promise.reject(new Error('none')),
  })
  const producer = await broker.producer({ deliveryTimeoutMs: 5_000 })
  const sending = watched(producer.send([{ topic: 't', key: null, value: Buffer.from('v') }]))
  await clock.advance(4_000)
  expect(sending.outcome).toBeUndefined()
  await clock.advance(2_000)
  expect(sending.outcome).toMatchObject({ code: 'timeout' })
  onTestFinished(() => log.thaw())
})

it('max.block.ms limits the wait of a send for metadata, and for memory', async () => {
  const clock = new FakeClock()
  const log = frozenLog()
  const broker = createBrokerClient(log.backend, {
    logger: silentLogger(),
    clock,
    address: () => Promise.reject(new Error('none')),
  })
  const record = { topic: 't', key: null, value: Buffer.alloc(100) }
  const producer = await broker.producer({ maxBlockMs: 6_000, bufferBytesMax: 150 })
  const first = watched(producer.send([record]))
  const second = watched(producer.send([record]))
  await clock.advance(6_000)
  expect([first.outcome, second.outcome]).toMatchObject([
    undefined,
    { code: 'timeout', message: expect.stringContaining('max.block.ms') },
  ])
  onTestFinished(() => log.thaw())
})

/** A broker with one empty topic, which never answers what is written to it. */
function frozenLog(frozen: 'produce' | 'metadata' = 'produce') {
  const never = Promise.withResolvers<never>()
  let metadataCalls = 0
  const backend = {
    createTopic: async () => true,
    topicId: async () => 'id',
    metadata: () =>
      frozen === 'metadata' && metadataCalls++ > 0
        ? never.promise
        : Promise.resolve([{ topic: 't', internal: false, partitions: [{ partition: 0, leader: 0, replicas: 1 }] }]),
    listOffsets: async () => [{ topic: 't', partition: 0, offset: 0 }],
    initProducer: async () => ({ producerId: 1n, epoch: 0 }),
    fetch: () => never.promise,
    produce: () =>
      frozen === 'produce'
        ? never.promise
        : Promise.resolve([
            { topic: 't', partition: 0, baseOffset: -1, error: { code: 'not_leader', message: 'moved' } },
          ]),
    close: async () => undefined,
  } as unknown as BrokerBackend
  never.promise.catch(() => undefined)
  return { backend, thaw: () => never.reject(new Error('thawed')) }
}
