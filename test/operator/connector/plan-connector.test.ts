import { beforeEach, expect, it } from 'vitest'
import { noTasksTrace } from '../../../src/clients/worker-client.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { clock, cluster, worker, connectors: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, worker, connectors: operator } = createReconcilerFixture())
})

const datagen = { class: 'Datagen', config: { topic: 'orders' } }

it('is not Ready while a running connector has no tasks, however long that takes, also after it was stopped', async () => {
  const key = cluster.apply('Connector', 'orders', datagen)
  const { reconcile, settle, readiness, condition } = operator()
  await reconcile(key)
  const connector = worker.connectors.get('orders')!
  const { tasks } = connector
  connector.tasks = []
  for (const laterMs of [10_000, 600_000]) {
    await clock.advance(laterMs)
    expect(await reconcile(key)).toEqual({ afterMs: 30_000 })
    expect([readiness(key), condition(key, 'Ready')?.message]).toEqual([
      'Reconciling/NoTasks',
      'the connector is running without tasks: it has not made any yet, or it has nothing to do',
    ])
  }
  connector.tasks = tasks
  await settle(key)
  expect(condition(key, 'Ready')).toMatchObject({ status: 'True', message: 'running, 1 task' })
  cluster.apply('Connector', 'orders', { ...datagen, state: 'Stopped' })
  await settle(key)
  expect(condition(key, 'Ready')).toMatchObject({ status: 'True', message: 'stopped, as declared' })
  cluster.apply('Connector', 'orders', { ...datagen, state: 'Running' })
  await reconcile(key)
  worker.connectors.get('orders')!.tasks = []
  await settle(key)
  expect(readiness(key)).toBe('Reconciling/NoTasks')
})

it('is Ready without tasks when the worker reports that there are none, and again when there are some', async () => {
  const key = cluster.apply('Connector', 'orders', datagen)
  const { reconcile, settle, condition } = operator()
  await reconcile(key)
  const connector = worker.connectors.get('orders')!
  const { tasks } = connector
  Object.assign(connector, { tasks: [], trace: noTasksTrace('Datagen') })
  await clock.advance(10_000)
  await settle(key)
  const message = 'running without tasks, because the connector generates none: it has nothing to do'
  expect(condition(key, 'Ready')).toMatchObject({ status: 'True', message })
  connector.trace = 'the tasks are not generated yet: Datagen has not returned for 10 s'
  await settle(key)
  expect(condition(key, 'Ready')).toMatchObject({ status: 'False', reason: 'NoTasks' })
  Object.assign(connector, { tasks, trace: undefined })
  await settle(key)
  expect(condition(key, 'Ready')).toMatchObject({ status: 'True', message: 'running, 1 task' })
})

it.each([
  ['Stopped', 'STOPPED'],
  ['Paused', 'PAUSED'],
] as const)('is not %s again while a rebalance hides its state', async (declared, state) => {
  const key = cluster.apply('Connector', 'orders', datagen)
  const { reconcile, settle, readiness } = operator()
  await settle(key)
  cluster.apply('Connector', 'orders', { ...datagen, state: declared })
  const connector = worker.connectors.get('orders')!
  connector.state = 'UNASSIGNED'
  await reconcile(key)
  const write = `${declared.toLowerCase()} orders`
  expect(worker.writes).toEqual(['create orders', write])
  connector.state = 'UNASSIGNED'
  for (let round = 0; round < 5; round++) {
    await clock.advance(30_000)
    await reconcile(key)
  }
  expect(readiness(key)).toBe('Ready=Unknown/Rebalancing')
  connector.state = 'RUNNING'
  await settle(key)
  expect(connector.state).toBe(state)
  expect(worker.writes).toEqual(['create orders', write, write])
})

it('takes over a stopped connector without a request, also if a rebalance hides its state', async () => {
  const config = { name: 'orders', 'connector.class': 'Datagen', 'tasks.max': '1', topic: 'orders' }
  await worker.create('orders', config, 'STOPPED')
  const connector = worker.connectors.get('orders')!
  connector.state = 'UNASSIGNED'
  const key = cluster.apply('Connector', 'orders', { ...datagen, state: 'Stopped', adoptionPolicy: 'AdoptIfIdentical' })
  const { reconcile, settle, condition } = operator()
  await reconcile(key)
  await reconcile(key)
  connector.state = 'STOPPED'
  await settle(key)
  expect(condition(key, 'Ready')).toMatchObject({ status: 'True', message: 'stopped, as declared' })
  expect(worker.writes).toEqual(['create orders'])
})
