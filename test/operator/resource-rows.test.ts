import { describe, expect, it } from 'vitest'
import { RequestError } from '../../src/clients/http-client.ts'
import { resourceRows } from '../../src/operator/resource-rows.ts'
import { createReconcilerFixture } from '../support/reconciler-fixture.ts'

describe('the row of a resource whose manifest was deleted', () => {
  it.each([
    ['while the deletion makes progress', undefined, 'its manifest was deleted'],
    [
      'with the reason while the deletion waits for its runtime',
      new RequestError(0, 0, 'ECONNREFUSED'),
      'its manifest was deleted; the deletion waits: WorkerUnreachable: ECONNREFUSED',
    ],
  ])('is Deleting %s', async (_, failure, message) => {
    const { cluster, worker, connectors } = createReconcilerFixture()
    const { settle, reconcile } = connectors()
    const key = cluster.apply('Connector', 'orders', { class: 'Datagen' })
    await settle(key)
    cluster.remove(key)
    worker.failure = failure
    await reconcile(key)
    expect(resourceRows(cluster)).toMatchObject([{ name: 'orders', ready: 'False', reason: 'Deleting', message }])
  })
})
