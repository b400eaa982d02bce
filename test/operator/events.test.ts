import { beforeEach, describe, expect, it } from 'vitest'
import type { ResourceKey } from '../../src/operator/resources/resource.ts'
import { createReconcilerFixture } from '../support/reconciler-fixture.ts'

// Each change is reported by one Event.

let fixture = createReconcilerFixture()

beforeEach(() => {
  fixture = createReconcilerFixture()
})

/** The reasons of the Events since the last call. */
function newReasons(): readonly string[] {
  return fixture.cluster.events.splice(0).map(({ reason }) => reason)
}

const datagen = { class: 'Datagen', config: { topic: 'orders' } }

describe('the Events of a Connector', () => {
  let settle: (key: ResourceKey<'Connector'>) => Promise<unknown>
  const apply = (spec: object = {}, annotations = {}) =>
    fixture.cluster.apply('Connector', 'orders', { ...datagen, ...spec }, annotations)

  beforeEach(() => {
    settle = fixture.connectors().settle
  })

  it('report its creation, changes, requested restarts and offsets operations, and nothing without a change', async () => {
    await settle(apply())
    expect(newReasons()).toEqual(['Created'])
    await settle(apply())
    expect(newReasons()).toEqual([])
    await settle(apply({ tasksMax: 2 }))
    expect(newReasons()).toEqual(['Updated'])
    await settle(apply({ tasksMax: 2, state: 'Paused' }))
    expect(newReasons()).toEqual(['StateChanged'])
    await settle(apply({ tasksMax: 2 }, { 'weir.dev/restart-requested-at': '1' }))
    expect(newReasons()).toEqual(['StateChanged', 'RestartRequested'])
    const operation = { id: 'again', type: 'Reset' }
    await settle(apply({ tasksMax: 2, offsets: { operation } }, { 'weir.dev/restart-requested-at': '1' }))
    expect(newReasons()).toEqual(['OffsetsReset', 'StateChanged'])
  })

  it('report its adoption with the names of the changed keys', async () => {
    fixture.worker.connectors.set('orders', { config: { topic: 'old' }, state: 'RUNNING', tasks: [], offsets: [] })
    await settle(apply())
    expect(fixture.cluster.events).toEqual([
      { type: 'Normal', reason: 'Adopted', note: expect.stringMatching(/^changing connector.class, name, .*topic$/) },
    ])
  })

  it.each([
    ['Correct', ['DriftCorrected'], []],
    ['Report', ['DriftDetected'], []],
  ])('report drift once with driftPolicy %s', async (driftPolicy, first, then) => {
    const key = apply({ driftPolicy })
    await settle(key)
    newReasons()
    await fixture.worker.putConfig('orders', { ...fixture.worker.connectors.get('orders')!.config, topic: 'other' })
    await settle(key)
    expect(newReasons()).toEqual(first)
    await settle(key)
    expect(newReasons()).toEqual(then)
  })

  it('report its suspension, and what its deletion leaves in place', async () => {
    const key = apply()
    await settle(key)
    await settle(apply({ suspend: true }))
    fixture.cluster.remove(key)
    await settle(key)
    expect(newReasons()).toEqual(['Created', 'Suspended', 'Abandoned'])
  })

  it('report that another resource manages the connector', async () => {
    await settle(apply())
    const loser = fixture.cluster.apply('Connector', 'second', { ...datagen, name: 'orders' })
    for (let reconcile = 0; reconcile < 2; reconcile++) await settle(loser)
    expect(newReasons()).toEqual(['Created', 'Conflict'])
  })
})

describe('the Events of a Subject', () => {
  it('report registrations, changes of the compatibility level, and why a schema is incompatible', async () => {
    const { settle } = fixture.subjects()
    const apply = (spec: object) => fixture.cluster.apply('Subject', 'user', spec)
    await settle(apply({ schema: '"int"', compatibility: 'BACKWARD' }))
    expect(newReasons()).toEqual(['CompatibilityChanged', 'Registered'])
    await settle(apply({ schema: '"string"', compatibility: 'BACKWARD' }))
    expect(newReasons()).toEqual(['Incompatible'])
    await settle(apply({ schema: '"int"' }))
    expect(newReasons()).toEqual(['CompatibilityReverted'])
  })

  it('report the correction of a compatibility level that another client changed', async () => {
    const { settle } = fixture.subjects()
    const key = fixture.cluster.apply('Subject', 'user', { compatibility: 'FULL' })
    await settle(key)
    await fixture.registry.putConfig({ compatibility: 'NONE' }, 'user')
    newReasons()
    await settle(key)
    expect(newReasons()).toEqual(['DriftCorrected'])
  })
})

describe('the Events of a RegistryMode', () => {
  const scope = { type: 'Context', context: '.legacy' }

  it('report that the mode was set, corrected and restored', async () => {
    const { settle } = fixture.modes()
    const key = fixture.cluster.apply('RegistryMode', 'freeze', { scope, mode: 'READONLY' })
    await settle(key)
    expect(newReasons()).toEqual(['ModeChanged'])
    fixture.registry.modes.set(':.legacy:', 'FORWARD')
    await settle(key)
    expect(newReasons()).toEqual(['DriftCorrected'])
    fixture.cluster.remove(key)
    await settle(key)
    expect(newReasons()).toEqual(['ModeRestored'])
  })

  it('report the begin and the end of its window', async () => {
    const { settle } = fixture.modes()
    const window = { duration: '1h' }
    const key = fixture.cluster.apply('RegistryMode', 'freeze', { scope, mode: 'READONLY', window })
    await settle(key)
    await fixture.clock.advance(3_600_000)
    await settle(key)
    expect(newReasons()).toEqual(['WindowOpened', 'WindowClosed'])
  })

  it('report a window that closed too late', async () => {
    const { settle } = fixture.modes()
    const window = { duration: '1h' }
    const key = fixture.cluster.apply('RegistryMode', 'freeze', { scope, mode: 'READONLY', window })
    await settle(key)
    expect(newReasons()).toEqual(['WindowOpened'])
    await fixture.clock.advance(7_200_000)
    await settle(key)
    expect(newReasons()).toEqual(['WindowClosed', 'WindowOverdue'])
    await settle(key)
    expect(newReasons()).toEqual([])
  })
})
