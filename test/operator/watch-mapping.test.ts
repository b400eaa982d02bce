import { beforeEach, describe, expect, it } from 'vitest'
import type { ResourceChange } from '../../src/operator/cluster/cluster.ts'
import type { ConditionReason } from '../../src/operator/resources/condition.ts'
import { INITIAL_STATUS, type ResourceKey, type ResourceKind } from '../../src/operator/resources/resource.ts'
import type { RuntimeEvent } from '../../src/operator/runtime-events.ts'
import { requestsForChange, requestsForRuntimeEvent } from '../../src/operator/watch-mapping.ts'
import { FakeCluster } from '../support/fake-cluster.ts'

let cluster: FakeCluster

beforeEach(() => {
  cluster = new FakeCluster()
})

const woken = (key: ResourceKey, what: ResourceChange['type']) =>
  [...requestsForChange({ key, type: what }, cluster)].sort()

function withReason<K extends ResourceKind>(key: ResourceKey<K>, reason: ConditionReason): ResourceKey<K> {
  const conditions = [
    { type: 'Ready', status: 'False', reason, message: '', observedGeneration: 1, lastTransitionTime: '' },
  ]
  void cluster.writeStatus(key, { ...INITIAL_STATUS, conditions } as never)
  return key
}

const schema = '"int"'

describe('a change', () => {
  it('wakes the resource when somebody wants something of it or it is gone, not when its status was written', () => {
    const key = cluster.apply('Subject', 'a', { schema })
    expect(woken(key, 'desired')).toEqual([key])
    expect(woken(key, 'deleted')).toEqual([key])
    expect(woken(key, 'status')).toEqual([])
  })

  it('of a Subject wakes the Subjects that refer to it and the Connectors that wait for it', () => {
    const key = cluster.apply('Subject', 'a', { schema })
    const references = [{ name: 'A', subjectRef: { name: 'a' } }]
    const referring = cluster.apply('Subject', 'b', { schema, references })
    const connector = cluster.apply('Connector', 'c', { class: 'Datagen', subjectRefs: [{ name: 'a' }] })
    cluster.apply('Subject', 'other', { schema })
    cluster.apply('Connector', 'other', { class: 'Datagen', subjectRefs: [{ name: 'other' }] })
    expect(woken(key, 'status')).toEqual([connector, referring])
  })

  it('of a RegistryMode wakes the Subjects that wait for another mode', () => {
    const mode = cluster.apply('RegistryMode', 'm', { scope: { type: 'Registry' }, mode: 'READONLY' })
    const waiting = (['RegistryReadOnly', 'WaitingForImportMode'] as const).map((reason) =>
      withReason(cluster.apply('Subject', reason.toLowerCase(), { schema }), reason),
    )
    withReason(cluster.apply('Subject', 'fine', { schema }), 'Succeeded')
    expect(woken(mode, 'status')).toEqual(waiting)
  })

  it('wakes who lost a claim to it when it is gone', () => {
    const winner = cluster.apply('Connector', 'a', { class: 'Datagen' })
    const loser = withReason(cluster.apply('Connector', 'b', { class: 'Datagen', name: 'a' }), 'Conflict')
    withReason(cluster.apply('Subject', 'c', { schema }), 'Conflict')
    expect(woken(winner, 'deleted')).toEqual([winner, loser])
    expect(woken(winner, 'desired')).toEqual([winner])
  })
})

describe('what a runtime tells', () => {
  const concerned = (news: RuntimeEvent) => [...requestsForRuntimeEvent(news, cluster)].sort()
  const registryMode = (name: string, scope: object) => cluster.apply('RegistryMode', name, { scope, mode: 'READONLY' })

  it('of a connector concerns who stands for it on that worker', () => {
    const key = cluster.apply('Connector', 'a', { class: 'Datagen', name: ':.:orders' })
    cluster.apply('Connector', 'b', { class: 'Datagen', name: 'orders' })
    cluster.apply('Connector', 'c', { class: 'Datagen', name: ':.:orders', workerRef: { name: 'other' } })
    expect(concerned({ worker: 'default', connector: ':.:orders' })).toEqual([key])
  })

  it('of a subject concerns the Subject and the RegistryMode that stand for it, by either of its names', () => {
    const subject = cluster.apply('Subject', 'a', { schema, subject: ':.:orders' })
    const mode = registryMode('m', { type: 'Subject', subject: 'orders' })
    cluster.apply('Subject', 'b', { schema })
    expect(concerned({ registry: 'default', subject: 'orders' })).toEqual([mode, subject])
  })

  it('of a context concerns all in it, of the registry all there are', () => {
    const [inside, outside] = [
      cluster.apply('Subject', 'a', { schema, subject: ':.x:orders' }),
      cluster.apply('Subject', 'b', { schema }),
    ]
    cluster.apply('Subject', 'c', { schema, registryRef: { name: 'other' } })
    const [context, whole] = [
      registryMode('x', { type: 'Context', context: '.x' }),
      registryMode('y', { type: 'Registry' }),
    ]
    expect(concerned({ registry: 'default', subject: ':.x:' })).toEqual([context, inside])
    expect(concerned({ registry: 'default', subject: null })).toEqual([whole, inside, outside])
  })
})
