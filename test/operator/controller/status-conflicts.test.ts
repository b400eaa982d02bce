import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { DeferredStatuses } from '../../../src/operator/controller/deferred-statuses.ts'
import { findCondition } from '../../../src/operator/resources/condition.ts'
import type { ResourceKey } from '../../../src/operator/resources/resource.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let fixture = createReconcilerFixture()
let key: ResourceKey<'Connector'>
/** What others do, one for each write of the status, which is rejected then. */
let conflicts: (() => void)[] = []
let confirmed = 0

const apply = (spec: object, restart: string) =>
  fixture.cluster.apply('Connector', 'orders', spec, { 'weir.dev/restart-requested-at': restart })
const statusOf = () => fixture.cluster.get(key)!.status
const reasonOf = () => findCondition(statusOf().conditions, 'Ready')?.reason
const restarts = () => fixture.worker.writes.filter((write) => write.startsWith('restart'))
const datagen = { class: 'Datagen', config: { topic: 'orders' } }

/** The fields that a late write of the status replaces. */
function store(fields: object): void {
  const resource = fixture.cluster.get(key)!
  fixture.cluster.resources.set(key, { ...resource, status: { ...resource.status, ...fields } })
}

beforeEach(async () => {
  fixture = createReconcilerFixture()
  conflicts = []
  confirmed = 0
  const { cluster } = fixture
  const writeStatus = cluster.writeStatus.bind(cluster)
  cluster.writeStatus = async (written, status, isForced = false) => {
    const conflict = isForced ? undefined : conflicts.shift()
    if (conflict === undefined) return writeStatus(written, status)
    conflict()
    return false
  }
  cluster.confirm = async () => {
    confirmed += 1
  }
  key = apply(datagen, '1')
  await fixture.connectors().settle(key)
  confirmed = 0
})

describe('a status of which the resource changes while it is written', () => {
  it('is written with the generation that it was computed for, and what was done is not done again', async () => {
    const { reconcile } = fixture.connectors()
    apply(datagen, '2')
    const { generation } = fixture.cluster.get(key)!.metadata
    conflicts = [() => apply({ ...datagen, tasksMax: 3 }, '2'), () => apply({ ...datagen, tasksMax: 2 }, '2')]
    await reconcile(key)
    expect(statusOf()).toMatchObject({ lastHandledRestart: '2', observedGeneration: generation })
    expect(fixture.cluster.get(key)!.metadata.generation).toBe(generation + 2)
    // Once before the reconcile, and after each conflict.
    expect(confirmed).toBe(3)
    await fixture.connectors().settle(key)
    expect(restarts()).toHaveLength(1)
    expect(reasonOf()).toBe('Succeeded')
  })

  it('keeps what a late write has recorded, and is not Ready by it', async () => {
    apply(datagen, '2')
    fixture.worker.failure = new RequestError(0, 0, 'no response')
    fixture.runtimeConfigs.worker = { ...fixture.runtimeConfigs.worker, readinessGracePeriodMs: 0 }
    conflicts = [() => store({ lastHandledRestart: '2' })]
    await fixture.connectors().reconcile(key)
    expect([statusOf().lastHandledRestart, reasonOf()]).toEqual(['2', 'WorkerUnreachable'])
    fixture.worker.failure = undefined
    await fixture.connectors().settle(key)
    expect(restarts()).toEqual([])
  })

  it('is not written to another resource with the same name', async () => {
    const { reconcile } = fixture.connectors()
    apply(datagen, '2')
    const recreate = () => {
      fixture.cluster.resources.delete(key)
      apply(datagen, '2')
    }
    conflicts = [recreate]
    await reconcile(key)
    expect([statusOf().lastHandledRestart, reasonOf()]).toEqual([undefined, undefined])
  })

  it('is written at the fifth attempt, whatever is stored', async () => {
    const { reconcile } = fixture.connectors()
    apply(datagen, '2')
    const change = (tasksMax: number) => () => apply({ ...datagen, tasksMax }, '2')
    conflicts = [2, 3, 4, 5, 6, 7].map(change)
    await reconcile(key)
    expect([conflicts.length, confirmed]).toEqual([2, 5])
    expect(statusOf().lastHandledRestart).toBe('2')
  })

  it('is repeated with backoff for an object that cannot be read', async () => {
    const { metadata, status } = fixture.cluster.get(key)!
    fixture.cluster.resources.delete(key)
    fixture.cluster.unreadables.set(key, { metadata, status, reason: 'spec.config: unknown field' })
    conflicts = [() => undefined]
    const { reconcile } = fixture.connectors()
    expect(await reconcile(key)).toBe('rate-limited')
    expect(await reconcile(key)).toBe('none')
    expect(findCondition(fixture.cluster.unreadable(key)!.status.conditions, 'Ready')?.reason).toBe('UnsupportedSpec')
  })
})

describe('a deferred status', () => {
  it('does not hide what a late write has recorded', () => {
    const deferred = new DeferredStatuses(fixture.clock)
    store({ conditions: [] })
    const read = fixture.cluster.get(key)!
    expect(deferred.defer(read, { ...read.status, configHash: 'created' })).toBe(true)
    store({ lastHandledRestart: '2' })
    const { status } = deferred.withDeferredStatus(fixture.cluster.get(key)!)
    expect([status.configHash, status.lastHandledRestart]).toEqual(['created', '2'])
  })
})
