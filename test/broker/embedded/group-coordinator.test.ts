import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BrokerBackend, JoinResult } from '../../../src/broker/backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/backend.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'

let home: BrokerBackend
let clock: FakeClock

beforeEach(async () => {
  clock = new FakeClock()
  home = await openEmbeddedBackend(':memory:', { logger: silentLogger(), clock })
  await home.createTopic({ name: 't' })
})
afterEach(() => home.close())

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
  return home.joinGroup({
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
  home.syncGroup({
    groupId,
    generation: member.generation,
    memberId: member.memberId,
    assignments: Object.entries(assignments).map(([memberId, name]) => ({ memberId, assignment: text(name) })),
  })

const heartbeat = ({ generation, memberId }: JoinResult) => home.heartbeat({ groupId, generation, memberId })

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

it('lets a first member in at once, as its leader', async () => {
  const member = await join()
  expect(member).toMatchObject({ generation: 1, leaderId: member.memberId, protocol: 'p' })
  expect(member.members).toEqual([{ memberId: member.memberId, metadata: text('p') }])
  expect(String(await sync(member, { [member.memberId]: 'x' }))).toBe('x')
  await heartbeat(member)
})

it('asks everybody to join again when one comes, and only the leader sees all', async () => {
  const [leader, follower] = await pair()
  expect(leader.generation).toBe(2)
  expect(leader.members.map(({ memberId }) => memberId)).toEqual([leader.memberId, follower.memberId])
  expect(follower).toMatchObject({ generation: 2, leaderId: leader.memberId, members: [] })
})

it('goes on without a member that does not join again in time', async () => {
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

it('drops a member whose session is over and asks the others to join again', async () => {
  const [leader, follower] = await pair()
  await clock.advance(6_000)
  await heartbeat(leader)
  await clock.advance(6_000)
  await expect(heartbeat(leader)).rejects.toMatchObject({ code: 'rebalance_in_progress' })
  await expect(heartbeat(follower)).rejects.toMatchObject({ code: 'unknown_member' })
  expect((await join({ memberId: leader.memberId })).members).toHaveLength(1)
})

it('gives the place and the share of a member to the next one of its instance id, without a round', async () => {
  const first = await join({ instanceId: 'one' })
  await sync(first, { [first.memberId]: 'share' })
  const second = await join({ instanceId: 'one' })
  expect(second).toMatchObject({ generation: first.generation, leaderId: first.memberId, members: [] })
  expect(String(await sync(second))).toBe('share')
  await heartbeat(second)
  const old = { ...first, instanceId: 'one' }
  await expect(home.heartbeat({ groupId, ...old })).rejects.toMatchObject({ code: 'fenced' })
  await expect(join(old)).rejects.toMatchObject({ code: 'fenced' })
  await expect(home.leaveGroup({ groupId, ...old })).rejects.toMatchObject({ code: 'fenced' })
  await home.leaveGroup({ groupId, ...second, instanceId: 'one' })
  expect(await home.describeGroup({ groupId })).toMatchObject({ state: 'empty' })
})

it('starts a round when the next one of an instance id has something new to say', async () => {
  const first = await join({ instanceId: 'one' })
  await sync(first, { [first.memberId]: 'share' })
  const second = await join({ instanceId: 'one', note: 'new' })
  expect(second).toMatchObject({ generation: 2, leaderId: second.memberId })
  expect(second.members).toEqual([{ memberId: second.memberId, instanceId: 'one', metadata: text('pnew') }])
})

it('fences a member that is replaced while it waits for the round', async () => {
  const leader = await join({ instanceId: 'one' })
  await sync(leader, { [leader.memberId]: 'share' })
  const waiting = join({ instanceId: 'two' })
  const fenced = expect(waiting).rejects.toMatchObject({ code: 'fenced' })
  const next = join({ instanceId: 'two' })
  await fenced
  const [again, second] = await Promise.all([join({ instanceId: 'one', memberId: leader.memberId }), next])
  expect(again.members.map(({ memberId }) => memberId)).toEqual([leader.memberId, second.memberId])
})

it('makes another member the leader when the leader leaves', async () => {
  const [leader, follower] = await pair()
  await home.leaveGroup({ groupId, memberId: leader.memberId })
  const next = await join({ memberId: follower.memberId })
  expect(next).toMatchObject({ generation: 3, leaderId: follower.memberId })
})

it('does not disturb the others when a follower joins again as it was', async () => {
  const [leader, follower] = await pair()
  expect(await join({ memberId: follower.memberId })).toMatchObject({ generation: 2 })
  await heartbeat(leader)
})

it('starts a round when a follower has something new to say', async () => {
  const [leader, follower] = await pair()
  const joining = join({ memberId: follower.memberId, note: 'new' })
  await expect(heartbeat(leader)).rejects.toMatchObject({ code: 'rebalance_in_progress' })
  const next = await join({ memberId: leader.memberId })
  expect(next.members.map(({ metadata }) => String(metadata))).toEqual(['p', 'pnew'])
  await joining
})

it('asks followers that wait for their assignment to join again when the leader dies', async () => {
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

it('takes the protocol that all can and most like best', async () => {
  const first = await join({ protocols: ['a', 'b', 'c'] })
  await sync(first, {})
  const others = [join({ protocols: ['c', 'b'] }), join({ protocols: ['c', 'b'] })]
  const next = await join({ memberId: first.memberId, protocols: ['a', 'b', 'c'] })
  expect(next.protocol).toBe('c')
  await Promise.all(others)
})

it('refuses a member that shares no protocol with the others', async () => {
  await join()
  await expect(join({ protocols: ['other'] })).rejects.toMatchObject({ code: 'inconsistent_group' })
  await expect(join({ type: 'consumer' })).rejects.toMatchObject({ code: 'inconsistent_group' })
})

it('refuses members it does not know and generations that are over', async () => {
  const [leader] = await pair()
  await expect(join({ memberId: 'nobody' })).rejects.toMatchObject({ code: 'unknown_member' })
  await expect(heartbeat({ ...leader, generation: 1 })).rejects.toMatchObject({ code: 'illegal_generation' })
})

it('takes commits of its members only, and only of the generation that is', async () => {
  const [leader] = await pair()
  const offsets = [{ topic: 't', partition: 0, offset: 5 }]
  await home.commitOffsets({ groupId, offsets, member: leader })
  expect(await home.groupOffsets({ groupId })).toEqual(offsets)
  const stale = home.commitOffsets({ groupId, offsets, member: { ...leader, generation: 1 } })
  await expect(stale).rejects.toMatchObject({ code: 'illegal_generation' })
  await expect(home.commitOffsets({ groupId, offsets })).rejects.toMatchObject({ code: 'group_not_empty' })
})

it('takes an administrator’s commit while nobody is in the group', async () => {
  const offsets = [{ topic: 't', partition: 0, offset: 5, metadata: 'by hand' }]
  await home.commitOffsets({ groupId, offsets })
  expect(await home.groupOffsets({ groupId, partitions: [{ topic: 't', partition: 0 }] })).toEqual(offsets)
  expect(await home.groupOffsets({ groupId, partitions: [{ topic: 't', partition: 1 }] })).toEqual([])
})

it('describes and lists groups through their life', async () => {
  expect(await home.describeGroup({ groupId })).toMatchObject({ state: 'dead', members: [] })
  const member = await join()
  expect(await home.describeGroup({ groupId })).toMatchObject({ state: 'rebalancing' })
  await sync(member, { [member.memberId]: 'x' })
  expect(await home.describeGroup({ groupId })).toMatchObject({
    state: 'stable',
    protocolType: 'sr',
    protocol: 'p',
    members: [{ memberId: member.memberId, clientId: 'client', metadata: text('p'), assignment: text('x') }],
  })
  await expect(home.deleteGroup({ groupId })).rejects.toMatchObject({ code: 'group_not_empty' })
  await home.leaveGroup({ groupId, memberId: member.memberId })
  expect(await home.describeGroup({ groupId })).toMatchObject({ state: 'empty', protocolType: 'sr' })
  expect(await home.listGroups()).toEqual([{ groupId, protocolType: 'sr' }])
  await home.deleteGroup({ groupId })
  expect(await home.listGroups()).toEqual([])
  await expect(home.deleteGroup({ groupId })).rejects.toMatchObject({ code: 'group_not_found' })
})

it('counts generations on when everybody has left', async () => {
  const member = await join()
  await home.leaveGroup({ groupId, memberId: member.memberId })
  expect((await join()).generation).toBeGreaterThan(member.generation)
})

it('forgets single offsets', async () => {
  await home.addPartitions({ topic: 't', total: 2 })
  const offsets = [0, 1].map((partition) => ({ topic: 't', partition, offset: 5 }))
  await home.commitOffsets({ groupId, offsets })
  await home.deleteGroupOffsets({ groupId, partitions: [{ topic: 't', partition: 0 }] })
  expect(await home.groupOffsets({ groupId })).toEqual([offsets[1]])
})
