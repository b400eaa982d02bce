import { describe, expect, it } from 'vitest'
import type { Broker, Consumer, ConsumerOptions } from '../../src/broker/broker.ts'
import { poll } from '../support/concurrent-tests.ts'
import type { OpenBroker } from './broker.ts'
import { newTopic, opened, pollAll, records, uniqueName, valuesOf } from './broker-support.ts'

/** Longer than a test may take, so that a test that waits for the end of a session fails. */
const SESSION_TIMEOUT_MS = 1_200_000
const SILENT = { sessionTimeoutMs: SESSION_TIMEOUT_MS, heartbeatMs: 50_000 }
const QUICK = { sessionTimeoutMs: SESSION_TIMEOUT_MS, heartbeatMs: 200 }

export function describeStaticMembers(open: OpenBroker): void {
  describe('consumer with an instance id', () => {
    it('immediately replaces a consumer that ended without leaving, and continues at its committed offsets', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      await (await broker.producer()).send(records(topic, ['a', 'b']))
      const options = { groupId: uniqueName('group'), instanceId: 'one', topics: [topic], ...SILENT }
      const vanished = await broker.consumer(options)
      expect(await valuesOf(vanished, 2)).toEqual(['a', 'b'])
      await vanished.commit([{ topic, partition: 0, offset: 1 }])
      expect(await valuesOf(await broker.consumer(options), 1)).toEqual(['b'])
    })

    it('is fenced when another consumer replaces it, and does not affect the new one', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const groupId = uniqueName('group')
      const lost: number[] = []
      const options: ConsumerOptions = { groupId, instanceId: 'one', topics: [topic], ...QUICK }
      const older = await broker.consumer({
        ...options,
        rebalance: { onLost: (partitions) => void lost.push(partitions.length) },
      })
      await pollAll([older], () => older.assignment().length === 1)
      const newer = await broker.consumer(options)
      await pollAll([newer], () => newer.assignment().length === 1)
      const offsets = [{ topic, partition: 0, offset: 7 }]
      await expect(older.commit(offsets)).rejects.toMatchObject({ code: 'fenced', retriable: false })
      await expect(pollAll([older], () => false)).rejects.toMatchObject({ code: 'fenced' })
      expect(lost).toEqual([1])
      await expect(older.commit(offsets)).rejects.toMatchObject({ code: 'fenced' })
      await older.close()
      expect((await broker.groups.describe(groupId)).members).toMatchObject([
        { memberId: newer.member().memberId, instanceId: 'one' },
      ])
      await newer.commit(offsets)
      expect(await broker.groups.offsets(groupId)).toEqual(offsets)
    })

    it('also replaces another one in transactions', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const options = { groupId: uniqueName('group'), instanceId: 'one', topics: [topic], ...SILENT }
      const older = await broker.consumer(options)
      await pollAll([older], () => older.assignment().length === 1)
      const member = older.member()
      const newer = await broker.consumer(options)
      await pollAll([newer], () => newer.assignment().length === 1)
      const producer = await broker.producer({ transactionalId: uniqueName('transaction') })
      producer.begin()
      await producer.send(records(topic, ['a']))
      const offsets = [{ topic, partition: 0, offset: 7 }]
      const sending = producer.sendOffsets(options.groupId, offsets, member)
      await expect(sending).rejects.toMatchObject({ code: 'unknown_member' })
      await producer.abort()
      producer.begin()
      await producer.sendOffsets(options.groupId, offsets, newer.member())
      await producer.commit()
      await poll(() => newer.committed(offsets)).toMatchObject(offsets)
    })

    it('leaves its group when it is closed', async () => {
      const { both, one, other } = await pair(await opened(open))
      await other.close()
      await pollAll([one], () => one.assignment().length === both)
    })

    it('rejoins without a rebalance of the other members, as leader and as follower', async () => {
      const broker = await opened(open)
      const { events, openReplacement, one, other } = await pair(broker)
      const before = events.length
      for (const [name, was] of [
        ['a', one],
        ['b', other],
      ] as const) {
        const back = await openReplacement(name)
        await pollAll([back], () => back.assignment().length === was.assignment().length)
        expect(back.assignment()).toEqual(was.assignment())
      }
      expect(events.slice(before)).toEqual(['a+2', 'b+2'])
    })

    it('is assigned the partitions that were added during its absence', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const options = { groupId: uniqueName('group'), instanceId: 'one', topics: [topic], ...SILENT }
      const vanished = await broker.consumer(options)
      await pollAll([vanished], () => vanished.assignment().length === 1)
      await broker.topics.addPartitions(topic, 3)
      const back = await broker.consumer(options)
      await pollAll([back], () => back.assignment().length === 3)
    })
  })
}

/** Two static members of a group with two partitions each. `openReplacement` opens one with the same instance id. */
async function pair(broker: Broker) {
  const both = 4
  const topic = await newTopic(broker, { partitions: both })
  const groupId = uniqueName('group')
  const events: string[] = []
  const openReplacement = (name: string): Promise<Consumer> =>
    broker.consumer({
      groupId,
      instanceId: name,
      topics: [topic],
      ...QUICK,
      rebalance: {
        onAssigned: (partitions) => void events.push(`${name}+${partitions.length}`),
        onRevoked: (partitions) => void events.push(`${name}-${partitions.length}`),
        onLost: () => undefined,
      },
    })
  const one = await openReplacement('a')
  let other: Consumer | undefined
  const joining = openReplacement('b').then((joined) => {
    other = joined
  })
  await pollAll([one], () => other !== undefined)
  await joining
  const members = [one, other!]
  await pollAll(members, () => members.every((member) => member.assignment().length === both / 2))
  return { both, events, openReplacement, one, other: other! }
}
