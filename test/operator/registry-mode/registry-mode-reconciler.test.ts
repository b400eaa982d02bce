import { beforeEach, describe, expect, it } from 'vitest'
import type { ResourceKey } from '../../../src/operator/resources/resource.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { clock, cluster, registry, subjects, modes: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, registry, subjects, modes: operator } = createReconcilerFixture())
})

const legacy = { type: 'Context', context: '.legacy' }

describe('the reconcile of a RegistryMode', () => {
  it('sets the mode of its scope, and restores the previous one when the resource is deleted', async () => {
    const { settle, readiness } = operator()
    const key = cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY' })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(registry.modes.get(':.legacy:')).toBe('READONLY')
    cluster.remove(key)
    await settle(key)
    expect(registry.modes.has(':.legacy:')).toBe(false)
    expect(cluster.get(key)).toBeUndefined()
  })

  it.each([
    ['the registry', { type: 'Registry' }, 'orders-value'],
    ['a context', legacy, ':.legacy:orders-value'],
    ['a subject', { type: 'Subject', subject: 'orders-value' }, 'orders-value'],
  ])('sets IMPORT only if %s is empty or with force, and checks this before it writes', async (_, scope, subject) => {
    await registry.register('other', { schema: '"int"' })
    await registry.register(subject, { schema: '"int"' })
    const writes = registry.writes.length
    const { settle, readiness } = operator()
    const key = cluster.apply('RegistryMode', 'import', { scope, mode: 'IMPORT' })
    await settle(key)
    expect(readiness(key)).toBe('Stalled/ScopeNotEmpty')
    expect(registry.writes).toHaveLength(writes)
    cluster.apply('RegistryMode', 'import', { scope, mode: 'IMPORT', force: true })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('sets IMPORT in an empty scope, although other scopes have subjects', async () => {
    await registry.register('orders-value', { schema: '"int"' })
    const { settle, readiness } = operator()
    const key = cluster.apply('RegistryMode', 'import', { scope: legacy, mode: 'IMPORT' })
    await settle(key)
    await registry.register(':.legacy:orders-value', { schema: '"int"' })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('does not restore a mode at the deletion that another client has changed since', async () => {
    const { settle } = operator()
    const key = cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY' })
    await settle(key)
    registry.modes.set(':.legacy:', 'FORWARD')
    cluster.remove(key)
    await settle(key)
    expect(registry.modes.get(':.legacy:')).toBe('FORWARD')
  })

  it('sets the mode for the duration of its window, once for each id', async () => {
    const { reconcile, settle, condition } = operator()
    const window = { duration: '1h' }
    const key = cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY', window })
    await settle(key)
    expect(condition(key, 'WindowOpen')?.status).toBe('True')
    await clock.advance(3_600_000)
    await settle(key)
    expect(registry.modes.has(':.legacy:')).toBe(false)
    expect(condition(key, 'WindowOpen')?.status).toBe('False')
    await reconcile(key)
    expect(registry.modes.has(':.legacy:')).toBe(false)
    cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY', window: { id: '2', duration: '1h' } })
    await settle(key)
    expect(registry.modes.get(':.legacy:')).toBe('READONLY')
  })

  it('restores the previous mode although its window, which has closed, is not declared any more', async () => {
    const { settle } = operator()
    const spec = { scope: legacy, mode: 'READONLY' }
    const key = cluster.apply('RegistryMode', 'freeze', { ...spec, window: { duration: '1h' } })
    await settle(key)
    await clock.advance(3_600_000)
    await settle(key)
    cluster.apply('RegistryMode', 'freeze', spec)
    await settle(key)
    expect(registry.modes.get(':.legacy:')).toBe('READONLY')
    cluster.remove(key)
    await settle(key)
    expect(registry.modes.has(':.legacy:')).toBe(false)
  })

  it('restores IMPORT although the scope has subjects', async () => {
    registry.modes.set(':.legacy:', 'IMPORT')
    await registry.register(':.legacy:orders-value', { schema: '"int"' })
    const { settle } = operator()
    const key = cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY' })
    await settle(key)
    cluster.remove(key)
    await settle(key)
    expect(registry.modes.get(':.legacy:')).toBe('IMPORT')
  })

  it('restores the previous settings although it crashed before it recorded the current ones', async () => {
    const { settle } = operator()
    const key = cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY', compatibility: 'FULL' })
    await settle(key)
    cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'FORWARD', compatibility: 'NONE' })
    registry.modes.set(':.legacy:', 'FORWARD')
    registry.levels.set(':.legacy:', 'NONE')
    cluster.remove(key)
    await settle(key)
    expect([registry.modes.has(':.legacy:'), registry.levels.has(':.legacy:')]).toEqual([false, false])
  })

  it.each([
    ['Correct', 'READONLY', 'True'],
    ['Report', 'FORWARD', 'False'],
  ])('handles a mode that another client changed according to driftPolicy %s', async (driftPolicy, mode, synced) => {
    const { settle, condition } = operator()
    const key = cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY', driftPolicy })
    await settle(key)
    registry.modes.set(':.legacy:', 'FORWARD')
    await settle(key)
    expect(registry.modes.get(':.legacy:')).toBe(mode)
    expect(condition(key, 'Synced')?.status).toBe(synced)
  })

  it('sets a level only, and restores it when the resource is deleted', async () => {
    const { settle, readiness } = operator()
    const key = cluster.apply('RegistryMode', 'level', { scope: legacy, compatibility: 'FULL' })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(registry.writes).toEqual(['putConfig :.legacy: FULL'])
    cluster.remove(key)
    await settle(key)
    expect([registry.modes.has(':.legacy:'), registry.levels.has(':.legacy:')]).toEqual([false, false])
  })

  it.each([undefined, 'FORWARD'] as const)(
    'restores the mode %s that was there before when the mode is no longer declared, and the level when that is not',
    async (before) => {
      if (before !== undefined) registry.modes.set(':.legacy:', before)
      const { settle, readiness } = operator()
      const modes = () => [registry.modes.get(':.legacy:'), registry.levels.get(':.legacy:')]
      const key = cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY' })
      await settle(key)
      expect(modes()).toEqual(['READONLY', undefined])
      cluster.apply('RegistryMode', 'freeze', { scope: legacy, compatibility: 'FULL' })
      await settle(key)
      expect([readiness(key), ...modes()]).toEqual(['Ready=True/Succeeded', before, 'FULL'])
      cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY' })
      await settle(key)
      expect(modes()).toEqual(['READONLY', undefined])
    },
  )

  it('does not touch a mode that another client has set while only a level is declared', async () => {
    const { settle } = operator()
    const key = cluster.apply('RegistryMode', 'level', { scope: legacy, compatibility: 'FULL' })
    await settle(key)
    registry.modes.set(':.legacy:', 'READONLY')
    await settle(key)
    cluster.remove(key)
    await settle(key)
    expect(registry.modes.get(':.legacy:')).toBe('READONLY')
  })

  it('restores the mode and the level at the deletion although it was suspended meanwhile', async () => {
    const { settle } = operator()
    const spec = { scope: legacy, mode: 'READONLY', compatibility: 'FULL' }
    const key = cluster.apply('RegistryMode', 'freeze', spec)
    await settle(key)
    cluster.apply('RegistryMode', 'freeze', { ...spec, suspend: true })
    await settle(key)
    cluster.apply('RegistryMode', 'freeze', { scope: legacy, compatibility: 'FULL' })
    cluster.remove(key)
    await settle(key)
    expect([registry.modes.has(':.legacy:'), registry.levels.has(':.legacy:')]).toEqual([false, false])
  })

  it('assigns a scope to one of two resources', async () => {
    const { settle, readiness } = operator()
    const first = cluster.apply('RegistryMode', 'a', { mode: 'READONLY' })
    const second = cluster.apply('RegistryMode', 'b', { mode: 'IMPORT' })
    await settle(second)
    await settle(first)
    expect([readiness(first), readiness(second)]).toEqual(['Ready=True/Succeeded', 'Stalled/Conflict'])
  })

  it('closes its window in time although the clock was set back after it opened', async () => {
    const window = { id: '1', duration: '1h' }
    const key = cluster.apply('RegistryMode', 'freeze', { scope: legacy, mode: 'READONLY', window })
    const { settle, reconcile, condition } = operator()
    await settle(key)
    clock.jump(-86_400_000)
    for (let minutes = 0; minutes < 50; minutes += 10) {
      await reconcile(key)
      await clock.advance(600_000)
    }
    expect(condition(key, 'WindowOpen')?.status).toBe('True')
    await clock.advance(600_000)
    await settle(key)
    expect(condition(key, 'WindowOpen')).toMatchObject({ status: 'False', reason: 'Closed' })
    expect(registry.modes.has(':.legacy:')).toBe(false)
  })

  describe('with closeWhenImported', () => {
    const window = { id: '1', duration: '1h', closeWhenImported: true }
    const imports = (...ids: number[]) => ({
      imports: ids.map((id, at) => ({ version: at + 1, id, schema: JSON.stringify({ type: 'int', doc: `${id}` }) })),
    })
    let key: ResourceKey<'RegistryMode'>
    let mode: ReturnType<typeof operator>
    const imported = async (name: string, ...ids: number[]) => {
      const subject = cluster.apply('Subject', name, imports(...ids))
      await subjects().settle(subject)
    }
    const isOpen = () => mode.condition(key, 'WindowOpen')?.status === 'True'

    beforeEach(async () => {
      mode = operator()
      key = cluster.apply('RegistryMode', 'import', { mode: 'IMPORT', window })
      await mode.settle(key)
    })

    it('closes the window ten seconds after the last import', async () => {
      await clock.advance(60_000)
      expect(await mode.reconcile(key)).toEqual({ afterMs: 30_000 })
      await imported('a', 101)
      expect(await mode.reconcile(key)).toEqual({ afterMs: 10_000 })
      await clock.advance(6_000)
      await imported('b', 102)
      await clock.advance(6_000)
      expect(await mode.reconcile(key)).toEqual({ afterMs: 4_000 })
      expect(isOpen()).toBe(true)
      await clock.advance(4_000)
      await mode.settle(key)
      expect(isOpen()).toBe(false)
      expect(registry.modes.get('')).toBe('READWRITE')
    })

    it.each([
      ['declared', 'b', [102]],
      ['changed', 'a', [101, 102]],
    ] as const)('waits for a Subject that was %s after the others had been imported', async (_, name, ids) => {
      await imported('a', 101)
      await clock.advance(9_000)
      cluster.apply('Subject', name, imports(...ids))
      await clock.advance(60_000)
      await mode.reconcile(key)
      expect(isOpen()).toBe(true)
      await imported(name, ...ids)
      expect(await mode.reconcile(key)).toEqual({ afterMs: 10_000 })
      await clock.advance(10_000)
      await mode.settle(key)
      expect(isOpen()).toBe(false)
    })

    it('opens another window with another id', async () => {
      await imported('a', 101)
      await clock.advance(10_000)
      await mode.settle(key)
      cluster.apply('RegistryMode', 'import', { mode: 'IMPORT', force: true, window: { ...window, id: '2' } })
      await mode.settle(key)
      const modes = registry.writes.filter((one) => one.startsWith('putMode')).map((one) => one.split(' ').at(-1))
      expect(modes).toEqual(['IMPORT', 'READWRITE', 'IMPORT', 'READWRITE'])
    })

    it('does not wait for a time of import that is in the future because the clock was set back', async () => {
      await imported('a', 101)
      clock.jump(-60_000)
      await mode.settle(key)
      expect(isOpen()).toBe(false)
    })
  })
})
