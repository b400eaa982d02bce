import { describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { readManifests } from '../../../src/operator/cluster/directory/manifest.ts'
import { RUNTIME_DEFAULTS } from '../../../src/operator/runtimes.ts'
import { type DeclaredState, Simulation } from '../../../src/operator/simulation/simulation.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeRegistry } from '../../support/fake-registry.ts'
import { FakeWorker } from '../../support/fake-worker.ts'

const runtime = { ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: 'http://127.0.0.1' } }

function setUp({ worker = new FakeWorker(), allowsInlineSecrets = false } = {}) {
  const registry = new FakeRegistry()
  const simulation = new Simulation({
    runtimesConfig: { workers: [{ ...runtime, allowsInlineSecrets }], registries: [runtime] },
    registry: () => registry,
    worker: () => worker,
    operatorNamespace: 'weir',
    instance: 'test',
    clock: new FakeClock(),
  })
  return { registry, worker, simulation }
}

/** The state that these manifests declare, each given by its kind, name and spec. */
function declared(...manifests: readonly (readonly [kind: string, name: string, spec: object])[]): DeclaredState {
  const documents = manifests.map(([kind, name, spec]) =>
    JSON.stringify({ apiVersion: API_VERSION, kind, metadata: { name }, spec }),
  )
  const { resources, manifestErrors } = readManifests(documents.join('\n---\n'), 'f.yaml')
  expect(manifestErrors).toEqual([])
  return { resources: resources.map((resource) => resource.declared), configMaps: new Map() }
}

const record = (...fields: readonly object[]) => JSON.stringify({ type: 'record', name: 'Order', fields })
const A = { name: 'a', type: 'int' }
const B = { name: 'b', type: 'int' }

describe('a simulation', () => {
  it('applies resources in the order of their references, and writes nothing to a runtime', async () => {
    const { simulation, registry, worker } = setUp()
    const references = [{ name: 'Order', subjectRef: { name: 'order' } }]
    const schema = JSON.stringify({ type: 'record', name: 'Payment', fields: [{ name: 'o', type: 'Order' }] })
    const outcomes = await simulation.apply(
      declared(
        ['Connector', 'feed', { class: 'Datagen', subjectRefs: [{ name: 'payment' }] }],
        ['Subject', 'payment', { schema, references }],
        ['Subject', 'order', { schema: record(A), compatibility: 'FULL' }],
      ),
    )
    expect(outcomes.map(({ key, verdict }) => [key, verdict.kind])).toEqual([
      ['Subject/default/order', 'accepted'],
      ['Subject/default/payment', 'accepted'],
      ['Connector/default/feed', 'accepted'],
    ])
    expect(outcomes.flatMap(({ changes }) => changes.map((change) => change.do))).toEqual([
      'set-level',
      'register',
      'register',
      'create-connector',
    ])
    expect([registry.writes, worker.writes]).toEqual([[], []])
  })

  it('finds nothing to change in what was applied before', async () => {
    const { simulation } = setUp()
    const state = declared(
      ['Subject', 'order', { schema: record(A), compatibility: 'FULL' }],
      ['Connector', 'feed', { class: 'Datagen', state: 'Paused' }],
      ['RegistryMode', 'legacy', { mode: 'IMPORT', scope: { type: 'Context', context: '.legacy' } }],
    )
    const first = await simulation.apply(state)
    expect(first.flatMap(({ changes }) => changes.map((change) => change.do))).toEqual([
      'set-mode',
      'set-level',
      'register',
      'create-connector',
    ])
    expect((await simulation.apply(state)).flatMap(({ changes }) => changes)).toEqual([])
  })

  it('compares schemas with versions of the runtime and with those of an earlier apply', async () => {
    const { simulation, registry } = setUp()
    await registry.register('order', { schema: record(A) })
    const refused = await simulation.apply(declared(['Subject', 'order', { schema: record(A, B) }]))
    expect(refused).toMatchObject([{ verdict: { kind: 'rejected', reason: 'Incompatible' }, changes: [] }])
    const optional = { ...B, default: 0 }
    const [accepted] = await simulation.apply(declared(['Subject', 'order', { schema: record(A, optional) }]))
    expect(accepted).toMatchObject({ changes: [{ do: 'register', subject: 'order', version: 2 }] })
    const [next] = await simulation.apply(
      declared(['Subject', 'order', { schema: record(A, optional, { ...B, name: 'c' }) }]),
    )
    expect(next?.verdict).toMatchObject({ kind: 'rejected', message: expect.stringContaining('version 2: ') })
  })

  it('deletes what is no longer declared as its deletion policy says', async () => {
    const { simulation } = setUp()
    await simulation.apply(
      declared(
        ['Connector', 'feed', { class: 'Datagen' }],
        ['Connector', 'kept', { class: 'Datagen', deletionPolicy: 'Retain' }],
        ['Subject', 'order', { schema: record(A), deletionPolicy: 'SoftDelete' }],
      ),
    )
    const outcomes = await simulation.apply(declared())
    expect(
      outcomes.map(({ key, isDeletion, changes }) => [key, isDeletion, changes.map((change) => change.do)]),
    ).toEqual([
      ['Connector/default/feed', true, ['delete-connector']],
      ['Connector/default/kept', true, []],
      ['Subject/default/order', true, ['delete-subject']],
    ])
  })

  it('reports a change of a field that cannot be changed', async () => {
    const { simulation } = setUp()
    await simulation.apply(declared(['Subject', 'order', { schema: record(A), subject: 'one' }]))
    const outcomes = await simulation.apply(declared(['Subject', 'order', { schema: record(A), subject: 'two' }]))
    expect(outcomes).toMatchObject([
      { verdict: { kind: 'rejected', causes: [{ field: 'spec.subject' }] }, changes: [] },
    ])
  })

  it('decides nothing about a runtime that does not respond', async () => {
    const { simulation, registry } = setUp()
    registry.failure = new RequestError(0, 0, 'connect ECONNREFUSED')
    const outcomes = await simulation.apply(declared(['Subject', 'order', { schema: record(A) }]))
    expect(outcomes).toMatchObject([{ verdict: { kind: 'undecided', message: 'connect ECONNREFUSED' } }])
  })

  it('names the Subjects that are referred to and that no manifest declares', async () => {
    const { simulation } = setUp()
    const references = [{ name: 'Order', subjectRef: { name: 'nowhere' } }]
    const outcomes = await simulation.apply(declared(['Subject', 'order', { schema: record(A), references }]))
    expect(outcomes).toMatchObject([
      { verdict: { kind: 'pending', reason: 'ReferenceNotFound' }, missingReferences: ['nowhere'] },
    ])
  })

  it('reports a cycle of references for each of its members', async () => {
    const { simulation } = setUp()
    const refersTo = (name: string) => ({ schema: '"int"', references: [{ name: 'r', subjectRef: { name } }] })
    const outcomes = await simulation.apply(declared(['Subject', 'a', refersTo('b')], ['Subject', 'b', refersTo('a')]))
    expect(outcomes.map(({ verdict }) => verdict)).toMatchObject([
      { kind: 'rejected', reason: 'ReferenceCycle', causes: [{ field: 'spec.references' }] },
      { kind: 'rejected', reason: 'ReferenceCycle' },
    ])
  })

  it('ignores failures of tasks: they are no difference to a manifest', async () => {
    const { simulation, worker } = setUp()
    await worker.create('feed', {
      name: 'feed',
      'connector.class': 'Datagen',
      'tasks.max': '1',
      'weir.owner': 'test/default/feed',
    })
    worker.failTask('feed', 0, 'java.lang.Exception: disk full')
    const [outcome] = await simulation.apply(declared(['Connector', 'feed', { class: 'Datagen' }]))
    expect(outcome).toMatchObject({ verdict: { kind: 'accepted' }, changes: [] })
  })

  it('counts values of Secrets, which it does not know, as unchanged, and the same value for all settings', async () => {
    const { worker } = setUp()
    const config = { 'connector.class': 'Datagen', 'tasks.max': '1', topic: 'orders' }
    await worker.create('feed', { ...config, name: 'feed', password: 'one' })
    await worker.create('other', { ...config, name: 'other', password: 'two' })
    const taking = (key: string) => ({
      class: 'Datagen',
      adoptionPolicy: 'AdoptIfIdentical',
      config: { topic: 'orders' },
      valuesFrom: [{ key: 'password', secretKeyRef: { name: 'login', key }, resolve: 'Operator' }],
    })
    const verdictsOn = async (...keys: readonly (readonly [name: string, key: string])[]) => {
      const { simulation } = setUp({ allowsInlineSecrets: true, worker })
      const state = declared(...keys.map(([name, key]) => ['Connector', name, taking(key)] as const))
      return (await simulation.apply(state)).map(({ verdict }) => verdict.kind).sort()
    }
    expect(await verdictsOn(['feed', 'a'], ['other', 'b'])).toEqual(['accepted', 'accepted'])
    // One key of a Secret cannot have both values.
    expect(await verdictsOn(['feed', 'a'], ['other', 'a'])).toEqual(['accepted', 'rejected'])
    // A connector that does not exist yet waits for its Secret.
    expect(await verdictsOn(['new', 'c'])).toEqual(['pending'])
  })

  it('decides for one of two resources with the same external object', async () => {
    const { simulation } = setUp()
    const outcomes = await simulation.apply(
      declared(
        ['Subject', 'a', { subject: 's', schema: '"int"' }],
        ['Subject', 'b', { subject: 's', schema: '"int"' }],
      ),
    )
    expect(outcomes.map(({ verdict }) => verdict.kind).sort()).toEqual(['accepted', 'rejected'])
    expect(outcomes.find(({ verdict }) => verdict.kind === 'rejected')?.verdict).toMatchObject({ reason: 'Conflict' })
  })
})
