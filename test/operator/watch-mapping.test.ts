import { beforeEach, describe, expect, it } from 'vitest'
import type { ConditionReason } from '../../src/common/state-glossary.ts'
import type { ResourceChange } from '../../src/operator/cluster/cluster.ts'
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

describe('requestsForChange', () => {
  it('returns the resource after a change of its desired state or its deletion, but not of its status', () => {
    const key = cluster.apply('Subject', 'a', { schema })
    expect(woken(key, 'desired')).toEqual([key])
    expect(woken(key, 'deleted')).toEqual([key])
    expect(woken(key, 'status')).toEqual([])
  })

  it('returns the Subjects and Connectors that refer to a changed Subject', () => {
    const key = cluster.apply('Subject', 'a', { schema })
    const references = [{ name: 'A', subjectRef: { name: 'a' } }]
    const referring = cluster.apply('Subject', 'b', { schema, references })
    const connector = cluster.apply('Connector', 'c', { class: 'Datagen', subjectRefs: [{ name: 'a' }] })
    cluster.apply('Subject', 'other', { schema })
    cluster.apply('Connector', 'other', { class: 'Datagen', subjectRefs: [{ name: 'other' }] })
    expect(woken(key, 'status')).toEqual([connector, referring])
  })

  it('returns the Subjects that wait for another mode after a change of a RegistryMode', () => {
    const mode = cluster.apply('RegistryMode', 'm', { scope: { type: 'Registry' }, mode: 'READONLY' })
    const waiting = (['RegistryReadOnly', 'WaitingForImportMode'] as const).map((reason) =>
      withReason(cluster.apply('Subject', reason.toLowerCase(), { schema }), reason),
    )
    withReason(cluster.apply('Subject', 'fine', { schema }), 'Succeeded')
    expect(woken(mode, 'status')).toEqual(waiting)
  })

  it('returns the resources that lost a claim after a deletion', () => {
    const winner = cluster.apply('Connector', 'a', { class: 'Datagen' })
    const loser = withReason(cluster.apply('Connector', 'b', { class: 'Datagen', name: 'a' }), 'Conflict')
    withReason(cluster.apply('Subject', 'c', { schema }), 'Conflict')
    expect(woken(winner, 'deleted')).toEqual([winner, loser])
    expect(woken(winner, 'desired')).toEqual([winner])
  })
})

describe('requestsForRuntimeEvent', () => {
  const concerned = (news: RuntimeEvent) => [...requestsForRuntimeEvent(news, cluster)].sort()
  const registryMode = (name: string, scope: object) => cluster.apply('RegistryMode', name, { scope, mode: 'READONLY' })

  it('returns the Connector of a changed connector on the same worker', () => {
    const key = cluster.apply('Connector', 'a', { class: 'Datagen', name: ':.:orders' })
    cluster.apply('Connector', 'b', { class: 'Datagen', name: 'orders' })
    cluster.apply('Connector', 'c', { class: 'Datagen', name: ':.:orders', workerRef: { name: 'other' } })
    expect(concerned({ worker: 'default', connector: ':.:orders' })).toEqual([key])
  })

  it('returns the Subject and the RegistryMode of a changed subject, with and without the prefix of the default context', () => {
    const subject = cluster.apply('Subject', 'a', { schema, subject: ':.:orders' })
    const mode = registryMode('m', { type: 'Subject', subject: 'orders' })
    cluster.apply('Subject', 'b', { schema })
    expect(concerned({ registry: 'default', subject: 'orders' })).toEqual([mode, subject])
  })

  it('returns all resources of a changed context, or of the registry', () => {
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
