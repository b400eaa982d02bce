import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { OffsetStore } from '../../../src/worker/stores/offset-store.ts'
import { openTestBroker, readRecords } from '../../support/topic.ts'
import { topicAccess } from '../../support/topic-access.ts'
import { startTestWorker } from '../../support/worker.ts'

const OWN = { 'offsets.storage.topic': 'own-offsets' }
const [A, B] = [{ file: 'a' }, { file: 'b' }]

async function openStore(broker: Broker): Promise<OffsetStore> {
  const topic = { name: 'offsets', partitions: 1 }
  const store = await OffsetStore.open({ broker, logger: silentLogger(), topic, accessOf: () => topicAccess() })
  onTestFinished(() => store.close())
  return store
}

const toPairs = (offsets: Awaited<ReturnType<OffsetStore['read']>>) =>
  offsets.map(({ partition, offset }) => [partition, offset])

it('writes the offsets of a connector with offsets.storage.topic to that topic and to the shared one', async () => {
  const broker = await openTestBroker()
  const store = await openStore(broker)
  await store.write('c', OWN, [{ partition: A, offset: { at: 1 } }])
  for (const topic of ['offsets', 'own-offsets']) {
    const records = await readRecords(broker, topic)
    expect(records.map(({ key, value }) => [String(key), String(value)])).toEqual([['["c",{"file":"a"}]', '{"at":1}']])
  }
})

it('prefers the offsets in the topic of the connector to those in the shared topic', async () => {
  const broker = await openTestBroker()
  const store = await openStore(broker)
  await store.write('c', {}, [
    { partition: A, offset: { at: 1 } },
    { partition: B, offset: { at: 2 } },
  ])
  await store.write('c', { 'offsets.storage.topic': 'offsets' }, [{ partition: B, offset: { at: 3 } }])
  expect(await readRecords(broker, 'offsets')).toHaveLength(3)
  const other = await openStore(broker)
  await other.write('c', OWN, [{ partition: A, offset: { at: 9 } }])
  // As written by a task that could not write to the shared topic.
  await other.write('c', {}, [{ partition: A, offset: { at: 4 } }])
  expect(toPairs(await store.read('c', OWN))).toEqual([
    [A, { at: 9 }],
    [B, { at: 3 }],
  ])
  expect(toPairs(await store.read('c', {}))).toEqual([
    [A, { at: 4 }],
    [B, { at: 3 }],
  ])
  await other.write('c', OWN, [{ partition: A, offset: null }])
  expect(toPairs(await store.read('c', OWN))).toEqual([[B, { at: 3 }]])
})

it('keeps integers of 64 bits in offsets and partitions, also through the REST API', async () => {
  const { url, broker } = await startTestWorker({ 'offset.storage.partitions': '1' })
  const config = { 'connector.class': 'PostgresSource', 'connection.url': 'jdbc:postgresql://127.0.0.1:1/db' }
  const created = await createWorkerClient({ url }).create(
    'c',
    { ...config, mode: 'incrementing', 'incrementing.column.name': 'id', 'topic.prefix': 't-' },
    'STOPPED',
  )
  expect(created.name).toBe('c')
  const offsets =
    '{"offsets":[{"partition":{"protocol":"1","table":"public.t","id":9223372036854775807},"offset":{"incrementing":9007199254740993}}]}'
  const alter = () =>
    fetch(`${url}/connectors/c/offsets`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: offsets,
    })
  await expect.poll(async () => (await alter()).status).toBe(200)
  expect(await (await fetch(`${url}/connectors/c/offsets`)).text()).toBe(offsets)
  const [stored] = (await readRecords(broker, 'connect-offsets')).map(({ key, value }) => `${key} ${value}`)
  expect(stored).toBe(
    '["c",{"protocol":"1","table":"public.t","id":9223372036854775807}] {"incrementing":9007199254740993}',
  )
  const offset = (await createWorkerClient({ url }).offsets('c'))[0]?.offset
  expect(offset).toEqual({ incrementing: 9007199254740993n })
})

it('reads to the present end of the topic, however long that takes', async () => {
  const broker = await openTestBroker()
  const writer = await openStore(broker)
  await writer.write('c', OWN, [{ partition: A, offset: { at: 1 } }])
  const open = broker.reader.bind(broker)
  broker.reader = (options) => {
    const reader = open(options)
    const poll = reader.poll.bind(reader)
    reader.poll = async (waitMsMax) => {
      const polled = await poll(waitMsMax)
      for (let turn = 0; turn < 50; turn++) await nextTurn()
      return polled
    }
    return reader
  }
  const slow = await openStore(broker)
  expect(toPairs(await slow.of('c', OWN))).toEqual([[A, { at: 1 }]])
  await writer.write('c', OWN, [{ partition: A, offset: { at: 2 } }])
  expect(toPairs(await slow.of('c', OWN))).toEqual([[A, { at: 2 }]])
})
