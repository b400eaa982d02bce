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
