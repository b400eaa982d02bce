import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { CompatibilityWorker } from '../../../src/compatibility-worker/compatibility-worker.ts'
import { dryRunAdmission } from '../../../src/operator/admission/admission-dry-run.ts'
import type { ClusterReader } from '../../../src/operator/cluster/cluster.ts'
import type { CustomObject } from '../../../src/operator/cluster/kubernetes/custom-object.ts'
import { ConnectorReconciler } from '../../../src/operator/connector/connector-reconciler.ts'
import { RegistryModeReconciler } from '../../../src/operator/registry-mode/registry-mode-reconciler.ts'
import type { ResourceKind } from '../../../src/operator/resources/resource.ts'
import { SubjectReconciler } from '../../../src/operator/subject/subject-reconciler.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let fixture: ReturnType<typeof createReconcilerFixture>

beforeEach(() => {
  fixture = createReconcilerFixture()
})

afterEach(() => fixture.compatibilityWorker.close())

const dryRunners = (cluster: ClusterReader) => {
  const known = { ...fixture, cluster, instance: 'test', observeIntervalMs: 30_000 }
  return {
    RegistryMode: new RegistryModeReconciler(known),
    Subject: new SubjectReconciler(known),
    Connector: new ConnectorReconciler(known),
  }
}

/** The dry run's decision about this object. */
function propose(kind: ResourceKind, name: string, spec: object) {
  const { cluster, clock } = fixture
  return dryRunAdmission(kind, objectOf(name, spec), { cluster, dryRunners, clock, logger: silentLogger() })
}

function objectOf(name: string, spec: object): CustomObject {
  const creationTimestamp = new Date(fixture.clock.nowMs() + 60_000).toISOString()
  const metadata = { name, namespace: 'default', uid: 'new', resourceVersion: '', generation: 1, creationTimestamp }
  return { metadata, spec }
}

const FINE = { allowed: true, warnings: [] }
const record = (...fields: object[]) => JSON.stringify({ type: 'record', name: 'Order', fields })
const refersTo = (name: string) => ({ schema: '"int"', references: [{ name: 'r', subjectRef: { name } }] })

describe('the admission of a Subject', () => {
  it('denies an incompatible schema, with the violated rule, the version and the path', async () => {
    await fixture.registry.register('orders', { schema: record() })
    expect(await propose('Subject', 'orders', { schema: record({ name: 'coupon', type: 'string' }) })).toEqual({
      allowed: false,
      reason: 'Incompatible',
      message: expect.stringMatching(
        /^the schema is incompatible .*\(BACKWARD\):\nversion 1: READER_\w+ at \/fields\/0: /,
      ),
      causes: [{ field: 'spec.schema', message: expect.stringContaining('version 1: READER_') }],
    })
    expect(fixture.registry.writes).toEqual(['register orders'])
  })

  it('denies a schema that takes too long to compare, without blocking other requests', {
    tags: ['slow'],
  }, async () => {
    fixture = createReconcilerFixture({ compatibilityWorker: new CompatibilityWorker({ limitMs: 200 }) })
    const patterns = { patternProperties: { '^(a+)+(?!b)$': { type: 'integer' } }, additionalProperties: false }
    const schemaOf = (...names: string[]) =>
      JSON.stringify({ properties: Object.fromEntries(names.map((name) => [name, {}])), ...patterns })
    await fixture.registry.register('orders', { schema: schemaOf('id'), schemaType: 'JSON' })
    const schema = schemaOf('id', `${'a'.repeat(40)}!`)
    expect(await propose('Subject', 'orders', { schema, schemaType: 'JSON' })).toMatchObject({
      allowed: false,
      reason: 'SchemaInvalid',
      message: expect.stringContaining('too complex: not processed within 200 ms'),
    })
  })

  it('compares schemas that are too large to be compared in this process', { tags: ['slow'] }, async () => {
    const fields = Array.from({ length: 3_000 }, (_, at) => ({ name: `field_${at}`, type: 'int' }))
    await fixture.registry.register('orders', { schema: record(...fields.slice(1)) })
    expect(await propose('Subject', 'orders', { schema: record(...fields) })).toMatchObject({
      allowed: false,
      reason: 'Incompatible',
      message: expect.stringContaining('version 1: READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0: '),
    })
  })

  it('checks against the compatibility level that the Subject declares', async () => {
    await fixture.registry.register('orders', { schema: record() })
    const schema = record({ name: 'coupon', type: 'string' })
    expect(await propose('Subject', 'orders', { schema, compatibility: 'NONE' })).toEqual(FINE)
  })

  it('denies a Subject that would close a cycle of references', async () => {
    fixture.cluster.apply('Subject', 'a', refersTo('b'))
    fixture.cluster.apply('Subject', 'b', refersTo('c'))
    expect(await propose('Subject', 'c', refersTo('a'))).toMatchObject({
      allowed: false,
      reason: 'ReferenceCycle',
      message: 'references form a cycle: c → a → b → c',
    })
  })

  it('allows a change that removes the Subject from a cycle of references', async () => {
    fixture.cluster.apply('Subject', 'a', refersTo('b'))
    fixture.cluster.apply('Subject', 'b', refersTo('a'))
    expect(await propose('Subject', 'b', { schema: '"int"' })).toEqual(FINE)
  })

  it('denies a Subject whose subject another resource manages', async () => {
    fixture.cluster.apply('Subject', 'first', { subject: 'orders', schema: '"int"' })
    expect(await propose('Subject', 'second', { subject: 'orders', schema: '"int"' })).toMatchObject({
      allowed: false,
      reason: 'Conflict',
      message: expect.stringContaining('managed by Subject default/first'),
    })
    expect(await propose('Subject', 'first', { subject: 'orders', schema: '"long"' })).toEqual(FINE)
  })

  it('allows references that do not exist yet, with a warning', async () => {
    const { allowed, ...said } = await propose('Subject', 'orders', refersTo('later'))
    expect([allowed, said]).toEqual([true, { warnings: [expect.stringMatching(/^ReferencePending: .* later/)] }])
    const named = { schema: '"int"', references: [{ name: 'r', subject: 'elsewhere', version: 1 }] }
    expect(await propose('Subject', 'orders', named)).toMatchObject({
      allowed: true,
      warnings: [expect.stringMatching(/^ReferenceNotFound: /)],
    })
  })

  it.each([
    ['is unreachable', new RequestError(0, 0, 'connect ECONNREFUSED'), 'connect ECONNREFUSED'],
    ['responds with status 500', new RequestError(500, 50001, 'Internal server error'), 'Internal server error'],
    [
      'rejects the credentials of the operator',
      new RequestError(401, 40101, 'no'),
      "rejected the operator's credentials",
    ],
    ['causes an unexpected error', new TypeError('a bug'), 'internal error of the operator'],
  ])('allows it with a warning when the registry %s', async (_, failure, why) => {
    fixture.registry.failure = failure
    const decision = await propose('Subject', 'orders', { schema: '"int"' })
    expect(decision).toEqual({
      allowed: true,
      warnings: [expect.stringMatching(`^allowed without validation: .*${why}`)],
    })
  })

  it('allows it with a warning when the registry does not respond within 4 s', async () => {
    fixture.registry.lookup = () => new Promise(() => undefined)
    const decided = propose('Subject', 'orders', { schema: '"int"' })
    await fixture.clock.advance(4_000)
    expect(await decided).toEqual({
      allowed: true,
      warnings: ['allowed without validation: the dry run took longer than 4000 ms'],
    })
  })
})

describe('the admission of a Connector', () => {
  it('denies an invalid configuration, also while inputs are missing', async () => {
    const wrong = { class: 'Datagen', config: { wrong: 'x' }, subjectRefs: [{ name: 'later' }] }
    expect(await propose('Connector', 'c', wrong)).toMatchObject({
      allowed: false,
      reason: 'ConfigInvalid',
      message: 'wrong: Invalid value x',
      causes: [{ field: 'spec.config[wrong]', message: 'Invalid value x' }],
    })
    expect(await propose('Connector', 'c', { ...wrong, config: {} })).toMatchObject({
      allowed: true,
      warnings: [expect.stringMatching(/^WaitingForSubject: /)],
    })
    expect(fixture.worker.writes).toEqual([])
  })

  it('denies a connector class that no worker has', async () => {
    expect(await propose('Connector', 'c', { class: 'Datagem', config: {} })).toMatchObject({
      allowed: false,
      reason: 'PluginNotFound',
      causes: [{ field: 'spec.class' }],
    })
  })

  it('denies a connector that another installation manages', async () => {
    await fixture.worker.create('orders', { 'connector.class': 'Datagen', 'weir.owner': 'other/ns/orders' })
    const decision = await propose('Connector', 'orders', { class: 'Datagen', config: {} })
    expect(decision).toMatchObject({ allowed: false, reason: 'Conflict' })
  })
})

describe('the admission of a RegistryMode', () => {
  const scope = { type: 'Subject', subject: 'orders' }

  it('denies a mode that the registry cannot enter', async () => {
    await fixture.registry.register('orders', { schema: '"int"' })
    expect(await propose('RegistryMode', 'm', { scope, mode: 'IMPORT' })).toMatchObject({
      allowed: false,
      reason: 'ScopeNotEmpty',
    })
    expect(await propose('RegistryMode', 'm', { scope, mode: 'IMPORT', force: true })).toEqual(FINE)
    expect(fixture.registry.writes).toEqual(['register orders'])
  })

  it('warns of a deprecated mode and of a window', async () => {
    const spec = { scope, mode: 'READONLY_OVERRIDE', window: { duration: '1h' } }
    expect(await propose('RegistryMode', 'm', spec)).toEqual({
      allowed: true,
      warnings: [expect.stringContaining('deprecated'), expect.stringContaining('closes the window')],
    })
  })
})

it('denies an object that this version cannot read, with all errors, and ignores fields of a newer definition', async () => {
  const newer = { schema: '"int"', schemata: 1, schemaType: 'XML', normalize: 'yes' }
  expect(await propose('Subject', 'orders', newer)).toMatchObject({
    allowed: false,
    reason: 'ConfigInvalid',
    message: expect.stringMatching(/^spec.schemaType: 'XML' is not allowed;.*; spec.normalize: /),
  })
  expect(await propose('Subject', 'orders', { schema: '"int"', schemata: 1 })).toEqual(FINE)
})
