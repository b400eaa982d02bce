import { describe, expect, it, vi } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import {
  openStateTopic,
  type StateTopic,
  type StateTopicOptions,
  type UnreadableRecord,
} from '../../src/broker/state-topic/state-topic.ts'
import type { StateProgress } from '../../src/broker/state-topic/state-topic-checks.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { poll, whenTestEnds } from '../support/concurrent-tests.ts'
import { hurriedClock, lateHurriedClock } from '../support/hurried-clock.ts'
import type { OpenBroker } from './broker.ts'
import { bytes, newTopic, opened, records, uniqueName } from './broker-support.ts'

const WHILE_MS = 120_000

const STATE = { partitions: 1, replicationFactor: 1, configs: { 'cleanup.policy': 'compact' } }

type View = {
  readonly state: StateTopic
  readonly map: ReadonlyMap<string, string>
  readonly unreadable: readonly UnreadableRecord[]
}

type Options = StateTopicOptions<readonly [key: string, value: string | null]>

async function view(broker: Broker, name: string, more: Partial<Options> = {}): Promise<View> {
  const map = new Map<string, string>()
  const unreadable: UnreadableRecord[] = []
  const state = await openStateTopic({
    broker,
    logger: silentLogger(),
    topic: { name, partitions: 1, replicationFactor: 1 },
    decode: ({ key, value }) => {
      if (String(key) === 'bad') throw new SyntaxError('no JSON')
      return [String(key), value && String(value)] as const
    },
    apply: ([key, value]) => {
      if (value === null) map.delete(key)
      else map.set(key, value)
    },
    onUnreadable: (record) => unreadable.push(record),
    ...more,
  })
  whenTestEnds(() => state.close())
  return { state, map, unreadable }
}

const set = (key: string, value: string | null) => ({ key: bytes(key), value: value === null ? null : bytes(value) })

export function describeState(open: OpenBroker): void {
  describe('state topic', () => {
    it('is created with compaction if it is missing, and read to its end when it is opened', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const first = await view(broker, name)
      expect((await broker.topics.configs(name))['cleanup.policy']).toBe('compact')
      await first.state.append([set('a', '1'), set('b', '2'), set('a', null)])
      expect([...first.map]).toEqual([['b', '2']])
      const second = await view(broker, name)
      expect([...second.map]).toEqual([['b', '2']])
    })

    it('reads its own writes and those of others', async () => {
      const [one, other] = [await opened(open), await opened(open)]
      const name = uniqueName('state')
      const [ownView, otherView] = [await view(one, name), await view(other, name)]
      for (let at = 0; at < 20; at++) {
        await ownView.state.append([set('k', String(at))])
        expect(ownView.map.get('k')).toBe(String(at))
      }
      await otherView.state.readToEnd()
      expect(otherView.map.get('k')).toBe('19')
    })

    it('reports unreadable records with their position and continues', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const { state, map, unreadable } = await view(broker, name)
      await state.append([set('a', '1'), set('bad', 'x'), set('b', '2')])
      expect([...map.keys()]).toEqual(['a', 'b'])
      expect(unreadable).toMatchObject([{ topic: name, partition: 0, offset: 1, error: { message: 'no JSON' } }])
    })

    it('skips the control records of transactions', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      const { state, map } = await view(broker, name)
      producer.begin()
      await state.append([set('never', '1')], producer)
      await producer.abort()
      producer.begin()
      await state.append([set('a', '1'), set('b', '1')], producer)
      await producer.commit()
      await state.readToEnd()
      expect([...map.keys()]).toEqual(['a', 'b'])
      expect((await view(broker, name)).map.size).toBe(2)
    })

    it('readToEnd waits for the records of an open transaction', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      const { state, map } = await view(broker, name)
      producer.begin()
      await state.append([set('a', '1')], producer)
      const seen = state.readToEnd().then(() => [...map.keys()])
      await producer.commit()
      expect(await seen).toEqual(['a'])
    })

    it('opens before an open transaction with openTo=stable, and reads its records after the commit', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      const { state } = await view(broker, name)
      await state.append([set('a', '1')])
      producer.begin()
      await state.append([set('b', '1')], producer)
      await expect(view(broker, name, { openTimeoutMs: 500 })).rejects.toMatchObject({ code: 'transaction_open' })
      const { state: early, map } = await view(broker, name, { openTo: 'stable' })
      expect([...map.keys()]).toEqual(['a'])
      await producer.commit()
      await early.readToEnd()
      expect([...map.keys()]).toEqual(['a', 'b'])
    })

    it('names the open transaction that blocks it and the command that aborts it, and continues after the abort', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      const { state, map } = await view(broker, name, { appendTimeoutMs: 1_500 })
      await state.append([set('a', '1')])
      producer.begin()
      await state.append([set('b', '1')], producer)
      await expect(state.readToEnd()).rejects.toMatchObject({
        code: 'transaction_open',
        retriable: true,
        partitions: [expect.objectContaining({ topic: name, partition: 0 })],
        message: expect.stringContaining(`abort --topic ${name} --partition 0 --start-offset 1`),
      })
      await producer.abort()
      await vi.waitFor(() => state.readToEnd(), { timeout: WHILE_MS })
      expect([...map.keys()]).toEqual(['a'])
    })

    it('distributes keys over several partitions', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const wide = { topic: { name, partitions: 3, replicationFactor: 1 } }
      const { state } = await view(broker, name, wide)
      const places = await state.append(Array.from({ length: 30 }, (_, at) => set(`k${at}`, 'v')))
      expect(new Set(places.map(({ partition }) => partition)).size).toBe(3)
      expect((await view(broker, name, wide)).map.size).toBe(30)
    })

    it.each([
      [
        'another cleanup policy',
        { configs: { 'cleanup.policy': 'delete' } },
        /cleanup\.policy=delete.*exactly 'compact'/,
      ],
      [
        'more than one partition',
        { partitions: 2, configs: { 'cleanup.policy': 'compact' } },
        /has 2 partitions: it must have 1/,
      ],
    ])('rejects a topic with %s', async (_, wrong, message) => {
      const broker = await opened(open)
      const name = await newTopic(broker, wrong)
      await expect(view(broker, name)).rejects.toThrow(message)
      await (await view(broker, name, { skipValidation: true })).state.readToEnd()
    })

    it('fails and rejects writes when the topic is deleted and created again', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const failures: Error[] = []
      const { clock, hurry } = lateHurriedClock()
      const { state, map } = await view(broker, name, {
        onFailed: (error) => failures.push(error),
        clock,
      })
      await state.append([set('a', '1'), set('b', '2')])
      await broker.topics.delete(name)
      await vi.waitFor(() => broker.topics.create({ ...STATE, name }), { timeout: WHILE_MS })
      hurry()
      await poll(() => failures.length).toBe(1)
      expect(failures[0]).toMatchObject({
        code: 'log_truncated',
        message: expect.stringMatching(
          new RegExp(`${name}.*(now ends at 0|deleted and recreated).*Restore topic '${name}'`),
        ),
      })
      expect(state.failure).toBe(failures[0])
      await expect(state.append([set('c', '3')])).rejects.toBe(state.failure)
      await expect(state.readToEnd()).rejects.toBe(state.failure)
      expect([...map.keys()]).toEqual(['a', 'b'])
    })

    it('fails when the topic was created again and already has more records', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const failures: Error[] = []
      const { clock, hurry } = lateHurriedClock()
      const { state } = await view(broker, name, { onFailed: (error) => failures.push(error), clock })
      await state.append([set('a', '1')])
      await broker.topics.delete(name)
      await vi.waitFor(() => broker.topics.create({ ...STATE, name }), { timeout: WHILE_MS })
      hurry()
      const producer = await broker.producer()
      await producer.send(records(name, ['x', 'y', 'z'], { key: bytes('k') }))
      await poll(() => failures.length).toBe(1)
      expect(failures[0]).toMatchObject({ code: 'log_truncated' })
    })

    it('fails when the topic is deleted', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const failures: Error[] = []
      const { state } = await view(broker, name, { onFailed: (error) => failures.push(error), clock: hurriedClock })
      await state.append([set('a', '1')])
      await broker.topics.delete(name)
      await poll(() => failures.length).toBe(1)
      expect(failures[0]).toMatchObject({
        code: 'topic_not_found',
        message: expect.stringContaining(`topic '${name}' was deleted. Restore topic`),
      })
    })

    it('is not opened when the topic is empty or missing although there is evidence of earlier records', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const evidenceOfRecords = async () => 'somebody remembers'
      await expect(view(broker, name, { evidenceOfRecords })).rejects.toMatchObject({
        code: 'log_truncated',
        message: expect.stringContaining(`topic '${name}' does not exist, but somebody remembers: it was deleted`),
      })
      // The failed open did not create the topic.
      expect(await broker.topics.list()).not.toContain(name)
      await newTopic(broker, { ...STATE, name })
      await expect(view(broker, name, { evidenceOfRecords })).rejects.toThrow(`topic '${name}' is empty, but`)
      const { state } = await view(broker, name, { evidenceOfRecords, skipValidation: true })
      await state.append([set('a', '1')])
      expect((await view(broker, name, { evidenceOfRecords })).map.size).toBe(1)
    })

    it('stores its progress in a consumer group, and is not opened when the topic ends before it', async () => {
      const broker = await opened(open)
      const [name, groupId] = [uniqueName('state'), uniqueName('group')]
      const member = await broker.joinGroup({
        groupId,
        protocolType: 'connect',
        protocol: {
          protocols: () => [{ name: 'v0', metadata: bytes('') }],
          assign: (_, members) => new Map(members.map(({ memberId }) => [memberId, bytes('')])),
          onJoined: () => undefined,
        },
      })
      const progress: StateProgress = { read: () => broker.groups.offsets(groupId), save: (at) => member.commit(at) }
      const { state } = await view(broker, name, { progress })
      await state.append([set('a', '1'), set('b', '2')])
      const read = async () =>
        (await progress.read()).map(({ topic, partition, offset }) => ({ topic, partition, offset }))
      await vi.waitFor(async () => expect(await read()).toEqual([{ topic: name, partition: 0, offset: 2 }]), {
        timeout: WHILE_MS,
      })
      await state.close()
      expect((await view(broker, name, { progress })).map.size).toBe(2)
      const beyond: StateProgress = { ...progress, read: async () => [{ topic: name, partition: 0, offset: 3 }] }
      await expect(view(broker, name, { progress: beyond })).rejects.toMatchObject({
        code: 'log_truncated',
        message: expect.stringContaining(`${name}-0 was read up to offset 3, but now ends at 2`),
      })
      expect((await view(broker, name, { progress: beyond, skipValidation: true })).map.size).toBe(2)
      await member.close()
      await expect(member.commit([])).rejects.toMatchObject({ code: 'unknown_member' })
    })

    it('fails with the error of its listener, and does not report it as an unreadable record', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const failures: Error[] = []
      const apply = () => {
        throw new ReferenceError('nobody is there yet')
      }
      const { state, unreadable } = await view(broker, name, { apply, onFailed: (error) => failures.push(error) })
      await expect(state.append([set('a', '1')])).rejects.toThrow(
        `internal error: applying the record at offset 0 of ${name}-0 failed: nobody is there yet`,
      )
      expect(failures).toHaveLength(1)
      expect(unreadable).toEqual([])
      await expect(view(broker, name, { apply })).rejects.toThrow('internal error: applying the record')
    })

    it('reports whether a producer with a transactional id ever existed', async () => {
      const broker = await opened(open)
      const id = uniqueName('transactional')
      expect(await broker.hasTransactionalId(id)).toBe(false)
      await broker.newProducerIdentity(id)
      expect(await broker.hasTransactionalId(id)).toBe(true)
    })

    it('rejects waiting callers when it is closed', async () => {
      const broker = await opened(open)
      const { state } = await view(broker, uniqueName('state'))
      await state.close()
      await expect(state.append([set('a', '1')])).rejects.toMatchObject({ code: 'closed' })
    })
  })

  it('can be opened by a broker in another thread', async () => {
    const broker = await opened(open)
    const topic = await newTopic(broker)
    const { runInThread } = await import('./broker-thread.ts')
    const read = await runInThread(await broker.address(), topic)
    expect(read).toEqual(['from the thread'])
    await (await broker.producer()).send(records(topic, ['x']))
  })
}
