import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { collectArchive } from '../../src/cli/archive/collect-archive.ts'
import { RequestError } from '../../src/clients/http-client.ts'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { systemClock } from '../../src/common/clock.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { CompatibilityWorker } from '../../src/compatibility-worker/compatibility-worker.ts'
import { dryRunAdmission } from '../../src/operator/admission/admission-dry-run.ts'
import { readManifests } from '../../src/operator/cluster/directory/manifest.ts'
import { createReconcilers } from '../../src/operator/controllers.ts'
import { parseResource } from '../../src/operator/resources/parse-resource.ts'
import type { ResourceKind } from '../../src/operator/resources/resource.ts'
import { createResponseBudget } from '../../src/operator/runtime-connections.ts'
import { createRuntimes, runtimesConfigFor } from '../../src/operator/runtimes.ts'
import { RegistrySnapshot, Simulation, type WorkerReader } from '../../src/operator/simulation.ts'
import { openConfigValidator } from '../../src/worker/config-validator.ts'
import { FakeCluster } from '../support/fake-cluster.ts'
import '../support/property-seed.ts'
import { startTestRegistry } from '../support/registry.ts'
import { startTestWorker } from '../support/worker.ts'

const CASES = Number(process.env['WEIR_CHECK_CASES'] ?? 40)

const field = (name: string, type: unknown, rest: object = {}) => ({ name, type, ...rest })
const record = (...fields: readonly object[]) => JSON.stringify({ type: 'record', name: 'Order', fields })
const A = field('a', 'int')
const SCHEMAS = [
  record(A),
  record(A, field('b', 'int')),
  record(A, field('b', 'int', { default: 0 })),
  record(field('a', 'string')),
  record(),
  '"int"',
  '{broken',
  '',
  'x'.repeat(100),
  '{"type": "object", "properties": {"a": {"type": "string"}}}',
  'syntax = "proto3"; message Order { int32 a = 1; }',
]
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values)
const references = fc.array(
  oneOf(
    { name: 'Order', subject: 'orders', version: 1 },
    { name: 'Order', subject: 'orders', version: 9 },
    { name: 'Order', subject: 'nowhere', version: 1 },
    { name: 'Order', subjectRef: { name: 'missing' } },
    { name: 'Order', subjectRef: { name: 'x' } },
  ),
  { maxLength: 2 },
)
const subjects = fc.record(
  {
    schema: maybe(oneOf(...SCHEMAS)),
    schemaType: maybe(oneOf('AVRO', 'JSON', 'PROTOBUF', 'XML')),
    schemaFrom: maybe(oneOf(undefined, undefined, { configMapKeyRef: { name: 'm', key: 'k' } })),
    subject: maybe(oneOf('orders', 'locked', 'free', 'new', ':.legacy:orders')),
    compatibility: maybe(oneOf('NONE', 'FULL', 'BACKWARD_TRANSITIVE', 'SOME')),
    adoptionPolicy: maybe(oneOf('Adopt', 'AdoptIfIdentical', 'Never')),
    normalize: maybe(fc.boolean()),
    references: maybe(references),
    unknown: maybe(oneOf(undefined, undefined, undefined, 1)),
  },
  { requiredKeys: [] },
)
const connectors = fc.record(
  {
    class: oneOf('FileStreamSource', 'FileStreamSink', 'com.example.Missing', ''),
    name: maybe(oneOf('existing', 'other')),
    tasksMax: maybe(oneOf(1, 2, 0, -1)),
    config: maybe(
      fc.record(
        {
          topic: maybe(oneOf('t', '')),
          topics: maybe(oneOf('t', 't,,u')),
          'topics.regex': maybe(oneOf('t.*', '(')),
          'batch.size': maybe(oneOf('1', 'many', '-1')),
          transforms: maybe(oneOf('one', 'one,one')),
          'transforms.one.type': maybe(oneOf('HoistField$Value', 'Missing')),
          'transforms.one.field': maybe(oneOf('f')),
          'value.converter': maybe(oneOf('JsonConverter', 'Missing')),
          'errors.tolerance': maybe(oneOf('all', 'some')),
          'consumer.override.max.poll.records': maybe(oneOf('5', 'five')),
        },
        { requiredKeys: [] },
      ),
    ),
    adoptionPolicy: maybe(oneOf('Adopt', 'AdoptIfIdentical', 'Never')),
    state: maybe(oneOf('Running', 'Paused', 'Stopped', 'running')),
    subjectRefs: maybe(fc.array(oneOf({ name: 'missing' }), { maxLength: 1 })),
  },
  { requiredKeys: ['class'] },
)
const modes = fc.record(
  {
    mode: maybe(oneOf('READWRITE', 'READONLY', 'READONLY_OVERRIDE', 'IMPORT', 'FORWARD', 'OFF')),
    compatibility: maybe(oneOf('FULL', 'BACKWARDS')),
    force: maybe(fc.boolean()),
    scope: maybe(
      oneOf<object>(
        { type: 'Registry' },
        { type: 'Context', context: '.legacy' },
        { type: 'Context', context: '.empty' },
        { type: 'Subject', subject: 'orders' },
        { type: 'Subject' },
      ),
    ),
    adoptionPolicy: maybe(oneOf('Adopt', 'Never')),
    window: maybe(oneOf({ duration: '1h' }, { duration: '1h', until: '2030-01-01T00:00:00Z' })),
  },
  { requiredKeys: [] },
)
const resource = (kind: ResourceKind, spec: fc.Arbitrary<object>) => spec.map((one) => ({ kind, spec: one }))
const manifests = fc.oneof(
  resource('Subject', subjects),
  resource('Connector', connectors),
  resource('RegistryMode', modes),
)

/** Both decide about the same registry and the same worker: one asks them, the other one has an export and the plugins. */
async function setUp() {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const worker = await startTestWorker()
  const [registryClient, workerClient] = [
    createRegistryClient({ url: registry.url }),
    createWorkerClient({ url: worker.url }),
  ]
  await registryClient.register('orders', { schema: record(A) })
  await registryClient.register('orders', { schema: record(A, field('b', 'int', { default: 0 })) })
  await registryClient.register('locked', { schema: record(A) })
  await registryClient.putMode('READONLY', 'locked')
  await registryClient.register('free', { schema: record(A) })
  await registryClient.putConfig({ compatibility: 'NONE' }, 'free')
  await registryClient.register(':.legacy:orders', { schema: '"int"' })
  const existing = { 'connector.class': 'FileStreamSource', topic: 't', 'tasks.max': '1', name: 'existing' }
  await workerClient.create('existing', existing, 'STOPPED')
  const snapshot = new RegistrySnapshot(await collectArchive(registryClient, { deleted: true }))
  const validator = await openConfigValidator([])
  onTestFinished(() => validator.close())
  const reader: WorkerReader = {
    get: (name) => workerClient.get(name),
    status: (name) => workerClient.status(name),
    offsets: (name) => workerClient.offsets(name),
    validate: (_, config) =>
      validator.validate(config).catch((error: Error) => {
        throw new RequestError(400, 400, error.message)
      }),
  }
  return { urls: { registryUrl: registry.url, workerUrl: worker.url }, snapshot, reader }
}

it('weir check decides as the admission webhook does', async () => {
  const { urls, snapshot, reader } = await setUp()
  const runtimesConfig = runtimesConfigFor(urls)
  const cluster = new FakeCluster()
  const context = { operatorNamespace: 'default', cluster }
  const runtimes = createRuntimes(runtimesConfig, context, (_, { endpoint }) => ({
    ...endpoint,
    responseBudget: createResponseBudget(),
  }))
  const reasons = new Set<string>()

  const compatibilityWorker = new CompatibilityWorker()
  onTestFinished(() => compatibilityWorker.close())
  const webhook = async (kind: ResourceKind, spec: object): Promise<string> => {
    const creationTimestamp = new Date(0).toISOString()
    const metadata = {
      name: 'x',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp,
    }
    // An API server rejects unknown fields itself, before it calls the webhook.
    const { errors } = parseResource({ apiVersion: API_VERSION, kind, metadata: { name: 'x' }, spec })
    if (errors.some(({ atKey }) => atKey)) return `ConfigInvalid: ${errors.map(({ message }) => message).join('; ')}`
    const decision = await dryRunAdmission(
      kind,
      { metadata, spec },
      {
        cluster,
        dryRunners: (declared) =>
          createReconcilers({ cluster: declared, runtimes, clock: systemClock, compatibilityWorker }),
        clock: systemClock,
        logger: silentLogger(),
      },
    )
    if (!decision.allowed) return `${decision.reason}: ${decision.message}`
    const pending = decision.warnings.find((warning) => /^[A-Z]\w+: /.test(warning))
    return pending ?? decision.warnings.find((warning) => warning.startsWith('allowed without')) ?? 'accepted'
  }

  const check = async (kind: ResourceKind, spec: object): Promise<string> => {
    const text = JSON.stringify({ apiVersion: API_VERSION, kind, metadata: { name: 'x' }, spec })
    const { resources, manifestErrors } = readManifests(text, 'x.json')
    if (manifestErrors.length > 0)
      return `ConfigInvalid: ${manifestErrors
        .map(({ message }) => message)
        .sort()
        .join('; ')}`
    const simulation = new Simulation({
      runtimesConfig,
      registry: () => snapshot,
      worker: () => reader,
      operatorNamespace: 'default',
      clock: systemClock,
    })
    const state = { resources: resources.map(({ declared }) => declared), configMaps: new Map() }
    const { verdict } = (await simulation.apply(state))[0]!
    if (verdict.kind === 'accepted') return 'accepted'
    return verdict.kind === 'undecided'
      ? `allowed without validation: ${verdict.message}`
      : `${verdict.reason}: ${verdict.message}`
  }

  /** The order of invalid fields may differ, and a registry adds the schema to the message about an invalid one. */
  const comparable = (decision: string) => {
    if (decision.startsWith('SchemaInvalid: ')) return 'SchemaInvalid'
    return decision.startsWith('ConfigInvalid: ') ? decision.slice(15).split('; ').sort().join('; ') : decision
  }
  await fc.assert(
    fc.asyncProperty(manifests, async ({ kind, spec: written }) => {
      const spec = JSON.parse(JSON.stringify(written)) as object
      const [ofWebhook, ofCheck] = await Promise.all([webhook(kind, spec), check(kind, spec)])
      reasons.add(/^\w+/.exec(ofWebhook)?.[0] ?? '')
      expect(comparable(ofCheck)).toBe(comparable(ofWebhook))
    }),
    { numRuns: CASES },
  )
  // The corpus is good for something: it has both valid and invalid manifests, invalid in several ways.
  expect([...reasons]).toEqual(expect.arrayContaining(['accepted', 'ConfigInvalid', 'PluginNotFound']))
})
