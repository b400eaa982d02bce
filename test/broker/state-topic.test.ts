import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker, PartitionRecords } from '../../src/broker/broker.ts'
import { BrokerError } from '../../src/broker/broker-error.ts'
import { openStateTopic } from '../../src/broker/state-topic/state-topic.ts'
import { createLogger, silentLogger } from '../../src/common/logging/logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openTestBroker } from '../support/topic.ts'

const TOPIC = { name: 'state', partitions: 1, replicationFactor: 1 }
const RECORDS = 5
const TIMEOUT_MS = 60_000

/** A topic with `RECORDS` records, which are read when the test says so. */
function slowTopic(clock: FakeClock) {
  let read: ((polled: readonly PartitionRecords[]) => void) | undefined
  let offset = 0
  const broker = {
    topics: {
      create: async () => true,
      id: async () => 'id',
      offsets: async () => [{ topic: TOPIC.name, partition: 0, offset: RECORDS }],
    },
    reader: () => ({
      seek: () => undefined,
      wake: () => undefined,
      close: async () => read?.([]),
      poll: () =>
        new Promise((resolve) => {
          read = resolve
        }),
    }),
  } as unknown as Broker
  return {
    opening: openStateTopic({
      broker,
      clock,
      logger: silentLogger(),
      topic: TOPIC,
      skipValidation: true,
      openTimeoutMs: TIMEOUT_MS,
      decode: () => undefined,
      apply: () => undefined,
    }),
    readNext() {
      offset += 1
      read?.([{ topic: TOPIC.name, partition: 0, records: [], nextOffset: offset } as unknown as PartitionRecords])
    },
  }
}

it('a state topic is opened however slowly it is read, unless nothing is read for the time limit', async () => {
  const clock = new FakeClock()
  const slow = slowTopic(clock)
  for (let record = 0; record < RECORDS; record++) {
    await clock.advance(TIMEOUT_MS - 1)
    slow.readNext()
  }
  await (await slow.opening).close()

  const stuck = slowTopic(clock)
  const failing = expect(stuck.opening).rejects.toMatchObject({ code: 'timeout' })
  await clock.advance(TIMEOUT_MS - 1)
  stuck.readNext()
  await clock.advance(TIMEOUT_MS)
  await failing
})

it('a state topic rejects reads and writes while it may not be read, with the reason, and continues afterwards', async () => {
  const denied = new BrokerError('not_authorized', 'READ on topic state')
  const clock = new FakeClock()
  const lines: string[] = []
  const failures: Error[] = []
  let isDenied = false
  let polled: PartitionRecords[] = []
  const applied: number[] = []
  let end = 0
  const broker = {
    topics: {
      create: async () => true,
      id: async () => 'id',
      offsets: async () => [{ topic: TOPIC.name, partition: 0, offset: end }],
    },
    reader: () => ({
      seek: () => undefined,
      wake: () => undefined,
      close: async () => undefined,
      poll: async () => {
        await nextTurn()
        if (isDenied) throw denied
        return polled.splice(0)
      },
    }),
  } as unknown as Broker
  const state = await openStateTopic({
    broker,
    logger: createLogger({ level: 'info', write: (line) => void lines.push(line) }),
    topic: TOPIC,
    clock,
    skipValidation: true,
    onFailed: (error) => failures.push(error),
    decode: ({ offset }) => offset,
    apply: (offset) => void applied.push(offset),
  })
  onTestFinished(() => state.close())
  isDenied = true
  end = 1
  const waiting = state.readToEnd()
  await expect(waiting).rejects.toBe(denied)
  await clock.advance(60_000)
  expect(state.failure).toBe(denied)
  await expect(state.append([{ key: null, value: null }])).rejects.toBe(denied)
  await expect(state.readToEnd()).rejects.toBe(denied)
  isDenied = false
  await clock.advance(1_000)
  await expect.poll(() => state.failure).toBeUndefined()
  polled = [{ topic: TOPIC.name, partition: 0, records: [{ offset: 0 }], nextOffset: 1 } as unknown as PartitionRecords]
  await state.readToEnd()
  expect(applied).toEqual([0])
  expect(failures).toEqual([])
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['cannot read a state topic, retrying until it succeeds'])
})

it('a state topic that somebody else creates is opened, but not created', async () => {
  const broker = await openTestBroker()
  const open = (name: string) =>
    openStateTopic({
      broker,
      logger: silentLogger(),
      topic: { name, createdBy: 'The administrator creates it.' },
      decode: () => undefined,
      apply: () => undefined,
    })
  await expect(open('missing')).rejects.toMatchObject({
    code: 'topic_not_found',
    message: "the topic 'missing' does not exist. The administrator creates it.",
  })
  expect(await broker.topics.describe('missing')).toBeUndefined()
  await broker.topics.create({ name: 'there', partitions: 1, configs: { 'cleanup.policy': 'compact' } })
  await (await open('there')).close()
})

it('readToEnd waits for a write that has timed out, and that the producer may still store', async () => {
  const clock = new FakeClock()
  const broker = await openTestBroker()
  const storing = Promise.withResolvers<void>()
  const { producer } = broker
  broker.producer = async (options) => {
    const made = await producer(options)
    const send: typeof made.send = async (...request) => {
      await storing.promise
      return made.send(...request)
    }
    return Object.assign(Object.create(made), { send, close: () => made.close() })
  }
  const values: string[] = []
  const state = await openStateTopic({
    broker,
    clock,
    logger: silentLogger(),
    topic: TOPIC,
    decode: ({ value }) => String(value),
    apply: (value) => void values.push(value),
  })
  onTestFinished(() => state.close())
  const writing = expect(state.append([{ key: null, value: Buffer.from('late') }])).rejects.toMatchObject({
    code: 'timeout',
  })
  await nextTurn()
  await clock.advance(30_000)
  await writing
  const reading = state.readToEnd()
  await nextTurn()
  storing.resolve()
  await reading
  expect(values).toEqual(['late'])
})
