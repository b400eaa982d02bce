import { describe, expect, it } from 'vitest'
import type {
  Broker,
  Consumer,
  ConsumerOptions,
  Generation,
  GroupProtocol,
  JoinedMember,
} from '../../src/broker/broker.ts'
import { poll } from '../support/concurrent-tests.ts'
import type { OpenBroker } from './broker.ts'
import { bytes, newTopic, opened, pollAll, records, uniqueName, valuesOf } from './broker-support.ts'

const QUICK = { sessionTimeoutMs: 6_000, heartbeatMs: 200 }

export function describeGroups(open: OpenBroker): void {
  describe('consumer', () => {
    it('continues at the committed offset of its group', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      await (await broker.producer()).send(records(topic, ['a', 'b', 'c']))
      const groupId = uniqueName('group')
      const first = await broker.consumer({ groupId, topics: [topic], ...QUICK })
      expect(await valuesOf(first, 3)).toEqual(['a', 'b', 'c'])
      await first.commit([{ topic, partition: 0, offset: 2, metadata: 'note' }])
      expect(await first.committed([{ topic, partition: 0 }])).toMatchObject([{ offset: 2 }])
      await first.close()
      expect(await broker.groups.offsets(groupId)).toEqual([{ topic, partition: 0, offset: 2, metadata: 'note' }])
      const second = await broker.consumer({ groupId, topics: [topic], ...QUICK })
      expect(await valuesOf(second, 1)).toEqual(['c'])
    })

    it('shares partitions with new members, takes over those of members that leave, and is notified before', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker, { partitions: 4 })
      const groupId = uniqueName('group')
      const events: string[] = []
      const member = (name: string): ConsumerOptions => ({
        groupId,
        topics: [topic],
        ...QUICK,
        rebalance: {
          onAssigned: (partitions) => void events.push(`${name}+${partitions.length}`),
          onRevoked: (partitions) => void events.push(`${name}-${partitions.length}`),
        },
      })
      const first = await broker.consumer(member('a'))
      await pollAll([first], () => first.assignment().length === 4)
      const joining = broker.consumer(member('b'))
      let second: Consumer | undefined
      void joining.then((joined) => {
        second = joined
      })
      await pollAll([first], () => second !== undefined)
      const both = [first, second!]
      await pollAll(both, () => both.every((one) => one.assignment().length === 2))
      const all = both.flatMap((one) => one.assignment().map(({ partition }) => partition)).sort()
      expect(all).toEqual([0, 1, 2, 3])
      await second!.close()
      await pollAll([first], () => first.assignment().length === 4)
      expect(events.slice(0, 2)).toEqual(['a+4', 'a-4'])
      expect(events.slice(2, 4).sort()).toEqual(['a+2', 'b+2'])
      expect(events.slice(4)).toEqual(['b-2', 'a-2', 'a+4'])
    })

    it('pauses, resumes and seeks its partitions', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      await (await broker.producer()).send(records(topic, ['a', 'b']))
      const consumer = await broker.consumer({ groupId: uniqueName('group'), topics: [topic], ...QUICK })
      expect(await valuesOf(consumer, 2)).toEqual(['a', 'b'])
      const here = [{ topic, partition: 0 }]
      consumer.pause(here)
      consumer.seek([{ topic, partition: 0, offset: 1 }])
      expect((await consumer.poll(300)).flatMap(({ records: got }) => got)).toEqual([])
      consumer.resume(here)
      expect(await valuesOf(consumer, 1)).toEqual(['b'])
    })

    it('subscribes to topics by a regular expression', async () => {
      const broker = await opened(open)
      const prefix = uniqueName('kind')
      const [one, other] = [
        await newTopic(broker, { name: `${prefix}.one` }),
        await newTopic(broker, { name: `${prefix}.other` }),
      ]
      await newTopic(broker, { name: `not.${prefix}.one` })
      const producer = await broker.producer()
      await producer.send([...records(one, ['1']), ...records(other, ['2'])])
      const consumer = await broker.consumer({
        groupId: uniqueName('group'),
        topics: (name) => name.startsWith(`${prefix}.`),
        ...QUICK,
      })
      expect((await valuesOf(consumer, 2)).sort()).toEqual(['1', '2'])
      expect(
        consumer
          .assignment()
          .map(({ topic }) => topic)
          .sort(),
      ).toEqual([one, other])
    })

    it('starts at the end with `startAt: latest`', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer()
      await producer.send(records(topic, ['old']))
      const consumer = await broker.consumer({
        groupId: uniqueName('group'),
        topics: [topic],
        startAt: 'latest',
        ...QUICK,
      })
      await pollAll([consumer], () => consumer.assignment().length === 1)
      await producer.send(records(topic, ['new']))
      expect(await valuesOf(consumer, 1)).toEqual(['new'])
    })

    it('starts at the first record of a duration with `startAt: {sinceMs}`, and at the end if there is none', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer()
      const at = (value: string, agoMs: number) => ({
        topic,
        key: null,
        value: Buffer.from(value),
        timestampMs: Date.now() - agoMs,
      })
      await producer.send([at('old', 7_200_000), at('recent', 1_800_000)])
      const consumerSince = (sinceMs: number) =>
        broker.consumer({ groupId: uniqueName('group'), topics: [topic], startAt: { sinceMs }, ...QUICK })
      expect(await valuesOf(await consumerSince(3_600_000), 1)).toEqual(['recent'])
      const atEnd = await consumerSince(60_000)
      await pollAll([atEnd], () => atEnd.assignment().length === 1)
      await producer.send([at('new', 0)])
      expect(await valuesOf(atEnd, 1)).toEqual(['new'])
    })

    it('is denied commits for partitions of another member', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const groupId = uniqueName('group')
      const consumer = await broker.consumer({ groupId, topics: [topic], ...QUICK })
      await pollAll([consumer], () => consumer.assignment().length === 1)
      await expect(broker.groups.setOffsets(groupId, [{ topic, partition: 0, offset: 1 }])).rejects.toMatchObject({
        retriable: false,
      })
      await consumer.close()
      await broker.groups.setOffsets(groupId, [{ topic, partition: 0, offset: 1 }])
      expect(await broker.groups.offsets(groupId)).toEqual([{ topic, partition: 0, offset: 1 }])
    })
  })

  describe('consumer group', () => {
    it('is listed, described, and deleted when it is empty', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const groupId = uniqueName('group')
      const consumer = await broker.consumer({ groupId, topics: [topic], clientId: 'me', ...QUICK })
      await pollAll([consumer], () => consumer.assignment().length === 1)
      expect(await broker.groups.list()).toContainEqual({ groupId, protocolType: 'consumer' })
      const found = await broker.groups.describe(groupId)
      expect(found).toMatchObject({
        groupId,
        state: 'stable',
        protocolType: 'consumer',
        protocol: 'range',
        members: [{ clientId: 'me' }],
      })
      await expect(broker.groups.delete(groupId)).rejects.toMatchObject({ code: 'group_not_empty' })
      await consumer.commit([{ topic, partition: 0, offset: 5 }])
      await consumer.close()
      expect(await broker.groups.describe(groupId)).toMatchObject({ state: 'empty', members: [] })
      await broker.groups.deleteOffsets(groupId, [{ topic, partition: 0 }])
      expect(await broker.groups.offsets(groupId)).toEqual([])
      await broker.groups.setOffsets(groupId, [{ topic, partition: 0, offset: 2 }])
      await broker.groups.delete(groupId)
      expect(await broker.groups.describe(groupId)).toMatchObject({ state: 'dead', members: [] })
    })
  })

  describe('member with a custom group protocol', () => {
    it('joins, and the leader assigns the work', async () => {
      const [one, other] = [await opened(open), await opened(open)]
      const groupId = uniqueName('election')
      const a = watched('a')
      const first = await join(one, groupId, a)
      expect(a.seen.at(-1)).toMatchObject({ leaderId: first.memberId, memberId: first.memberId, protocol: 'v0' })
      expect(textAssigned(a)).toBe('a of a')
      const b = watched('b')
      const second = await join(other, groupId, b)
      await poll(() => [textAssigned(a), textAssigned(b)]).toEqual(['a of a,b', 'b of a,b'])
      expect(a.revoked).toBeGreaterThan(0)
      expect(a.seen.at(-1)?.generation).toBe(b.seen.at(-1)?.generation)
      expect(first.validUntilMs()).toBeGreaterThan(performance.now())
      expect(await one.groups.describe(groupId)).toMatchObject({ protocolType: 'election', state: 'stable' })
      await first.close()
      expect(first.validUntilMs()).toBe(0)
      await poll(() => textAssigned(b)).toBe('b of b')
      expect(b.seen.at(-1)?.leaderId).toBe(second.memberId)
    })

    it('triggers a rebalance on request', async () => {
      const broker = await opened(open)
      const a = watched('a')
      const member = await join(broker, uniqueName('election'), a)
      const before = a.seen.length
      member.rejoin('to see')
      await poll(() => a.seen.length).toBeGreaterThan(before)
    })

    it('is rejected by a group with another protocol', async () => {
      const broker = await opened(open)
      const groupId = uniqueName('election')
      await join(broker, groupId, watched('a'))
      const topic = await newTopic(broker)
      await expect(broker.consumer({ groupId, topics: [topic], ...QUICK })).rejects.toMatchObject({
        code: 'inconsistent_group',
      })
    })
  })
}

type Watched = { readonly protocol: GroupProtocol; readonly seen: Generation[]; revoked: number }

function watched(name: string): Watched {
  const seen: Generation[] = []
  const watch: Watched = {
    seen,
    revoked: 0,
    protocol: {
      protocols: () => [{ name: 'v0', metadata: bytes(name) }],
      assign: (_, members) => shares(members),
      onRevoked: () => {
        watch.revoked += 1
      },
      onJoined: (generation) => void seen.push(generation),
    },
  }
  return watch
}

function shares(members: readonly JoinedMember[]): ReadonlyMap<string, Uint8Array> {
  const names = members.map(({ metadata }) => Buffer.from(metadata).toString()).sort()
  return new Map(members.map(({ memberId, metadata }) => [memberId, bytes(`${Buffer.from(metadata)} of ${names}`)]))
}

function textAssigned({ seen }: Watched): string {
  return Buffer.from(seen.at(-1)?.assignment ?? []).toString()
}

function join(broker: Broker, groupId: string, { protocol }: Watched) {
  return broker.joinGroup({ groupId, protocolType: 'election', protocol, ...QUICK })
}
