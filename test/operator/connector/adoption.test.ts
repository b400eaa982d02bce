import { beforeEach, describe, expect, it } from 'vitest'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { cluster, worker, runtimeConfigs, connectors: operator } = createReconcilerFixture()
const datagen = { class: 'Datagen', config: { topic: 'orders' } }
const config = () => worker.connectors.get('orders')?.config

beforeEach(() => {
  ;({ cluster, worker, runtimeConfigs, connectors: operator } = createReconcilerFixture())
  runtimeConfigs.worker = { ...runtimeConfigs.worker, writesOwnerMarker: false }
})

describe('a worker with ownershipMarker: false', () => {
  it('receives configurations without the marker, and each is written once', async () => {
    const { settle, readiness } = operator()
    const key = cluster.apply('Connector', 'orders', datagen)
    await settle(key)
    await operator().settle(key)
    expect(config()).not.toHaveProperty('weir.owner')
    expect([readiness(key), worker.writes]).toEqual(['Ready=True/Succeeded', ['create orders']])
  })

  it('receives connectors that have the marker again without it', async () => {
    runtimeConfigs.worker = { ...runtimeConfigs.worker, writesOwnerMarker: true }
    const key = cluster.apply('Connector', 'orders', datagen)
    await operator().settle(key)
    runtimeConfigs.worker = { ...runtimeConfigs.worker, writesOwnerMarker: false }
    await operator().settle(key)
    expect(config()).not.toHaveProperty('weir.owner')
    expect(worker.writes).toEqual(['create orders', 'putConfig orders'])
  })

  it('has the applied connector deleted with its resource', async () => {
    const { settle, reconcile } = operator()
    const key = cluster.apply('Connector', 'orders', datagen)
    await settle(key)
    cluster.remove(key)
    await reconcile(key)
    await reconcile(key)
    expect([worker.connectors.size, cluster.get(key)]).toEqual([0, undefined])
  })

  it('keeps connectors with the marker of another installation', async () => {
    const { settle, readiness, reconcile } = operator()
    await worker.create('orders', { 'connector.class': 'Datagen', 'weir.owner': 'other/shop/orders' })
    const key = cluster.apply('Connector', 'orders', datagen)
    await settle(key)
    expect(readiness(key)).toBe('Stalled/Conflict')
    cluster.remove(key)
    await reconcile(key)
    expect([worker.connectors.size, cluster.get(key)]).toEqual([1, undefined])
  })
})

describe('a connector that is adopted because it is identical', () => {
  const adopting = { ...datagen, adoptionPolicy: 'AdoptIfIdentical' }
  const existing = { 'connector.class': 'Datagen', topic: 'orders', name: 'orders' }

  beforeEach(() => {
    runtimeConfigs.worker = { ...runtimeConfigs.worker, writesOwnerMarker: true }
  })

  it('is not written to, and gets the marker with the next change', async () => {
    await worker.create('orders', { ...existing, 'tasks.max': '1' })
    const { settle, readiness } = operator()
    const key = cluster.apply('Connector', 'orders', adopting)
    await settle(key)
    await operator().settle(key)
    expect([readiness(key), worker.writes]).toEqual(['Ready=True/Succeeded', ['create orders']])
    cluster.apply('Connector', 'orders', { ...adopting, tasksMax: 2 })
    await settle(key)
    expect([config()?.['weir.owner'], worker.writes]).toEqual([
      'test/default/orders',
      ['create orders', 'putConfig orders'],
    ])
  })

  it('is identical also without tasks.max, which is 1 then', async () => {
    await worker.create('orders', existing)
    const { settle, readiness } = operator()
    const key = cluster.apply('Connector', 'orders', adopting)
    await settle(key)
    expect([readiness(key), worker.writes]).toEqual(['Ready=True/Succeeded', ['create orders']])
    cluster.apply('Connector', 'orders', { ...adopting, tasksMax: 2 })
    await settle(key)
    expect(config()?.['tasks.max']).toBe('2')
  })

  it('is compared when its Secrets exist', async () => {
    runtimeConfigs.worker = { ...runtimeConfigs.worker, allowsInlineSecrets: true }
    await worker.create('orders', { ...existing, password: 'tiger' })
    const valuesFrom = [{ key: 'password', secretKeyRef: { name: 'login', key: 'p' }, resolve: 'Operator' }]
    const { settle, readiness } = operator()
    const key = cluster.apply('Connector', 'orders', { ...adopting, valuesFrom })
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForInput')
    cluster.secrets.set('default/login', { p: 'tiger' })
    await settle(key)
    expect([readiness(key), worker.writes]).toEqual(['Ready=True/Succeeded', ['create orders']])
  })

  it('is deleted with its resource', async () => {
    await worker.create('orders', existing)
    const { settle, reconcile } = operator()
    const key = cluster.apply('Connector', 'orders', adopting)
    await settle(key)
    cluster.remove(key)
    await reconcile(key)
    await reconcile(key)
    expect([worker.connectors.size, cluster.get(key)]).toEqual([0, undefined])
  })
})
