import { beforeEach, describe, expect, it } from 'vitest'
import { findClaimants, resolveConnectorName } from '../../../src/operator/connector/connector-name.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { cluster, worker, runtimeConfigs, connectors: operator } = createReconcilerFixture()
const datagen = { class: 'Datagen', config: { topic: 'orders' } }
const named = (nameTemplate: string, allowsExplicitNames = false) => {
  runtimeConfigs.worker = { ...runtimeConfigs.worker, nameTemplate, allowsExplicitNames }
}

beforeEach(() => {
  ;({ cluster, worker, runtimeConfigs, connectors: operator } = createReconcilerFixture())
})

describe('nameTemplate', () => {
  it.each([
    ['{name}', 'orders'],
    ['{namespace}.{name}', 'default.orders'],
    ['{name}-of-{namespace}', 'orders-of-default'],
    ['team_{name}', 'team_orders'],
    ['{namespace}{name}', 'defaultorders'],
  ])('%s names the connectors that are created, observed and deleted', async (template, name) => {
    named(template)
    const { settle, readiness, reconcile } = operator()
    const key = cluster.apply('Connector', 'orders', datagen)
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(worker.connectors.get(name)?.config).toMatchObject({ name })
    expect(cluster.get(key)?.status.connectorName).toBe(name)
    expect(findClaimants(runtimeConfigs.worker, name, cluster)).toEqual([cluster.get(key)])
    expect(findClaimants(runtimeConfigs.worker, `x${name}x`, cluster)).toEqual([])
    cluster.remove(key)
    await reconcile(key)
    await reconcile(key)
    expect([worker.connectors.size, cluster.get(key)]).toEqual([0, undefined])
  })

  it('does not apply to spec.name if allowExplicitNames is true', () => {
    const resource = cluster.get(cluster.apply('Connector', 'a', { ...datagen, name: 'Orders' }))!
    named('{namespace}.{name}')
    expect(resolveConnectorName(runtimeConfigs.worker, resource)).toBe('default.Orders')
    named('{namespace}.{name}', true)
    expect(resolveConnectorName(runtimeConfigs.worker, resource)).toBe('Orders')
  })

  it('resolves two resources to the same name: one owns it', async () => {
    named('{namespace}.{name}', true)
    const { settle, readiness } = operator()
    const first = cluster.apply('Connector', 'orders', datagen)
    const second = cluster.apply('Connector', 'other', { ...datagen, name: 'default.orders' })
    const third = cluster.apply('Connector', 'third', { ...datagen, name: 'orders' })
    for (const key of [first, second, third]) await settle(key)
    expect([first, second, third].map(readiness)).toEqual([
      'Ready=True/Succeeded',
      'Stalled/Conflict',
      'Ready=True/Succeeded',
    ])
    expect([...worker.connectors.keys()]).toEqual(['default.orders', 'orders'])
  })

  it('does not rename an existing connector when it changes, and reports ClusterConfigInvalid', async () => {
    const { settle, readiness, condition, reconcile } = operator()
    const key = cluster.apply('Connector', 'orders', datagen)
    await settle(key)
    named('{namespace}.{name}')
    await settle(key)
    expect(readiness(key)).toBe('Stalled/ClusterConfigInvalid')
    expect(condition(key, 'Ready')?.message).toContain('connector orders would be renamed to default.orders')
    expect([...worker.connectors.keys()]).toEqual(['orders'])
    cluster.remove(key)
    await reconcile(key)
    await reconcile(key)
    expect([...worker.connectors.keys()]).toEqual([])
  })
})
