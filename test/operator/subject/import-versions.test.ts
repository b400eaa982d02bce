import { beforeEach, describe, expect, it } from 'vitest'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { cluster, registry, subjects: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ cluster, registry, subjects: operator } = createReconcilerFixture())
})

type Field = { readonly name: string; readonly type: string; readonly default?: unknown }
const record = (...fields: Field[]) => JSON.stringify({ type: 'record', name: 'Order', fields })
const ID: Field = { name: 'id', type: 'long' }
const COUPON: Field = { name: 'coupon', type: 'string' }

describe('spec.imports', () => {
  const imports = [
    { version: 3, id: 30, schema: record(ID, { ...COUPON, default: '' }) },
    { version: 1, id: 10, schema: record(ID) },
  ]

  it('are registered with their versions and ids, oldest first, before the current schema', async () => {
    registry.modes.set('', 'IMPORT')
    const key = cluster.apply('Subject', 'orders-value', { imports })
    const { settle, readiness } = operator()
    await settle(key)
    expect(registry.schemas.get('orders-value')?.map(({ version, id }) => [version, id])).toEqual([
      [1, 10],
      [3, 30],
    ])
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(cluster.get(key)?.status).toMatchObject({ imported: 2, latestVersion: 3 })
    registry.modes.set('', 'READWRITE')
    registry.schemas.set('orders-value', registry.schemas.get('orders-value')!.slice(1))
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await settle(key)
    expect(registry.schemas.get('orders-value')).toHaveLength(2)
  })

  it('wait for a RegistryMode that sets IMPORT, and are Stalled without one', async () => {
    const key = cluster.apply('Subject', 'orders-value', { imports })
    const { reconcile, readiness } = operator()
    await reconcile(key)
    expect(readiness(key)).toBe('Stalled/WaitingForImportMode')
    cluster.apply('RegistryMode', 'open', { scope: { type: 'Registry' }, mode: 'IMPORT' })
    await reconcile(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForImportMode')
    expect(registry.writes).toEqual([])
  })

  it('conflict with other schemas that exist under the same version', async () => {
    registry.modes.set('', 'IMPORT')
    await registry.register('orders-value', { schema: record(ID), id: 10, version: 1 })
    const same = cluster.apply('Subject', 'orders-value', { imports })
    const { settle, readiness, condition } = operator()
    await settle(same)
    expect(readiness(same)).toBe('Ready=True/Succeeded')
    expect(registry.writes).toEqual(['register orders-value', 'register orders-value'])
    for (const [one, why] of [
      [{ version: 1, id: 11, schema: record(ID) }, 'with id 10'],
      [{ version: 1, id: 10, schema: record(COUPON) }, 'with another schema'],
    ] as const) {
      cluster.apply('Subject', 'orders-value', { imports: [one] })
      await settle(same)
      expect(readiness(same)).toBe('Stalled/ImportConflict')
      expect(condition(same, 'Ready')?.message).toContain(why)
    }
  })
})

describe('an import with the id of another schema', () => {
  it('reports ImportConflict, not RegistryReadOnly', async () => {
    registry.modes.set('', 'IMPORT')
    await registry.register('payments-value', { schema: record(COUPON), id: 10, version: 1 })
    const key = cluster.apply('Subject', 'orders-value', { imports: [{ version: 1, id: 10, schema: record(ID) }] })
    const { settle, readiness, condition } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Stalled/ImportConflict')
    expect(condition(key, 'Ready')?.message).toContain('id 10, declared for version 1 of orders-value')
  })
})
