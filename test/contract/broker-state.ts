import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import {
  openStateTopic,
  type StateTopic,
  type StateTopicOptions,
  type UnreadableRecord,
} from '../../src/broker/state-topic.ts'
import { silentLogger } from '../../src/config/logger.ts'
import type { OpenBroker } from './broker.ts'
import { bytes, newTopic, opened, records, uniqueName } from './broker-support.ts'

const WHILE_MS = 30_000

type View = {
  readonly state: StateTopic
  readonly map: ReadonlyMap<string, string>
  readonly unreadable: readonly UnreadableRecord[]
}

async function view(broker: Broker, name: string, more: Partial<StateTopicOptions> = {}): Promise<View> {
  const map = new Map<string, string>()
  const unreadable: UnreadableRecord[] = []
  const state = await openStateTopic({
    broker,
    logger: silentLogger(),
    topic: { name, partitions: 1, replicationFactor: 1 },
    apply: ({ key, value }) => {
      if (String(key) === 'bad') throw new SyntaxError('no JSON')
      if (value === null) map.delete(String(key))
      else map.set(String(key), String(value))
    },
    unreadable: (record) => unreadable.push(record),
    ...more,
  })
  onTestFinished(() => state.close())
  return { state, map, unreadable }
}

const set = (key: string, value: string | null) => ({ key: bytes(key), value: value === null ? null : bytes(value) })

export function describeState(open: OpenBroker): void {
  describe('a state topic', () => {
    it('is made when it is missing, compacted, and read to its end when it is opened', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const first = await view(broker, name)
      expect((await broker.topics.describe(name))?.configs['cleanup.policy']).toBe('compact')
      await first.state.append([set('a', '1'), set('b', '2'), set('a', null)])
      expect([...first.map]).toEqual([['b', '2']])
      const second = await view(broker, name)
      expect([...second.map]).toEqual([['b', '2']])
    })

    it('reads its own writes, and follows those of others', async () => {
      const [one, other] = [await opened(open), await opened(open)]
      const name = uniqueName('state')
      const [mine, theirs] = [await view(one, name), await view(other, name)]
      for (let at = 0; at < 20; at++) {
        await mine.state.append([set('k', String(at))])
        expect(mine.map.get('k')).toBe(String(at))
      }
      await theirs.state.readToEnd()
      expect(theirs.map.get('k')).toBe('19')
    })

    it('reports what it can not read with its place, and goes on', async () => {
      const broker = await opened(open)
      const name = uniqueName('state')
      const { state, map, unreadable } = await view(broker, name)
      await state.append([set('a', '1'), set('bad', 'x'), set('b', '2')])
      expect([...map.keys()]).toEqual(['a', 'b'])
      expect(unreadable).toMatchObject([{ topic: name, partition: 0, offset: 1, error: { message: 'no JSON' } }])
    })

    it('steps over what transactions leave', async () => {
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

    it('is not at its end before what a transaction wrote is in it', async () => {
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

    it('says what holds it back, and how that is ended, and goes on when it is', async () => {
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
        message: expect.stringContaining(`abort --topic ${name} --partition 0 --start-offset 1`),
      })
      await producer.abort()
      await vi.waitFor(() => state.readToEnd(), { timeout: WHILE_MS })
      expect([...map.keys()]).toEqual(['a'])
    })

    it('spreads over partitions when it has several', async () => {
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
        'more partitions than one',
        { partitions: 2, configs: { 'cleanup.policy': 'compact' } },
        /has 2 partitions: it has to have 1/,
      ],
    ])('refuses a topic with %s', async (_, wrong, message) => {
      const broker = await opened(open)
      const name = await newTopic(broker, wrong)
      await expect(view(broker, name)).rejects.toThrow(message)
      await (await view(broker, name, { skipValidation: true })).state.readToEnd()
    })

    it('ends its waits when it is closed', async () => {
      const broker = await opened(open)
      const { state } = await view(broker, uniqueName('state'))
      await state.close()
      await expect(state.append([set('a', '1')])).rejects.toMatchObject({ code: 'closed' })
    })
  })

  it('gives another thread a broker of its own on the same log', async () => {
    const broker = await opened(open)
    const topic = await newTopic(broker)
    const { runInThread } = await import('./broker-thread.ts')
    const read = await runInThread(await broker.address(), topic)
    expect(read).toEqual(['from the thread'])
    await (await broker.producer()).send(records(topic, ['x']))
  })
}
