import { beforeEach, describe, expect, it } from 'vitest'
import type { ResourceKey } from '../../src/operator/resources/resource.ts'
import { createReconcilerFixture } from '../support/reconciler-fixture.ts'

// What people are told of, once, when it happens.

let fixture = createReconcilerFixture()

beforeEach(() => {
  fixture = createReconcilerFixture()
})

/** The reasons told since this was last asked. */
function told(): readonly string[] {
  return fixture.cluster.events.splice(0).map(({ reason }) => reason)
}

const datagen = { class: 'Datagen', config: { topic: 'orders' } }

describe('of a Connector people are told', () => {
  let settle: (key: ResourceKey<'Connector'>) => Promise<unknown>
  const apply = (spec: object = {}, annotations = {}) =>
    fixture.cluster.apply('Connector', 'orders', { ...datagen, ...spec }, annotations)

  beforeEach(() => {
    settle = fixture.connectors().settle
  })

  it('that it was made, changed, paused, restarted as asked and set to other offsets; nothing while nothing happens', async () => {
    await settle(apply())
    expect(told()).toEqual(['Created'])
    await settle(apply())
    expect(told()).toEqual([])
    await settle(apply({ tasksMax: 2 }))
    expect(told()).toEqual(['Updated'])
    await settle(apply({ tasksMax: 2, state: 'Paused' }))
    expect(told()).toEqual(['StateChanged'])
    await settle(apply({ tasksMax: 2 }, { 'weir.dev/restart-requested-at': '1' }))
    expect(told()).toEqual(['StateChanged', 'RestartRequested'])
    const operation = { id: 'again', type: 'Reset' }
    await settle(apply({ tasksMax: 2, offsets: { operation } }, { 'weir.dev/restart-requested-at': '1' }))
    expect(told()).toEqual(['OffsetsReset', 'StateChanged'])
  })

  it('that it was taken over, with the names of the keys that change', async () => {
    fixture.worker.connectors.set('orders', { config: { topic: 'old' }, state: 'RUNNING', tasks: [], offsets: [] })
    await settle(apply())
    expect(fixture.cluster.events).toEqual([
      { type: 'Normal', reason: 'Adopted', note: expect.stringMatching(/^changing connector.class, name, .*topic$/) },
    ])
  })

  it.each([
    ['Correct', ['DriftCorrected'], []],
    ['Report', ['DriftDetected'], []],
  ])('of drift, once, with driftPolicy %s', async (driftPolicy, first, then) => {
    const key = apply({ driftPolicy })
    await settle(key)
    told()
    await fixture.worker.putConfig('orders', { ...fixture.worker.connectors.get('orders')!.config, topic: 'other' })
    await settle(key)
    expect(told()).toEqual(first)
    await settle(key)
    expect(told()).toEqual(then)
  })

  it('that it was suspended, and what its deletion leaves behind', async () => {
    const key = apply()
    await settle(key)
    await settle(apply({ suspend: true }))
    fixture.cluster.remove(key)
    await settle(key)
    expect(told()).toEqual(['Created', 'Suspended', 'Abandoned'])
  })

  it('that another one has its name', async () => {
    await settle(apply())
    const loser = fixture.cluster.apply('Connector', 'second', { ...datagen, name: 'orders' })
    for (let reconcile = 0; reconcile < 2; reconcile++) await settle(loser)
    expect(told()).toEqual(['Created', 'Conflict'])
  })
})

describe('of a Subject people are told', () => {
  it('what was registered, which level was set and taken back, and why a schema is not taken', async () => {
    const { settle } = fixture.subjects()
    const apply = (spec: object) => fixture.cluster.apply('Subject', 'user', spec)
    await settle(apply({ schema: '"int"', compatibility: 'BACKWARD' }))
    expect(told()).toEqual(['CompatibilityChanged', 'Registered'])
    await settle(apply({ schema: '"string"', compatibility: 'BACKWARD' }))
    expect(told()).toEqual(['Incompatible'])
    await settle(apply({ schema: '"int"' }))
    expect(told()).toEqual(['CompatibilityReverted'])
  })

  it('that a level which somebody changed was put back', async () => {
    const { settle } = fixture.subjects()
    const key = fixture.cluster.apply('Subject', 'user', { compatibility: 'FULL' })
    await settle(key)
    await fixture.registry.putConfig({ compatibility: 'NONE' }, 'user')
    told()
    await settle(key)
    expect(told()).toEqual(['DriftCorrected'])
  })
})

describe('of a RegistryMode people are told', () => {
  const scope = { type: 'Context', context: '.legacy' }

  it('that it was set, put back after somebody changed it, and restored', async () => {
    const { settle } = fixture.modes()
    const key = fixture.cluster.apply('RegistryMode', 'freeze', { scope, mode: 'READONLY' })
    await settle(key)
    expect(told()).toEqual(['ModeChanged'])
    fixture.registry.modes.set(':.legacy:', 'FORWARD')
    await settle(key)
    expect(told()).toEqual(['DriftCorrected'])
    fixture.cluster.remove(key)
    await settle(key)
    expect(told()).toEqual(['ModeRestored'])
  })

  it('when its window opens and closes', async () => {
    const { settle } = fixture.modes()
    const window = { duration: '1h' }
    const key = fixture.cluster.apply('RegistryMode', 'freeze', { scope, mode: 'READONLY', window })
    await settle(key)
    await fixture.clock.advance(3_600_000)
    await settle(key)
    expect(told()).toEqual(['WindowOpened', 'WindowClosed'])
  })

  it('that its window closed late, when nobody could close it in time', async () => {
    const { settle } = fixture.modes()
    const window = { duration: '1h' }
    const key = fixture.cluster.apply('RegistryMode', 'freeze', { scope, mode: 'READONLY', window })
    await settle(key)
    expect(told()).toEqual(['WindowOpened'])
    await fixture.clock.advance(7_200_000)
    await settle(key)
    expect(told()).toEqual(['WindowClosed', 'WindowOverdue'])
    await settle(key)
    expect(told()).toEqual([])
  })
})
