import { beforeEach, describe, expect, it } from 'vitest'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { clock, cluster, registry, subjects: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, registry, subjects: operator } = createReconcilerFixture())
})

const ORDER = JSON.stringify({ type: 'record', name: 'Order', fields: [{ name: 'id', type: 'long' }] })

describe('the deletion of a Subject', () => {
  it.each([
    ['Retain', []],
    ['SoftDelete', ['deleteSubject orders-value']],
    ['HardDelete', ['deleteSubject orders-value', 'deleteSubject orders-value permanently']],
  ])('follows deletionPolicy %s', async (deletionPolicy, expected) => {
    const { settle } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: ORDER, deletionPolicy })
    await settle(key)
    const writes = registry.writes.length
    cluster.remove(key)
    await settle(key)
    expect(registry.writes.slice(writes)).toEqual(expected)
    expect(cluster.get(key)).toBeUndefined()
  })

  it('waits for Subjects that reference it', async () => {
    const { settle, readiness } = operator()
    const address = cluster.apply('Subject', 'address', { schema: '"string"', deletionPolicy: 'SoftDelete' })
    await settle(address)
    const references = [{ name: 'Address', subjectRef: { name: 'address' } }]
    const order = cluster.apply('Subject', 'order', { schema: ORDER, references })
    await settle(order)
    cluster.remove(address)
    await settle(address)
    expect(readiness(address)).toBe('Reconciling/DeletionBlocked')
    cluster.remove(order)
    await settle(address)
    expect(cluster.get(address)).toBeUndefined()
  })
})

describe('a blocked deletion', () => {
  it('is retried with growing pauses, up to five minutes', async () => {
    const spec = { schema: ORDER, deletionPolicy: 'SoftDelete' }
    const key = cluster.apply('Subject', 'address', spec)
    const { reconcile, settle, readiness } = operator()
    await settle(key)
    const refers = { schema: '"int"', references: [{ name: 'Address', subjectRef: { name: 'address' } }] }
    cluster.apply('Subject', 'orders', refers)
    cluster.remove(key)
    const pausesMs: number[] = []
    for (let attempt = 0; attempt < 9; attempt++) {
      const requeue = await reconcile(key)
      if (typeof requeue === 'string') throw new Error(`unexpected: ${requeue}`)
      pausesMs.push(requeue.afterMs)
      await clock.advance(requeue.afterMs)
    }
    expect(readiness(key)).toBe('Reconciling/DeletionBlocked')
    expect(pausesMs).toEqual([5, 5, 10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * 1_000))
  })
})
