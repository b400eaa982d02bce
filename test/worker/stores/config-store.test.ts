import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { type ConfigRecord, parseConfigRecord, toConfigRecord } from '../../../src/worker/stores/config-codec.ts'
import { ConfigState } from '../../../src/worker/stores/config-state.ts'
import { ConfigStore } from '../../../src/worker/stores/config-store.ts'
import { openTestBroker } from '../../support/topic.ts'

const CONFIG = { 'connector.class': 'Datagen', name: 'c' }
const TASKS = [{ n: '0' }, { n: '1' }]

it('a worker that reads the compacted topic knows the tasks of a configuration that was written again', async () => {
  const { store, compacted } = await openStore()
  await store.putConnector('c', CONFIG)
  await store.putTasks('c', TASKS)
  await store.putConnector('c', { ...CONFIG })
  expect(compacted().connector('c')).toMatchObject({ config: CONFIG, tasks: TASKS, appliedConfig: CONFIG })
  await store.putTasks('c', [])
  await store.putConnector('c', { ...CONFIG })
  expect(compacted().connector('c')).toMatchObject({ tasks: [], appliedConfig: CONFIG, pendingFencing: true })
})

it('writes only the configuration if it has changed, or has no tasks yet', async () => {
  const { store, records } = await openStore()
  await store.putConnector('c', CONFIG, 'PAUSED')
  await store.putConnector('c', CONFIG)
  await store.putTasks('c', TASKS)
  records.length = 0
  await store.putConnector('c', { ...CONFIG, interval: '1' })
  await store.putConnector('c', { ...CONFIG, interval: '1' })
  expect(records.map(({ kind }) => kind)).toEqual(['connector', 'connector'])
})

it('decides a change on what a write without a response has stored', async () => {
  const broker = await openTestBroker()
  const { loseResponse, holdReads } = unreliable(broker)
  const { store } = await openStore(broker)
  const release = holdReads()
  loseResponse()
  await expect(store.putConnector('c', CONFIG)).rejects.toMatchObject({ code: 'timeout' })
  const change = store.changes.inTurn('c', async () => store.state.connector('c')?.config)
  release()
  expect(await change).toEqual(CONFIG)
})

/** Changes the broker: one response to a write can be lost, and what is read can be held back. */
function unreliable(broker: Broker) {
  let isLost = false
  let held: Promise<void> = Promise.resolve()
  const { producer, reader } = broker
  broker.producer = async (options) => {
    const made = await producer(options)
    const send: typeof made.send = async (...request) => {
      const sent = await made.send(...request)
      if (!isLost) return sent
      isLost = false
      throw new BrokerError('timeout', 'no response')
    }
    return Object.assign(Object.create(made), { send, close: () => made.close() })
  }
  broker.reader = (options) => {
    const made = reader(options)
    const poll: typeof made.poll = async (waitMs) => {
      const polled = await made.poll(waitMs)
      await held
      return polled
    }
    return Object.assign(Object.create(made), {
      poll,
      seek: made.seek.bind(made),
      wake: made.wake.bind(made),
      close: () => made.close(),
    })
  }
  const holdReads = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    return resolve
  }
  const loseResponse = () => {
    isLost = true
  }
  return { loseResponse, holdReads }
}

async function openStore(given?: Broker) {
  const records: ConfigRecord[] = []
  const broker = given ?? (await openTestBroker())
  const store = await ConfigStore.open({
    ...{ broker, logger: silentLogger(), topic: { name: 'configs', partitions: 1 } },
    onRecord: (record) => records.push(record),
  })
  onTestFinished(() => store.close())
  /** The state of a worker that reads the last record of each key only. */
  const compacted = () => {
    const last = new Map<string, ConfigRecord>()
    for (const record of records) {
      const { key } = toConfigRecord(record)
      last.delete(key)
      last.set(key, record)
    }
    const state = new ConfigState()
    for (const record of last.values()) {
      const { key, value } = toConfigRecord(record)
      state.apply(parseConfigRecord(key, value)!)
    }
    return state
  }
  return { store, records, compacted }
}
