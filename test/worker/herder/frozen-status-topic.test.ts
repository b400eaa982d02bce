import { expect, it } from 'vitest'
import { watched } from '../../support/watched.ts'
import { addConnector, createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

const ID = { connector: 'c', task: 0 }
const START = { do: 'start-task', id: ID, config: SOURCE, target: 'STARTED' } as const

/** The status topic accepts no write and rejects none, as when the leader of its partition has frozen. */
function withFrozenStatusTopic() {
  const test = createTestWorkRunner()
  const pending = Promise.withResolvers<void>()
  Object.assign(test.parts.statuses, { put: () => pending.promise, putSafe: () => pending.promise })
  addConnector(test.configs, 1)
  return { ...test, thaw: pending.resolve }
}

it('work starts and stops in a rebalance although no status can be written', async () => {
  const { runner, configs, tasks } = withFrozenStatusTopic()
  const started = watched(runner.execute([{ do: 'start-connector', connector: configs.connector('c')! }, START]))
  await settled()
  expect(started).toHaveProperty('outcome')
  expect(tasks).toHaveLength(1)
  const lost = watched(runner.stopAll().then(() => 'stopped'))
  await settled()
  expect(lost.outcome).toBe('stopped')
  expect([runner.connectors.size, runner.tasks.size]).toEqual([0, 0])
})

it('a worker that stops waits for its statuses', async () => {
  const { runner, thaw } = withFrozenStatusTopic()
  await runner.execute([START])
  await runner.stopAll()
  const stored = watched(runner.storeStatuses().then(() => 'stored'))
  await settled()
  expect(stored.outcome).toBeUndefined()
  thaw()
  await settled()
  expect(stored.outcome).toBe('stored')
})

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}
