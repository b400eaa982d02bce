import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { diffCommand } from '../../../src/cli/commands/diff.ts'
import { generateCommand } from '../../../src/cli/commands/generate.ts'
import { connectorManifests } from '../../../src/cli/manifests/generate/connector-manifests.ts'
import { objectNameFor } from '../../../src/cli/manifests/generate/generated-manifests.ts'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { createWorkerClient, type ExpandedConnector, type InstanceState } from '../../../src/clients/worker-client.ts'
import { isSecretKey } from '../../../src/common/secrets/secret-keys.ts'
import { CompatibilityWorker } from '../../../src/compatibility-worker/compatibility-worker.ts'
import { createReconcilers } from '../../../src/operator/controllers.ts'
import { createResponseBudget } from '../../../src/operator/runtime-connections.ts'
import { createRuntimes, RUNTIME_DEFAULTS } from '../../../src/operator/runtimes.ts'
import { manifestDirectoryOf } from '../../../src/operator/simulation.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeCluster } from '../../support/fake-cluster.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { reconcileLoopIn } from '../../support/reconcile-loop.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { startTestWorker } from '../../support/worker.ts'

/** Until the worker has read the states that it has written. */
const STATUS_MS = 30_000

const record = (name: string, ...fields: readonly object[]) => JSON.stringify({ type: 'record', name, fields })
const A = { name: 'a', type: 'int' }

/** A registry and a worker with content of each kind. */
async function startRuntimes() {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const worker = await startTestWorker()
  const client = createRegistryClient({ url: registry.url })
  await client.putConfig({ compatibility: 'FORWARD' })
  await client.register('Order Value', { schema: record('Order', A) })
  await client.register('Order Value', { schema: record('Order', A, { ...A, name: 'b' }) })
  const references = [{ name: 'Order', subject: 'Order Value', version: 1 }]
  await client.register('payment', { schema: record('Payment', { name: 'o', type: 'Order' }), references })
  await client.putConfig({ compatibility: 'NONE' }, 'payment')
  const fields = Array.from({ length: 300 }, (_, at) => ({ ...A, name: `field_${at}` }))
  await client.register('long', { schema: record('Long', ...fields) })
  await client.register(':.legacy:json', { schema: '{"type":"object"}', schemaType: 'JSON' })
  await client.putConfig({ compatibility: 'FULL' }, ':.legacy:')
  await client.register(':.frozen:json', { schema: '{"type":"object"}', schemaType: 'JSON' })
  await client.putMode('READONLY', ':.frozen:')
  await client.register('proto', {
    schema: 'syntax = "proto3";\nmessage M {\n  int32 a = 1;\n}\n',
    schemaType: 'PROTOBUF',
  })
  await client.putMode('READONLY', 'proto')
  const connect = createWorkerClient({ url: worker.url })
  const config = { 'connector.class': 'FileStreamSource', topic: 't', 'tasks.max': '1' }
  await connect.create('Plain_Name', { ...config, name: 'Plain_Name' }, 'STOPPED')
  await connect.create('second', { ...config, name: 'second', 'batch.size': '10' }, 'STOPPED')
  await vi.waitFor(async () => {
    const states = Object.values(await connect.list()).map(({ status }) => status?.connector.state)
    expect(states).toEqual(['STOPPED', 'STOPPED'])
  }, STATUS_MS)
  return { registry, worker }
}

function silenced() {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  return () => String(write.mock.lastCall?.[0])
}

describe('weir generate', () => {
  it('says that the manifests are not complete if they leave out a level or another setting', {
    tags: ['slow'],
  }, async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const client = createRegistryClient({ url: registry.url })
    await client.register(':.legacy:json', { schema: '{"type":"object"}', schemaType: 'JSON' })
    await client.putConfig({ compatibility: 'FULL' }, ':.__GLOBAL:')
    await client.putConfig({ normalize: true }, ':.legacy:json')
    const output = silenced()
    const root = temporaryDirectory()
    expect(await generateCommand.run([root, '--registry', registry.url])).toBe(0)
    expect(output()).toContain('note: context .__GLOBAL: its level or mode stays as it is')
    expect(output()).toContain('note: subject :.legacy:json keeps settings that no manifest declares: normalize')
    expect(output()).toMatch(/, not complete: 2 notes above\n$/)
  })

  it('writes manifests whose application changes nothing in the runtimes', { tags: ['slow'] }, async () => {
    const { registry, worker } = await startRuntimes()
    const output = silenced()
    const [root, configDirectory] = [temporaryDirectory(), temporaryDirectory()]
    const urls = ['--registry', registry.url, '--worker', worker.url]
    expect([await generateCommand.run([root, ...urls]), output()]).toEqual([
      0,
      expect.stringMatching(/manifests in .*, complete\n$/),
    ])
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'))
    expect(files).toEqual(expect.arrayContaining(['registries/default/schemas/long-schema.yaml']))
    const config = join(configDirectory, 'operator.yaml')
    const workers = `workers: [{name: default, url: "${worker.url}", allowedNamespaces: {from: All}}]`
    const registries = `registries: [{name: default, url: "${registry.url}", allowedNamespaces: {from: All}}]`
    writeFileSync(
      config,
      `apiVersion: config.weir.dev/v1alpha1\nkind: OperatorConfig\nallowInlineSecrets: true\n${workers}\n${registries}\n`,
    )
    expect([await diffCommand.run([root, '--config', config]), output()]).toEqual([0, 'no differences\n'])

    // The reconcilers on the real runtimes, whose requests are counted.
    const writes: string[] = []
    const cluster = new FakeCluster()
    const runtimes = createRuntimes(
      {
        workers: [{ ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: worker.url } }],
        registries: [{ ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: registry.url } }],
      },
      { operatorNamespace: 'default', cluster },
      (_, { endpoint }) => ({
        ...endpoint,
        responseBudget: createResponseBudget(),
        through: (call, send) => {
          const isLookup = call.method === 'POST' && /^\/subjects\/[^/]+$/.test(call.path)
          if (call.method !== 'GET' && !isLookup) writes.push(`${call.method} ${call.path}`)
          return send(call)
        },
      }),
    )
    const clock = new FakeClock()
    const reconcilers = createReconcilers({ cluster, runtimes, clock, compatibilityWorker: new CompatibilityWorker() })
    const { resources, configMaps, problems } = manifestDirectoryOf(
      files.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
    )
    expect(problems).toEqual([])
    for (const [key, data] of configMaps) cluster.configMaps.set(key, data)
    expect(resources.map(({ kind }) => kind).sort()).toEqual([
      ...['Connector', 'Connector', 'RegistryMode', 'RegistryMode', 'RegistryMode', 'RegistryMode'],
      ...['Subject', 'Subject', 'Subject', 'Subject', 'Subject', 'Subject'],
    ])
    for (const { kind, name, spec } of resources) cluster.apply(kind, name, spec)
    for (let round = 0; round < 4; round++) {
      for (const { kind, name } of resources) {
        const loop = reconcileLoopIn(cluster, clock, reconcilers[kind] as never)
        await loop.reconcile(`${kind}/default/${name}` as never)
      }
    }
    const unready = resources.filter(({ kind, name }) => {
      const { status } = cluster.get(`${kind}/default/${name}`)!
      return !status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True')
    })
    expect(unready.map(({ name }) => name)).toEqual([])
    expect(writes).toEqual([])
  })

  it('does not overwrite files', async () => {
    const root = temporaryDirectory()
    writeFileSync(join(root, 'a.yaml'), 'a')
    await expect(generateCommand.run([root, '--worker', 'http://127.0.0.1:1'])).rejects.toMatchObject({ code: 'usage' })
  })

  it('is undecided where a runtime does not respond, and writes nothing', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => write.mockRestore())
    const root = temporaryDirectory()
    expect(await generateCommand.run([root, '--worker', 'http://127.0.0.1:1'])).toBe(3)
    expect(readdirSync(root)).toEqual([])
  })
})

describe('generated Connectors', () => {
  const scope = { runtime: 'default', namespace: 'default' }
  /** Characters of different classes in turn, which no word has. */
  const random = fc
    .tuple(
      fc.shuffledSubarray([...'abcdefghijklmnopqrstuvwxyz'], { minLength: 12, maxLength: 12 }),
      fc.shuffledSubarray([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'], { minLength: 10, maxLength: 10 }),
      fc.shuffledSubarray([...'0123456789'], { minLength: 2, maxLength: 10 }),
    )
    .map(([lower, upper, digits]) => {
      const others = [...upper, ...digits]
      return others.map((other, at) => other + (lower[at] ?? '')).join('')
    })
  const secretKeys = fc.constantFrom(
    'connection.password',
    'aws.secret.access.key',
    'sasl.jaas.config',
    'api-key',
    'dbPasswd',
  )

  it('contain no secret value, whichever setting has it', () => {
    const secretUnderKey = fc.tuple(secretKeys, fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 30 }))
    const secretInUrl = random.map((value) => ['connection.url', `jdbc:postgresql://me:${value}@db/x`] as const)
    const randomValue = random.map((value) => ['some.setting', value] as const)
    fc.assert(
      fc.property(fc.oneof(secretUnderKey, secretInUrl, randomValue), ([key, value]) => {
        const secret = /:([^:@]+)@/.exec(value)?.[1] ?? value
        fc.pre(secret.trim() === secret && !secret.includes('${') && secret.length >= 8)
        const config = { 'connector.class': 'A', 'tasks.max': '1', name: 'c', topic: 'orders', [key]: value }
        const { files, secrets, notes } = connectorManifests(
          { c: { info: { name: 'c', config, tasks: [], type: 'sink' } } },
          scope,
          () => isSecretKey,
        )
        expect(JSON.stringify([files.map(({ text }) => text), secrets, notes])).not.toContain(
          JSON.stringify(secret).slice(1, -1),
        )
        expect(secrets).toEqual([expect.objectContaining({ connector: 'c', setting: key })])
        expect(manifestDirectoryOf(files).problems).toEqual([])
        expect(files[0]?.text).toContain('topic: orders')
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('keep placeholders of config providers as they are', () => {
    const config = { 'connector.class': 'A', 'tasks.max': '1', 'connection.password': '${file:/etc/secret:password}' }
    const { files, secrets } = connectorManifests(
      { c: { info: { name: 'c', config, tasks: [], type: 'sink' } } },
      scope,
      () => isSecretKey,
    )
    expect(secrets).toEqual([])
    expect(files[0]?.text).toContain('${file:/etc/secret:password}')
  })

  it('do not restart a connector that has failed, or one with a failed task', () => {
    const config = { 'connector.class': 'A', 'tasks.max': '1' }
    const [failed, running] = [
      { state: 'FAILED', worker_id: 'w' },
      { state: 'RUNNING', worker_id: 'w' },
    ] as const
    const connectorIn = (name: string, connector: InstanceState, task: InstanceState): ExpandedConnector => ({
      info: { name, config, tasks: [], type: 'sink' },
      status: { name, connector, tasks: [{ ...task, id: 0 }], type: 'sink' },
    })
    const { files, notes } = connectorManifests(
      {
        a: connectorIn('a', failed, running),
        b: connectorIn('b', running, failed),
        c: connectorIn('c', running, running),
      },
      scope,
      () => isSecretKey,
    )
    const isDisabled = files.map(({ text }) => parse(text).spec.autoRestart?.enabled === false)
    expect([isDisabled, notes]).toEqual([
      [true, true, false],
      [expect.stringContaining('connector a has failed'), expect.stringContaining('connector b has failed')],
    ])
  })

  it('refer to a different key of the Secret for each setting', () => {
    const config = { 'connector.class': 'A', 'my password': 'a', my_password: 'b', 'my/password': 'c' }
    const { secrets } = connectorManifests(
      { c: { info: { name: 'c', config, tasks: [], type: 'sink' } } },
      scope,
      () => isSecretKey,
    )
    const keys = secrets.map(({ key }) => key)
    expect(keys).toContain('my_password')
    expect(new Set(keys).size).toBe(3)
    expect(keys.filter((key) => !/^[-._a-zA-Z0-9]{1,253}$/.test(key))).toEqual([])
  })

  it('leave out settings whose value is null, and say so', () => {
    const config = { 'connector.class': 'A', 'tasks.max': null, topic: 't', password: null, 'some.setting': null }
    const info = { name: 'c', config: config as never, tasks: [], type: 'sink' as const }
    const { files, secrets, notes } = connectorManifests({ c: { info } }, scope, () => isSecretKey)
    expect(parse(files[0]!.text).spec).toEqual({
      class: 'A',
      adoptionPolicy: 'AdoptIfIdentical',
      config: { topic: 't' },
    })
    expect([secrets, notes]).toEqual([
      [],
      [
        'connector c has no status yet: check the state of its manifest',
        'connector c has null for tasks.max, password, some.setting, which no manifest declares: remove it on the worker before you apply',
      ],
    ])
  })

  it('have different names on different runtimes, whose names may begin in the same way', () => {
    const name = fc.stringMatching(/^[abA]{1,2}(-[abA]{1,2}){0,2}$/)
    const runtime = fc.stringMatching(/^[ab](-[ab]){0,2}$/)
    const runtimes = fc.uniqueArray(fc.oneof(fc.constant('default'), runtime), { minLength: 2, maxLength: 4 })
    fc.assert(
      fc.property(runtimes, fc.uniqueArray(name, { minLength: 1, maxLength: 8 }), (all, names) => {
        const made = all.flatMap((one) => {
          const otherRuntimes = all.filter((other) => other !== one)
          return names.map((each) => objectNameFor({ runtime: one, namespace: 'default', otherRuntimes }, each))
        })
        expect(new Set(made).size).toBe(all.length * names.length)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('have valid and different names', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.oneof(fc.string({ minLength: 1, maxLength: 300 }), fc.stringMatching(/^[aA.-]{1,4}$/)), {
          minLength: 2,
          maxLength: 5,
        }),
        (names) => {
          const made = names.map((name) => objectNameFor(scope, name))
          expect(new Set(made).size).toBe(names.length)
          for (const name of made)
            expect(name).toMatch(/^(?=.{1,220}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
        },
      ),
    )
  })
})
