import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/error.ts'
import { KafkaCluster, SHORT_RETRY } from '../../../src/broker/kafka/cluster.ts'
import type { KafkaConnection } from '../../../src/broker/kafka/connection.ts'
import type { KafkaApi } from '../../../src/broker/kafka/protocol.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const PING: KafkaApi<void, string> = { key: 0, name: 'Ping', version: 0, write: () => undefined, read: () => '' }

it('waits for a node that is down as long as it takes to read a long log again', async () => {
  const { node, cluster, clock } = oneNode()
  await cluster.metadata([])
  node.isDown = true
  const asked = watched(cluster.withCoordinator(0, 'g', (id) => cluster.onNode(id, PING, undefined)))
  await clock.advance(55_000)
  expect(asked.outcome).toBeUndefined()
  node.isDown = false
  await clock.advance(1_000)
  expect(asked.outcome).toBe('pong')
})

it('gives up after a minute, and says what it heard last', async () => {
  const { node, cluster, clock } = oneNode()
  await cluster.metadata([])
  node.isDown = true
  const asked = watched(cluster.onController(PING, undefined))
  await clock.advance(61_000)
  expect(asked.outcome).toMatchObject({ code: 'unavailable', message: 'the node is down' })
})

it('does not wait for what its caller repeats himself', async () => {
  const { node, cluster, clock } = oneNode()
  await cluster.metadata([])
  node.isDown = true
  const asked = watched(cluster.withCoordinator(0, 'g', (id) => cluster.onNode(id, PING, undefined), SHORT_RETRY))
  await clock.advance(3_000)
  expect(asked.outcome).toMatchObject({ code: 'unavailable' })
})

it('looks for the coordinator again when it has moved, and remembers it', async () => {
  const { node, cluster, clock } = oneNode()
  const seen: number[] = []
  const use = async (id: number) => {
    seen.push(id)
    if (id !== node.coordinator) throw new BrokerError('coordinator_moved', 'it is not here')
  }
  await cluster.withCoordinator(0, 'g', use)
  node.coordinator = 2
  const asked = watched(cluster.withCoordinator(0, 'g', use))
  await clock.advance(100)
  expect(asked).toHaveProperty('outcome', undefined)
  await cluster.withCoordinator(0, 'g', use)
  expect(seen).toEqual([1, 1, 2, 2])
  expect(node.lookups).toBe(2)
})

it('opens one line to a node, and another one when that is closed, for all who wait', async () => {
  const { node, cluster } = oneNode()
  await Promise.all([cluster.metadata([]), cluster.metadata([])])
  expect(node.lines).toHaveLength(1)
  node.lines[0]!.isOpen = false
  await Promise.all([1, 2, 3].map(() => cluster.metadata([])))
  expect(node.lines).toHaveLength(2)
})

type FakeLine = { -readonly [Key in keyof KafkaConnection]: KafkaConnection[Key] }

/** Nodes 1 and 2 behind one address. */
function oneNode() {
  const clock = new FakeClock()
  const node = { isDown: false, coordinator: 1, lookups: 0, lines: [] as FakeLine[] }
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
    const line: FakeLine = {
      isOpen: true,
      call: async <Request, Response>({ name }: KafkaApi<Request, Response>) => answer(name) as Response,
      close: async () => undefined,
    }
    node.lines.push(line)
    return line
  }
  return { clock, node, cluster: new KafkaCluster({ open }, { brokers: ['kafka:1'] }, clock) }
}

/** What became of it: the value, or the error. */
function watched(promise: Promise<unknown>): { outcome?: unknown } {
  const watch: { outcome?: unknown } = {}
  const settle = (outcome: unknown) => {
    watch.outcome = outcome
  }
  promise.then(settle, settle)
  return watch
}
