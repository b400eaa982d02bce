import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { readClientConfig } from '../../../src/broker/kafka/client-config.ts'
import type { KafkaApi } from '../../../src/broker/kafka/kafka-api.ts'
import { KafkaCluster } from '../../../src/broker/kafka/kafka-cluster.ts'
import type { KafkaConnection } from '../../../src/broker/kafka/kafka-connection.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const PING: KafkaApi<void, string> = {
  key: 0,
  name: 'Ping',
  version: 0,
  rights: () => ({}),
  write: () => undefined,
  read: () => '',
}
const GROUP = { type: 0, key: 'g', rights: { group: ['READ', 'g'] } } as const

it('retries an unavailable node for as long as it may need to recover its log', async () => {
  const { node, cluster, clock } = oneNode()
  await cluster.metadata([])
  node.isDown = true
  const call = watched(cluster.withCoordinator(GROUP, (id) => cluster.onNode(id, PING, undefined)))
  await clock.advance(55_000)
  expect(call.outcome).toBeUndefined()
  node.isDown = false
  await clock.advance(1_000)
  expect(call.outcome).toBe('pong')
})

it('fails after a minute with the last error', async () => {
  const { node, cluster, clock } = oneNode()
  await cluster.metadata([])
  node.isDown = true
  const call = watched(cluster.onController(PING, undefined))
  await clock.advance(61_000)
  expect(call.outcome).toMatchObject({ code: 'unavailable', message: 'the node is down' })
})

it('does not retry operations that the caller retries', async () => {
  const { node, cluster, clock } = oneNode()
  await cluster.metadata([])
  node.isDown = true
  const call = watched(cluster.withCoordinator(GROUP, (id) => cluster.onNode(id, PING, undefined), cluster.shortLimits))
  await clock.advance(3_000)
  expect(call.outcome).toMatchObject({ code: 'unavailable' })
})

it('finds a coordinator that has moved, and caches it', async () => {
  const { node, cluster, clock } = oneNode()
  const seen: number[] = []
  const use = async (id: number) => {
    seen.push(id)
    if (id !== node.coordinator) throw new BrokerError('coordinator_moved', 'it is not here')
  }
  await cluster.withCoordinator(GROUP, use)
  node.coordinator = 2
  const call = watched(cluster.withCoordinator(GROUP, use))
  await clock.advance(100)
  expect(call).toHaveProperty('outcome', undefined)
  await cluster.withCoordinator(GROUP, use)
  expect(seen).toEqual([1, 1, 2, 2])
  expect(node.lookups).toBe(2)
})

it('shares one connection to a node among all waiting callers, and opens another one when it is closed', async () => {
  const { node, cluster } = oneNode()
  await Promise.all([cluster.metadata([]), cluster.metadata([])])
  expect(node.connections).toHaveLength(1)
  node.connections[0]!.isOpen = false
  await Promise.all([1, 2, 3].map(() => cluster.metadata([])))
  expect(node.connections).toHaveLength(2)
})

type FakeConnection = { -readonly [Key in keyof KafkaConnection]: KafkaConnection[Key] }

/** Nodes 1 and 2 behind one address. */
function oneNode() {
  const clock = new FakeClock()
  const node = { isDown: false, coordinator: 1, lookups: 0, connections: [] as FakeConnection[] }
  const answer = (name: string): unknown => {
    if (node.isDown) throw new BrokerError('unavailable', 'the node is down')
    if (name === 'Ping') return 'pong'
    if (name === 'FindCoordinator') {
      node.lookups += 1
      return { errorNumber: 0, message: null, node: node.coordinator }
    }
    return { clusterId: 'c', controller: 1, nodes: [1, 2].map((id) => ({ id, host: 'kafka', port: 1 })), topics: [] }
  }
  const open = async (): Promise<KafkaConnection> => {
    const line: FakeConnection = {
      isOpen: true,
      call: async <Request, Response>({ name }: KafkaApi<Request, Response>) => answer(name) as Response,
      close: async () => undefined,
    }
    node.connections.push(line)
    return line
  }
  const { config } = readClientConfig({ 'bootstrap.servers': 'kafka:1' })
  return { clock, node, cluster: new KafkaCluster({ connector: { open }, config, clock }) }
}

/** The outcome of the promise: its value or its error; undefined while it is pending. */
function watched(promise: Promise<unknown>): { outcome?: unknown } {
  const watch: { outcome?: unknown } = {}
  const settle = (outcome: unknown) => {
    watch.outcome = outcome
  }
  promise.then(settle, settle)
  return watch
}
