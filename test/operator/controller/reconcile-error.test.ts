import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { ClusterError } from '../../../src/clients/kubernetes/cluster-error.ts'
import type { ResourceKey } from '../../../src/operator/resources/resource.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

// A Connector that reads a ConfigMap: errors come from the worker or from the API server.

let fixture = createReconcilerFixture()
let key: ResourceKey<'Connector'>
let operator: ReturnType<typeof fixture.connectors>

beforeEach(async () => {
  fixture = createReconcilerFixture()
  fixture.cluster.configMaps.set('default/base', { topic: 'orders' })
  const spec = { class: 'Datagen', configFrom: [{ configMapRef: { name: 'base' } }] }
  key = fixture.cluster.apply('Connector', 'orders', spec)
  operator = fixture.connectors()
  await operator.settle(key)
})

const failing = (error: Error) => () => Promise.reject(error)

describe('an error of the API server', () => {
  it('is reported as Forbidden, not as an error of the worker, when a permission is missing', async () => {
    const message = 'configmaps "base" is forbidden: User "weir" cannot get resource "configmaps"'
    fixture.cluster.configMap = failing(new ClusterError('forbidden', message))
    expect(await operator.reconcile(key)).toBe('rate-limited')
    expect(operator.readiness(key)).toBe('Stalled/Forbidden')
    expect(operator.condition(key, 'Ready')).toMatchObject({ status: 'Unknown', message })
  })

  it('keeps a resource Ready for a minute, then reports that the API server does not respond', async () => {
    const message = 'the API server at 127.0.0.1:6443 does not respond: ECONNREFUSED'
    fixture.cluster.configMap = failing(new ClusterError('unreachable', message))
    expect(await operator.reconcile(key)).toBe('rate-limited')
    expect(operator.readiness(key)).toBe('Ready=True/Succeeded')
    await fixture.clock.advance(61_000)
    await operator.reconcile(key)
    expect(operator.readiness(key)).toBe('Reconciling/InternalError')
    expect(operator.condition(key, 'Ready')).toMatchObject({ status: 'Unknown', message })
  })
})

describe('an error of a runtime', () => {
  it('keeps a resource Ready for a minute, each time that it begins', async () => {
    const { status, connectors } = fixture.worker
    const away = () => Promise.reject(new RequestError(0, 0, 'ECONNREFUSED'))
    expect(connectors.size).toBe(1)
    for (let time = 0; time < 3; time++) {
      fixture.worker.status = away
      await operator.reconcile(key)
      await fixture.clock.advance(40_000)
      await operator.reconcile(key)
      expect(operator.readiness(key)).toBe('Ready=True/Succeeded')
      fixture.worker.status = status
      await operator.settle(key)
    }
  })
})

describe('a change that is not applied yet', () => {
  const unavailable = () => Promise.reject(new RequestError(503, 503, 'unavailable'))

  it('is not Ready while the worker cannot apply it, although the previous configuration was Ready', async () => {
    fixture.worker.putConfig = unavailable
    fixture.cluster.apply('Connector', 'orders', { class: 'Datagen', config: { topic: 'payments' } })
    await operator.reconcile(key)
    expect(fixture.cluster.get(key)?.status.observedGeneration).toBe(fixture.cluster.get(key)?.metadata.generation)
    expect(operator.readiness(key)).toBe('Reconciling/WorkerUnreachable')
    expect(operator.condition(key, 'Ready')?.status).toBe('Unknown')
    await operator.reconcile(key)
    expect(operator.readiness(key)).toBe('Reconciling/WorkerUnreachable')
  })

  it('is not Ready while the worker cannot be read', async () => {
    fixture.worker.get = unavailable
    fixture.cluster.apply('Connector', 'orders', { class: 'Datagen', config: { topic: 'payments' } })
    await operator.reconcile(key)
    expect(operator.readiness(key)).toBe('Reconciling/WorkerUnreachable')
  })

  it('is not Ready when it comes from a ConfigMap, which leaves the generation unchanged', async () => {
    const { get } = fixture.worker
    fixture.worker.get = unavailable
    fixture.cluster.configMaps.set('default/base', { topic: 'payments' })
    await operator.reconcile(key)
    expect(operator.readiness(key)).toBe('Reconciling/WorkerUnreachable')
    fixture.worker.get = get
    await operator.settle(key)
    expect(operator.readiness(key)).toBe('Ready=True/Succeeded')
    expect(fixture.worker.connectors.get('orders')?.config).toMatchObject({ topic: 'payments' })
  })

  it('is not Ready while the registry does not respond', async () => {
    const subject = fixture.cluster.apply('Subject', 'orders-value', { schema: '"string"' })
    const subjects = fixture.subjects()
    await subjects.settle(subject)
    fixture.registry.versions = unavailable
    fixture.registry.lookup = unavailable
    fixture.registry.register = unavailable
    fixture.cluster.apply('Subject', 'orders-value', { schema: '"bytes"' })
    await subjects.reconcile(subject)
    expect(subjects.readiness(subject)).toBe('Reconciling/RegistryUnreachable')
  })
})

describe('a rebalance', () => {
  const rebalancing = () => Promise.reject(new RequestError(409, 409, 'rebalance in process', { retriable: true }))

  it('is polled with growing pauses, and a resource stays Ready for healthGrace', async () => {
    fixture.runtimeConfigs.worker = { ...fixture.runtimeConfigs.worker, readinessGracePeriodMs: 20_000 }
    fixture.worker.get = rebalancing
    const pauses: unknown[] = []
    for (let count = 0; count < 6; count++) {
      const requeue = await operator.reconcile(key)
      pauses.push(requeue)
      if (operator.readiness(key) !== 'Ready=True/Succeeded') break
      await fixture.clock.advance(typeof requeue === 'string' ? 60_000 : requeue.afterMs)
    }
    expect(pauses).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 15_000].map((afterMs) => ({ afterMs })))
    await operator.reconcile(key)
    expect(operator.readiness(key)).toBe('Ready=Unknown/Rebalancing')
  })

  it.each(['UNASSIGNED', 'RESTARTING'] as const)(
    'keeps a resource with a task that is %s Ready for a while',
    async (state) => {
      const { tasks } = fixture.worker.connectors.get('orders')!
      tasks[0] = { state }
      expect(await operator.reconcile(key)).toEqual({ afterMs: 2_000 })
      expect(operator.readiness(key)).toBe('Ready=True/Succeeded')
      expect(fixture.cluster.get(key)?.status.tasks?.summary).toBe('0/1')
      await fixture.clock.advance(59_000)
      await operator.reconcile(key)
      expect(operator.readiness(key)).toBe('Ready=True/Succeeded')
      await fixture.clock.advance(1_000)
      await operator.reconcile(key)
      expect(operator.readiness(key)).toBe('Ready=Unknown/Rebalancing')
      tasks[0] = { state: 'RUNNING' }
      await operator.settle(key)
      expect(operator.readiness(key)).toBe('Ready=True/Succeeded')
    },
  )
})

describe('an unexpected error', () => {
  it('is reported as InternalError and retried', async () => {
    fixture.cluster.configMap = failing(new TypeError('x is not a function'))
    expect(await operator.reconcile(key)).toBe('rate-limited')
    expect(operator.readiness(key)).toBe('Reconciling/InternalError')
    expect(operator.condition(key, 'Ready')?.message).not.toContain('x is not a function')
  })
})
