import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { createBackend } from '../../../src/broker/kafka/kafka-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { scriptedCluster } from '../../support/scripted-cluster.ts'
import { watched } from '../../support/watched.ts'

/** The limits of AbstractCoordinator in Kafka's Java client. */

const JOIN = {
  groupId: 'g',
  protocolType: 'consumer',
  protocols: [],
  sessionTimeoutMs: 45_000,
  rebalanceTimeoutMs: 300_000,
  memberId: '',
}
const MEMBER = { groupId: 'g', generation: 1, memberId: 'm' }

it('SyncGroup waits for request.timeout.ms, so that the member joins again soon when the response is lost', async () => {
  const { backend, clock, nodes } = await onOneNode()
  nodes.get(1)!.isFrozen = true
  const sync = watched(backend.syncGroup({ ...MEMBER, assignments: [] }))
  await clock.advance(29_999)
  expect(sync.outcome).toBeUndefined()
  await clock.advance(1)
  expect(sync.outcome).toMatchObject({ code: 'timeout' })
})

it('SyncGroup is sent again when its connection ends, because the coordinator answers with the same assignment', async () => {
  const { backend, clock, nodes } = await onOneNode()
  nodes.get(1)!.isDown = true
  const sync = watched(backend.syncGroup({ ...MEMBER, assignments: [] }))
  await clock.advance(20_000)
  expect(sync.outcome).toBeUndefined()
  nodes.get(1)!.isDown = false
  await clock.advance(2_000)
  expect(sync.outcome).toBe('pong')
})

it.each([
  ['five seconds more than a long rebalance timeout', 300_000, 305_000],
  ['request.timeout.ms, if the rebalance timeout is short', 6_000, 30_000],
])('JoinGroup waits for %s', async (_, rebalanceTimeoutMs, waitsMs) => {
  const { backend, clock, nodes, script } = await onOneNode()
  nodes.get(1)!.isFrozen = true
  const before = script.timeouts.length
  const join = watched(backend.joinGroup({ ...JOIN, rebalanceTimeoutMs }))
  await clock.advance(waitsMs)
  expect(script.timeouts[before]).toBe(`JoinGroup after ${waitsMs} ms`)
  await clock.advance(400_000)
  expect(join.outcome).toMatchObject({ code: 'timeout' })
})

it('JoinGroup is repeated with the member id that the coordinator has assigned, so that no other member stays in the group', async () => {
  const { backend, clock, script } = await onOneNode()
  const memberIds: string[] = []
  script.answer = (_, request) => {
    const { memberId } = request as typeof JOIN
    memberIds.push(memberId)
    if (memberId === '') return { needsMemberId: true, memberId: `m${memberIds.length}` }
    if (memberIds.length === 2) throw new BrokerError('coordinator_moved', 'NOT_COORDINATOR')
    return { needsMemberId: false, memberId }
  }
  const join = watched(backend.joinGroup(JOIN))
  await clock.advance(1_000)
  expect(join.outcome).toMatchObject({ memberId: 'm1' })
  expect(memberIds).toEqual(['', 'm1', 'm1'])
})

it('a heartbeat, and leaving the group, wait for request.timeout.ms', async () => {
  const { backend, clock, nodes } = await onOneNode()
  nodes.get(1)!.isFrozen = true
  const calls = [backend.heartbeat(MEMBER), backend.leaveGroup(MEMBER)].map(watched)
  await clock.advance(29_999)
  expect(calls.map(({ outcome }) => outcome)).toEqual([undefined, undefined])
  await clock.advance(1)
  for (const { outcome } of calls) expect(outcome).toMatchObject({ code: 'timeout' })
})

async function onOneNode() {
  const { cluster, ...rest } = scriptedCluster(1)
  await cluster.metadata([])
  const backend = createBackend(cluster, 'c', silentLogger())
  // Finds the coordinator.
  await backend.heartbeat(MEMBER)
  return { ...rest, backend }
}
