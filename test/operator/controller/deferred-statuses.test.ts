import { beforeEach, describe, expect, it } from 'vitest'
import { findCondition } from '../../../src/operator/resources/condition.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let fixture = createReconcilerFixture()
/** Reasons of `Ready`, in the order of the writes. */
let written: (string | undefined)[] = []

beforeEach(() => {
  fixture = createReconcilerFixture()
  written = []
  const writeStatus = fixture.cluster.writeStatus.bind(fixture.cluster)
  fixture.cluster.writeStatus = (key, status) => {
    written.push(findCondition(status.conditions, 'Ready')?.reason)
    return writeStatus(key, status)
  }
})

const datagen = { class: 'Datagen', config: { topic: 'orders' } }
const apply = (name = 'orders', spec = {}) => fixture.cluster.apply('Connector', name, { ...datagen, ...spec })

describe('the deferred status of a new connector', () => {
  it('is written once, when the connector is Ready, with the fields of the creation', async () => {
    const key = apply()
    await fixture.connectors().settle(key)
    expect(written).toEqual(['Succeeded'])
    expect(fixture.cluster.get(key)?.status).toMatchObject({
      configHash: expect.any(String),
      lastAppliedTime: expect.any(String),
    })
    expect(fixture.cluster.events.map(({ reason }) => reason)).toEqual(['Created'])
    expect(fixture.worker.writes).toEqual(['create orders'])
  })

  it('is written when the connector is not Ready within 3 s', async () => {
    const { reconcile } = fixture.connectors()
    const key = apply()
    await reconcile(key)
    fixture.worker.connectors.get('orders')!.tasks = []
    await fixture.clock.advance(2_900)
    await reconcile(key)
    expect(written).toEqual([])
    await fixture.clock.advance(100)
    await reconcile(key)
    expect(written).toEqual(['Progressing'])
  })

  it('is written at once when the connector fails', async () => {
    const { reconcile } = fixture.connectors()
    const key = apply('orders', { autoRestart: { enabled: false } })
    await reconcile(key)
    fixture.worker.failTask('orders', 0, 'boom')
    await reconcile(key)
    expect(written).toEqual(['TaskFailed'])
  })

  it('is not deferred while the stored status is Ready', async () => {
    const { settle, reconcile } = fixture.connectors()
    const key = apply()
    await settle(key)
    fixture.worker.connectors.clear()
    await reconcile(key)
    expect(written).toEqual(['Succeeded', 'Creating'])
  })

  it('is not deferred without ownership markers', async () => {
    fixture.runtimeConfigs.worker = { ...fixture.runtimeConfigs.worker, writesOwnerMarker: false }
    await fixture.connectors().reconcile(apply())
    expect(written).toEqual(['Creating'])
  })

  it('is not deferred while another resource claims the connector', async () => {
    apply('other', { name: 'orders' })
    fixture.runtimeConfigs.worker = { ...fixture.runtimeConfigs.worker, allowsExplicitNames: true }
    await fixture.connectors().reconcile(apply())
    await fixture.connectors().reconcile('Connector/default/other')
    expect(written).toHaveLength(2)
    expect(written).toContain('Creating')
    expect(written).toContain('Conflict')
  })

  it('does not apply to a later resource with the same name', async () => {
    const { reconcile } = fixture.connectors()
    const key = apply('orders', { deletionPolicy: 'Retain' })
    await reconcile(key)
    fixture.cluster.remove(key)
    const requeue = apply('orders', { driftPolicy: 'Report', deletionPolicy: 'Retain' })
    fixture.worker.connectors.clear()
    await reconcile(requeue)
    expect(fixture.worker.writes).toEqual(['create orders', 'create orders'])
  })
})
