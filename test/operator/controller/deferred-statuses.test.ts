import { beforeEach, describe, expect, it } from 'vitest'
import { findCondition } from '../../../src/operator/resources/condition.ts'
import { createStage } from '../../support/stage.ts'

let stage = createStage()
/** Reasons of `Ready`, as they were written. */
let written: (string | undefined)[] = []

beforeEach(() => {
  stage = createStage()
  written = []
  const writeStatus = stage.cluster.writeStatus.bind(stage.cluster)
  stage.cluster.writeStatus = (key, status) => {
    written.push(findCondition(status.conditions, 'Ready')?.reason)
    return writeStatus(key, status)
  }
})

const datagen = { class: 'Datagen', config: { topic: 'orders' } }
const apply = (name = 'orders', spec = {}) => stage.cluster.apply('Connector', name, { ...datagen, ...spec })

describe('the status of a connector that was just made', () => {
  it('is written once, when it is Ready, with what was remembered when it was made', async () => {
    const key = apply()
    await stage.connectors().settle(key)
    expect(written).toEqual(['Succeeded'])
    expect(stage.cluster.get(key)?.status).toMatchObject({
      configHash: expect.any(String),
      lastAppliedTime: expect.any(String),
    })
    expect(stage.cluster.events.map(({ reason }) => reason)).toEqual(['Created'])
    expect(stage.worker.writes).toEqual(['create orders'])
  })

  it('says what keeps it when it is not Ready within a moment', async () => {
    const { reconcile } = stage.connectors()
    const key = apply()
    await reconcile(key)
    stage.worker.connectors.get('orders')!.tasks = []
    await stage.clock.advance(2_900)
    await reconcile(key)
    expect(written).toEqual([])
    await stage.clock.advance(100)
    await reconcile(key)
    expect(written).toEqual(['Progressing'])
  })

  it('says at once that it failed', async () => {
    const { reconcile } = stage.connectors()
    const key = apply('orders', { autoRestart: { enabled: false } })
    await reconcile(key)
    stage.worker.failTask('orders', 0, 'boom')
    await reconcile(key)
    expect(written).toEqual(['TaskFailed'])
  })

  it('is not held back where people would go on reading that it is Ready', async () => {
    const { settle, reconcile } = stage.connectors()
    const key = apply()
    await settle(key)
    stage.worker.connectors.clear()
    await reconcile(key)
    expect(written).toEqual(['Succeeded', 'Creating'])
  })

  it('is not held back where only the status tells whose the connector is', async () => {
    stage.place.worker = { ...stage.place.worker, writesOwnerMarker: false }
    await stage.connectors().reconcile(apply())
    expect(written).toEqual(['Creating'])
  })

  it('is not held back where another resource claims the connector', async () => {
    apply('other', { name: 'orders' })
    stage.place.worker = { ...stage.place.worker, allowsExplicitNames: true }
    await stage.connectors().reconcile(apply())
    await stage.connectors().reconcile('Connector/default/other')
    expect(written).toHaveLength(2)
    expect(written).toContain('Creating')
    expect(written).toContain('Conflict')
  })

  it('is of that resource, and of none that takes its name later', async () => {
    const { reconcile } = stage.connectors()
    const key = apply('orders', { deletionPolicy: 'Retain' })
    await reconcile(key)
    stage.cluster.remove(key)
    const requeue = apply('orders', { driftPolicy: 'Report', deletionPolicy: 'Retain' })
    stage.worker.connectors.clear()
    await reconcile(requeue)
    expect(stage.worker.writes).toEqual(['create orders', 'create orders'])
  })
})
