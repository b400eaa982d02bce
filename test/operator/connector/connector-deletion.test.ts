import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { clock, cluster, worker, connectors: startReconciler } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, worker, connectors: startReconciler } = createReconcilerFixture())
})

/** A Connector that is Ready, then deleted but not reconciled. */
async function deleteReadyConnector(spec: object = {}) {
  const key = cluster.apply('Connector', 'orders', { class: 'Datagen', config: { topic: 'orders' }, ...spec })
  const reconciler = startReconciler()
  await reconciler.settle(key)
  worker.writes.length = 0
  cluster.remove(key)
  return { key, ...reconciler }
}

describe('the deletion of a Connector', () => {
  it('deletes the connector on the worker, and removes the finalizer when the worker no longer has it', async () => {
    const { key, reconcile } = await deleteReadyConnector()
    expect(await reconcile(key)).toEqual({ afterMs: 250 })
    expect(worker.connectors.size).toBe(0)
    expect(cluster.get(key)).toBeDefined()
    await reconcile(key)
    expect(cluster.get(key)).toBeUndefined()
  })

  it('stops the connector and deletes its offsets first with deletionPolicy DeleteWithOffsets', async () => {
    const { key, settle } = await deleteReadyConnector({ deletionPolicy: 'DeleteWithOffsets' })
    await settle(key)
    expect(worker.writes).toEqual(['stopped orders', 'resetOffsets orders', 'delete orders'])
    expect(cluster.get(key)).toBeUndefined()
  })

  it('leaves the connector on the worker with deletionPolicy Retain', async () => {
    const { key } = await deleteReadyConnector({ deletionPolicy: 'Retain' })
    expect(cluster.get(key)).toBeUndefined()
    expect(worker.connectors.size).toBe(1)
  })

  it('leaves a connector that another resource has taken over on the worker', async () => {
    const { key, settle } = await deleteReadyConnector()
    const connector = worker.connectors.get('orders')!
    connector.config = { ...connector.config, 'weir.owner': 'other/ns/orders' }
    await settle(key)
    expect(worker.connectors.size).toBe(1)
    expect(cluster.get(key)).toBeUndefined()
    expect(cluster.events.at(-1)).toMatchObject({
      reason: 'Abandoned',
      note: 'connector orders is left in place: it is not managed by this resource',
    })
  })

  it('completes when an earlier delete request without a response has deleted the connector', async () => {
    const { key, reconcile } = await deleteReadyConnector()
    worker.delete = async (name) => {
      worker.connectors.delete(name)
      throw new RequestError(404, 404, `Connector ${name} not found`)
    }
    expect(await reconcile(key)).toEqual({ afterMs: 250 })
    await reconcile(key)
    expect(cluster.get(key)).toBeUndefined()
  })

  it('reports at once why it waits, and retries within 15 s while the worker rebalances', async () => {
    const { key, reconcile, readiness } = await deleteReadyConnector()
    worker.delete = async () => {
      throw new RequestError(409, 409, 'rebalancing', { retriable: true })
    }
    const pausesMs: number[] = []
    for (let attempt = 0; attempt < 8; attempt++) {
      const requeue = await reconcile(key)
      if (typeof requeue === 'string') throw new Error(requeue)
      pausesMs.push(requeue.afterMs)
      await clock.advance(requeue.afterMs)
    }
    expect(readiness(key)).toBe('Ready=Unknown/Rebalancing')
    expect(pausesMs).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  })
})
