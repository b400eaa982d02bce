import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createReconcilers } from '../../src/operator/controllers.ts'
import { createRuntimePollers, type RuntimePollers } from '../../src/operator/runtime-pollers.ts'
import type { RuntimeKind } from '../../src/operator/runtimes.ts'
import { requestsForRuntime } from '../../src/operator/watch-mapping.ts'
import { createReconcilerFixture } from '../support/reconciler-fixture.ts'

const INTERVAL_MS = 30_000

let fixture: ReturnType<typeof createReconcilerFixture>
let pollers: RuntimePollers
let enqueued: string[]

beforeEach(async () => {
  fixture = createReconcilerFixture()
  enqueued = []
  const { clock, cluster, worker, registry, runtimeConfigs } = fixture
  const runtimesConfig = {
    workers: [runtimeConfigs.worker],
    registries: [runtimeConfigs.registry, { name: 'torn', error: 'no url' }],
  }
  const connect = { worker: () => worker, registry: () => registry }
  const enqueue = (key: string, urgency: string) => enqueued.push(`${key} ${urgency}`)
  const onAvailabilityChange = (runtime: RuntimeKind, name: string) => {
    for (const key of requestsForRuntime(runtime, name, cluster)) enqueue(key, 'routine')
  }
  pollers = createRuntimePollers({
    runtimesConfig,
    cluster,
    clock,
    logger: silentLogger(),
    connect,
    enqueue,
    onAvailabilityChange,
  })
  const [connectors, subjects] = [fixture.connectors(), fixture.subjects()]
  const orders = cluster.apply('Connector', 'orders', { class: 'Datagen', config: { topic: 'orders' } })
  const user = cluster.apply('Subject', 'user', { schema: '"int"' })
  await connectors.settle(orders)
  await subjects.settle(user)
  pollers.start()
  onTestFinished(() => pollers.stop())
  await clock.advance(0)
})

async function enqueuedWithin(ms: number): Promise<readonly string[]> {
  enqueued.length = 0
  await fixture.clock.advance(ms)
  return [...enqueued].sort()
}

describe('the pollers of runtimes', () => {
  it('enqueue no resource whose status already matches the list', async () => {
    expect(enqueued).toEqual([])
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual([])
  })

  it('enqueue the resource of a connector or subject that another client changed', async () => {
    await fixture.worker.pause('orders')
    await fixture.registry.register('user', { schema: '"long"' })
    await fixture.registry.register('nobodys', { schema: '"long"' })
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual(['Connector/default/orders user', 'Subject/default/user user'])
    await fixture.worker.putConfig('orders', { 'connector.class': 'Datagen', topic: 'other' })
    await fixture.registry.deleteSubject('user')
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual(['Connector/default/orders user', 'Subject/default/user user'])
  })

  it('enqueue resources whose objects were created or deleted between two lists', async () => {
    const { cluster, registry } = fixture
    const brief = cluster.apply('Subject', 'brief', { schema: '"int"' })
    await fixture.subjects().settle(brief)
    await registry.deleteSubject('brief')
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual(['Subject/default/brief user'])
  })

  it('enqueue all resources of a runtime when it becomes unavailable and when it responds again', async () => {
    fixture.worker.failure = new Error('no answer')
    expect(await enqueuedWithin(INTERVAL_MS + 5_000)).toEqual(['Connector/default/orders routine'])
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual([])
    fixture.worker.failure = undefined
    expect(await enqueuedWithin(5_000)).toEqual(['Connector/default/orders routine'])
  })

  it('read only the declared subjects of a registry that has many more', async () => {
    const { registry } = fixture
    for (let at = 0; at < 200; at++) await registry.register(`nobodys-${at}`, { schema: '"int"' })
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual([])
    registry.latestVersions = () => Promise.reject(new Error('the whole list was asked for'))
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual([])
    await registry.register('user', { schema: '"long"' })
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual(['Subject/default/user user'])
    await registry.deleteSubject('user')
    expect(await enqueuedWithin(INTERVAL_MS)).toEqual(['Subject/default/user user'])
    registry.failure = new Error('no answer')
    expect(await enqueuedWithin(INTERVAL_MS + 5_000)).toEqual(['Subject/default/user routine'])
  })

  it('enqueue Subjects before those that reference them', () => {
    const { cluster } = fixture
    const referring = (name: string) => ({ schema: '"int"', references: [{ name, subjectRef: { name } }] })
    cluster.apply('Subject', 'a', referring('b'))
    cluster.apply('Subject', 'b', referring('c'))
    cluster.apply('Subject', 'c', { schema: '"int"' })
    cluster.apply('Subject', 'elsewhere', { schema: '"int"', registryRef: { name: 'torn' } })
    cluster.apply('RegistryMode', 'freeze', { mode: 'READONLY' })
    const requests = requestsForRuntime('registry', 'default', cluster)
    expect(requests.map((key) => key.split('/')[2])).toEqual(['freeze', 'user', 'c', 'b', 'a'])
  })

  it('extend the resync period of resources while their runtime is polled', async () => {
    const { cluster, clock, runtimes, compatibilityWorker } = fixture
    const { isPolled } = pollers
    const { Connector, Subject } = createReconcilers({
      cluster,
      clock,
      runtimes,
      compatibilityWorker,
      instance: 'test',
      isPolled,
    })
    const pause = async () => [
      (await Connector.reconcile(cluster.get('Connector/default/orders')!)).requeue,
      (await Subject.reconcile(cluster.get('Subject/default/user')!)).requeue,
    ]
    expect(await pause()).toEqual([{ afterMs: 600_000 }, { afterMs: 600_000 }])
    fixture.registry.failure = new Error('no answer')
    await clock.advance(INTERVAL_MS + 5_000)
    fixture.registry.failure = undefined
    expect(await pause()).toEqual([{ afterMs: 600_000 }, { afterMs: INTERVAL_MS }])
  })

  it('extend the resync period further with many resources, so that at most ten a second are read', async () => {
    const { cluster, clock, runtimes, compatibilityWorker } = fixture
    const polled = { isPolled: () => true, countResources: () => 20_000 }
    const { Connector } = createReconcilers({
      cluster,
      clock,
      runtimes,
      compatibilityWorker,
      instance: 'test',
      ...polled,
    })
    expect((await Connector.reconcile(cluster.get('Connector/default/orders')!)).requeue).toEqual({
      afterMs: 2_000_000,
    })
  })

  it('know which declared objects the last list did not contain, while the runtime is available', async () => {
    const { cluster, clock, worker } = fixture
    cluster.apply('Connector', 'payments', { class: 'Datagen', config: {} })
    for (const name of ['other', 'another']) cluster.apply('Subject', name, { schema: '"int"', subject: `:.:${name}` })
    const lacking = (runtime: 'worker' | 'registry', ...names: readonly string[]) =>
      names.filter((name) => pollers.isKnownAbsent(runtime, 'default', name))
    expect(lacking('worker', 'payments')).toEqual([])
    await clock.advance(INTERVAL_MS)
    cluster.apply('Connector', 'since', { class: 'Datagen', config: {} })
    expect(lacking('worker', 'orders', 'payments', 'since')).toEqual(['payments'])
    expect(lacking('registry', 'user', ':.:other', 'another', 'nobodys')).toEqual([':.:other', 'another'])
    expect(pollers.isKnownAbsent('worker', 'nobodys', 'payments')).toBe(false)
    worker.failure = new Error('no answer')
    await clock.advance(INTERVAL_MS + 5_000)
    expect(lacking('worker', 'payments')).toEqual([])
  })

  it('do not extend the resync period of Subjects with a level, which lists do not contain', async () => {
    const { cluster, clock, runtimes, compatibilityWorker } = fixture
    const { Subject } = createReconcilers({ cluster, clock, runtimes, compatibilityWorker, isPolled: () => true })
    const levelled = cluster.apply('Subject', 'levelled', { schema: '"int"', compatibility: 'FULL' })
    await fixture.subjects().settle(levelled)
    expect((await Subject.reconcile(cluster.get(levelled)!)).requeue).toEqual({ afterMs: INTERVAL_MS })
  })
})
