import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { createBrokerClient } from '../../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { type Clock, systemClock } from '../../../src/common/clock.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { defineSink, z } from '../../../src/sdk/index.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startTask } from '../../support/task.ts'
import { produceTexts } from '../../support/topic.ts'

const HEARTBEAT_MS = 3_000
it('a sink task whose successor has joined the group ends, and the successor keeps its membership', async () => {
  const { broker, beats } = await openBroker()
  const older = startSink(broker)
  await broker.topics.create({ name: 'lines', partitions: 1 })
  await produceTexts(broker, 'lines', 'a')
  await expect.poll(() => older.seen).toEqual(['a'])
  const newer = startSink(broker)
  await expect.poll(() => newer.seen).toEqual(['a']) // Nothing was committed yet.
  // On a busy machine, the older task may not have begun to wait for its next heartbeat yet.
  const afterHeartbeat = async () => {
    await beats.advance(HEARTBEAT_MS)
    return older.said.at(-1)
  }
  await expect.poll(afterHeartbeat).toMatchObject({ type: 'failed', isFenced: true })
  await produceTexts(broker, 'lines', 'b')
  await expect.poll(() => newer.seen).toEqual(['a', 'b'])
  expect(older.seen).toEqual(['a'])
  expect((await broker.groups.describe('connect-out')).members).toMatchObject([{ instanceId: 'workers-out-0' }])
  await newer.stop()
  expect(await broker.groups.describe('connect-out')).toMatchObject({ state: 'empty', members: [] })
  expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 2 }])
})

async function openBroker() {
  const logger = silentLogger()
  const beats = new FakeClock()
  const home = await openEmbeddedBackend(':memory:', { logger })
  const address = () => Promise.reject(new Error('it has no address'))
  // The test controls the time of heartbeats only.
  const sleep: Clock['sleep'] = (ms, signal) => (ms === HEARTBEAT_MS ? beats : systemClock).sleep(ms, signal)
  const broker = createBrokerClient(home, { logger, clock: { ...systemClock, sleep }, address })
  onTestFinished(() => broker.close())
  return { broker, beats }
}

function startSink(broker: Broker) {
  const seen: unknown[] = []
  const sink = defineSink({
    class: 'Seen',
    version: '1',
    summary: 'Keeps what it sees.',
    config: z.object({}),
    start: () => ({ put: (records) => void seen.push(...records.map(({ value }) => value)) }),
  })
  return { seen, ...startTask(broker, sink, { topics: 'lines' }, { connector: 'out' }) }
}
