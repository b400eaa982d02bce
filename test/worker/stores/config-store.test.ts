import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
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

async function openStore() {
  const records: ConfigRecord[] = []
  const broker: Broker = await openTestBroker()
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
