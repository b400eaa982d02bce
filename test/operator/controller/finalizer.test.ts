import { beforeEach, describe, expect, it } from 'vitest'
import { ensureFinalizer, removeFinalizer } from '../../../src/operator/controller/finalizer.ts'
import { FakeCluster } from '../../support/fake-cluster.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

const SPEC = { schema: '"string"' }

let cluster: FakeCluster

beforeEach(() => {
  cluster = new FakeCluster()
})

describe('the finalizer of a resource', () => {
  it('is added when the resource needs one, and removed when it no longer does', async () => {
    const key = cluster.apply('Subject', 'orders', SPEC)
    expect((await ensureFinalizer(key, () => true, cluster))?.metadata.finalizers).toEqual(['weir.dev/subject'])
    expect((await ensureFinalizer(key, () => false, cluster))?.metadata.finalizers).toEqual([])
  })

  it('stays on a deleted resource until the cleanup removes it', async () => {
    const key = cluster.apply('Subject', 'orders', SPEC)
    await ensureFinalizer(key, () => true, cluster)
    cluster.remove(key)
    expect((await ensureFinalizer(key, () => false, cluster))?.metadata.finalizers).toEqual(['weir.dev/subject'])
    await removeFinalizer(key, cluster)
    expect(await ensureFinalizer(key, () => true, cluster)).toBeUndefined()
  })

  it('is not added to a deleted resource', async () => {
    const key = cluster.apply('Subject', 'orders', SPEC)
    const stored = cluster.get(key)
    if (stored === undefined) throw new Error('the resource is missing')
    const metadata = { ...stored.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' }
    cluster.resources.set(key, { ...stored, metadata })
    expect(await ensureFinalizer(key, () => true, cluster)).toBeUndefined()
    expect(cluster.get(key)?.metadata.finalizers).toEqual([])
  })
})

describe('a resource whose policy is changed to Retain, and that is deleted at once', () => {
  const SPECS = {
    Connector: { class: 'Datagen' },
    Subject: { schema: '"string"' },
    RegistryMode: { scope: { type: 'Subject', subject: 'orders' }, mode: 'READONLY' },
  } as const
  const DELETES = { Connector: 'Delete', Subject: 'HardDelete', RegistryMode: 'Restore' } as const

  it.each(['Connector', 'Subject', 'RegistryMode'] as const)('leaves the object of a %s in place', async (kind) => {
    const { cluster, worker, registry, startReconcilers } = createReconcilerFixture()
    const reconciler = startReconcilers()[kind]
    const key = cluster.apply(kind, 'orders', { ...SPECS[kind], deletionPolicy: DELETES[kind] })
    await reconciler.settle(key as never)
    const before = [...worker.writes, ...registry.writes]
    cluster.apply(kind, 'orders', { ...SPECS[kind], deletionPolicy: 'Retain' })
    cluster.remove(key)
    await reconciler.settle(key as never)
    expect([...worker.writes, ...registry.writes]).toEqual(before)
    expect(cluster.get(key)).toBeUndefined()
  })

  it('is not reconciled when it disappears with its finalizer', async () => {
    const key = cluster.apply('Subject', 'orders', SPEC)
    await ensureFinalizer(key, () => true, cluster)
    const late: Pick<FakeCluster, 'get' | 'setFinalizer'> = {
      get: (of) => cluster.get(of),
      async setFinalizer() {
        const stored = cluster.get(key)!
        const metadata = { ...stored.metadata, finalizers: [], deletionTimestamp: '2026-01-02T00:00:00Z' }
        cluster.resources.set(key, { ...stored, metadata })
      },
    }
    expect(await ensureFinalizer(key, () => false, late)).toBeUndefined()
  })
})
