import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BrokerBackend, JoinResult } from '../../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'

let backend: BrokerBackend
let clock: FakeClock

beforeEach(async () => {
  clock = new FakeClock()
  backend = await openEmbeddedBackend(':memory:', { logger: silentLogger(), clock })
  await backend.createTopic({ name: 't' })
})
afterEach(() => backend.close())

const groupId = 'g'
const text = (value: string) => Buffer.from(value)

type Wish = {
  readonly memberId?: string
  readonly instanceId?: string
  readonly protocols?: readonly string[]
  readonly type?: string
  note?: string
}

function join({ memberId = '', instanceId, ...wish }: Wish = {}): Promise<JoinResult> {
  const { protocols = ['p'], type = 'sr', note = '' } = wish
  return backend.joinGroup({
    groupId,
    protocolType: type,
    protocols: protocols.map((name) => ({ name, metadata: text(name + note) })),
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 30_000,
    memberId,
    clientId: 'client',
    ...(instanceId === undefined ? {} : { instanceId }),
  })
}

const sync = (member: JoinResult, assignments: Record<string, string> = {}) =>
  backend.syncGroup({
    groupId,
    generation: member.generation,
    memberId: member.memberId,
    assignments: Object.entries(assignments).map(([memberId, name]) => ({ memberId, assignment: text(name) })),
  })

const heartbeat = ({ generation, memberId }: JoinResult) => backend.heartbeat({ groupId, generation, memberId })

/** Two members in a stable group; the first leads. */
async function pair(): Promise<[JoinResult, JoinResult]> {
  const alone = await join()
  await sync(alone, { [alone.memberId]: 'all' })
  const joining = join()
  await expect(heartbeat(alone)).rejects.toMatchObject({ code: 'rebalance_in_progress' })
  const [leader, follower] = await Promise.all([join({ memberId: alone.memberId }), joining])
  const assignment = { [leader.memberId]: 'one', [follower.memberId]: 'two' }
  const assigned = await Promise.all([sync(leader, assignment), sync(follower)])
  expect(assigned.map(String)).toEqual(['one', 'two'])
  return [leader, follower]
}

it('completes the join of the first member immediately and makes it the leader', async () => {
  const member = await join()
  expect(member).toMatchObject({ generation: 1, leaderId: member.memberId, protocol: 'p' })
  expect(member.members).toEqual([{ memberId: member.memberId, metadata: text('p') }])
  expect(String(await sync(member, { [member.memberId]: 'x' }))).toBe('x')
  await heartbeat(member)
})

it('rebalances all members when one joins, and sends the member list to the leader only', async () => {
  const [leader, follower] = await pair()
  expect(leader.generation).toBe(2)
  expect(leader.members.map(({ memberId }) => memberId)).toEqual([leader.memberId, follower.memberId])
  expect(follower).toMatchObject({ generation: 2, leaderId: leader.memberId, members: [] })
})

it('removes a member that does not rejoin within the rebalance timeout', async () => {
  const alone = await join()
  await sync(alone, {})
  const joining = join()
  for (let second = 0; second < 29; second++) {
    await heartbeat(alone).catch(() => {})
    await clock.advance(1_000)
  }
  await clock.advance(2_000)
  const next = await joining
  expect(next.members).toHaveLength(1)
  await expect(heartbeat(alone)).rejects.toMatchObject({ code: 'unknown_member' })
})

it('removes a member after its session timeout and rebalances the others', async () => {
  const [leader, follower] = await pair()
  await clock.advance(6_000)
  await heartbeat(leader)
  await clock.advance(6_000)
  await expect(heartbeat(leader)).rejects.toMatchObject({ code: 'rebalance_in_progress' })
  await expect(heartbeat(follower)).rejects.toMatchObject({ code: 'unknown_member' })
  expect((await join({ memberId: leader.memberId })).members).toHaveLength(1)
})

it('gives a static member that returns its previous assignment without a rebalance', async () => {
  const first = await join({ instanceId: 'one' })
  await sync(first, { [first.memberId]: 'share' })
  const second = await join({ instanceId: 'one' })
  expect(second).toMatchObject({ generation: first.generation, leaderId: first.memberId, members: [] })
  expect(String(await sync(second))).toBe('share')
  await heartbeat(second)
  const old = { ...first, instanceId: 'one' }
  await expect(backend.heartbeat({ groupId, ...old })).rejects.toMatchObject({ code: 'fenced' })
  await expect(join(old)).rejects.toMatchObject({ code: 'fenced' })
  await expect(backend.leaveGroup({ groupId, ...old })).rejects.toMatchObject({ code: 'fenced' })
  await backend.leaveGroup({ groupId, ...second, instanceId: 'one' })
  expect(await backend.describeGroup({ groupId })).toMatchObject({ state: 'empty' })
})

it('rebalances when a static member returns with changed metadata', async () => {
  const first = await join({ instanceId: 'one' })
  await sync(first, { [first.memberId]: 'share' })
  const second = await join({ instanceId: 'one', note: 'new' })
  expect(second).toMatchObject({ generation: 2, leaderId: second.memberId })
  expect(second.members).toEqual([{ memberId: second.memberId, instanceId: 'one', metadata: text('pnew') }])
})

it('fences a static member that is replaced while it waits for a rebalance', async () => {
  const leader = await join({ instanceId: 'one' })
  await sync(leader, { [leader.memberId]: 'share' })
  const waiting = join({ instanceId: 'two' })
  const fenced = expect(waiting).rejects.toMatchObject({ code: 'fenced' })
  const next = join({ instanceId: 'two' })
  await fenced
  const [rejoined, second] = await Promise.all([join({ instanceId: 'one', memberId: leader.memberId }), next])
  expect(rejoined.members.map(({ memberId }) => memberId)).toEqual([leader.memberId, second.memberId])
})

it('elects another leader when the leader leaves', async () => {
  const [leader, follower] = await pair()
  await backend.leaveGroup({ groupId, memberId: leader.memberId })
  const next = await join({ memberId: follower.memberId })
  expect(next).toMatchObject({ generation: 3, leaderId: follower.memberId })
})

it('does not rebalance when a follower rejoins with unchanged metadata', async () => {
  const [leader, follower] = await pair()
  expect(await join({ memberId: follower.memberId })).toMatchObject({ generation: 2 })
  await heartbeat(leader)
})

it('rebalances when a follower rejoins with changed metadata', async () => {
  const [leader, follower] = await pair()
  const joining = join({ memberId: follower.memberId, note: 'new' })
  await expect(heartbeat(leader)).rejects.toMatchObject({ code: 'rebalance_in_progress' })
  const next = await join({ memberId: leader.memberId })
  expect(next.members.map(({ metadata }) => String(metadata))).toEqual(['p', 'pnew'])
  await joining
})

it('makes followers that wait for their assignment rejoin when the session of the leader expires', async () => {
  const alone = await join()
  await sync(alone, {})
  const joining = join()
  const leader = await join({ memberId: alone.memberId })
  const follower = await joining
  const waiting = expect(sync(follower)).rejects.toMatchObject({ code: 'rebalance_in_progress' })
  await clock.advance(11_000)
  await waiting
  expect(await join({ memberId: follower.memberId })).toMatchObject({ leaderId: follower.memberId })
  await expect(heartbeat(leader)).rejects.toMatchObject({ code: 'unknown_member' })
})

it('selects the protocol that all members support and most prefer', async () => {
  const first = await join({ protocols: ['a', 'b', 'c'] })
  await sync(first, {})
  const others = [join({ protocols: ['c', 'b'] }), join({ protocols: ['c', 'b'] })]
  const next = await join({ memberId: first.memberId, protocols: ['a', 'b', 'c'] })
  expect(next.protocol).toBe('c')
  await Promise.all(others)
})

it('rejects a member without a protocol in common with the others', async () => {
  await join()
  await expect(join({ protocols: ['other'] })).rejects.toMatchObject({ code: 'inconsistent_group' })
  await expect(join({ type: 'consumer' })).rejects.toMatchObject({ code: 'inconsistent_group' })
})

it('rejects unknown members and earlier generations', async () => {
  const [leader] = await pair()
  await expect(join({ memberId: 'nobody' })).rejects.toMatchObject({ code: 'unknown_member' })
  await expect(heartbeat({ ...leader, generation: 1 })).rejects.toMatchObject({ code: 'illegal_generation' })
})

it('accepts commits from members of the current generation only', async () => {
  const [leader] = await pair()
  const offsets = [{ topic: 't', partition: 0, offset: 5 }]
  await backend.commitOffsets({ groupId, offsets, member: leader })
  expect(await backend.groupOffsets({ groupId })).toEqual(offsets)
  const stale = backend.commitOffsets({ groupId, offsets, member: { ...leader, generation: 1 } })
  await expect(stale).rejects.toMatchObject({ code: 'illegal_generation' })
  await expect(backend.commitOffsets({ groupId, offsets })).rejects.toMatchObject({ code: 'group_not_empty' })
})

it('accepts commits without a member while the group is empty', async () => {
  const offsets = [{ topic: 't', partition: 0, offset: 5, metadata: 'by hand' }]
  await backend.commitOffsets({ groupId, offsets })
  expect(await backend.groupOffsets({ groupId, partitions: [{ topic: 't', partition: 0 }] })).toEqual(offsets)
  expect(await backend.groupOffsets({ groupId, partitions: [{ topic: 't', partition: 1 }] })).toEqual([])
})

it('describes and lists a group in each of its states', async () => {
  expect(await backend.describeGroup({ groupId })).toMatchObject({ state: 'dead', members: [] })
  const member = await join()
  expect(await backend.describeGroup({ groupId })).toMatchObject({ state: 'rebalancing' })
  await sync(member, { [member.memberId]: 'x' })
  expect(await backend.describeGroup({ groupId })).toMatchObject({
    state: 'stable',
    protocolType: 'sr',
    protocol: 'p',
    members: [{ memberId: member.memberId, clientId: 'client', metadata: text('p'), assignment: text('x') }],
  })
  await expect(backend.deleteGroup({ groupId })).rejects.toMatchObject({ code: 'group_not_empty' })
  await backend.leaveGroup({ groupId, memberId: member.memberId })
  expect(await backend.describeGroup({ groupId })).toMatchObject({ state: 'empty', protocolType: 'sr' })
  expect(await backend.listGroups()).toEqual([{ groupId, protocolType: 'sr' }])
  await backend.deleteGroup({ groupId })
  expect(await backend.listGroups()).toEqual([])
  await expect(backend.deleteGroup({ groupId })).rejects.toMatchObject({ code: 'group_not_found' })
})

it('continues the generation numbers after all members have left', async () => {
  const member = await join()
  await backend.leaveGroup({ groupId, memberId: member.memberId })
  expect((await join()).generation).toBeGreaterThan(member.generation)
})

it('deletes single offsets', async () => {
  await backend.addPartitions({ topic: 't', total: 2 })
  const offsets = [0, 1].map((partition) => ({ topic: 't', partition, offset: 5 }))
  await backend.commitOffsets({ groupId, offsets })
  await backend.deleteGroupOffsets({ groupId, partitions: [{ topic: 't', partition: 0 }] })
  expect(await backend.groupOffsets({ groupId })).toEqual([offsets[1]])
})
