import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { diffCommand } from '../../../src/cli/commands/diff.ts'
import { generateCommand } from '../../../src/cli/commands/generate.ts'
import { connectorManifests } from '../../../src/cli/manifests/generate/connector-manifests.ts'
import { objectNameFor } from '../../../src/cli/manifests/generate/generated-manifests.ts'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { createReconcilers } from '../../../src/operator/controllers.ts'
import { createRuntimes, RUNTIME_DEFAULTS } from '../../../src/operator/runtimes.ts'
import { manifestDirectoryOf } from '../../../src/operator/simulation.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeCluster } from '../../support/fake-cluster.ts'
import '../../support/property-seed.ts'
import { reconcileLoopIn } from '../../support/reconcile-loop.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { startTestWorker } from '../../support/worker.ts'

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
  await client.register('proto', {
    schema: 'syntax = "proto3";\nmessage M {\n  int32 a = 1;\n}\n',
    schemaType: 'PROTOBUF',
  })
  await client.putMode('READONLY', 'proto')
  const connect = createWorkerClient({ url: worker.url })
  const config = { 'connector.class': 'FileStreamSource', topic: 't', 'tasks.max': '1' }
  await connect.create('Plain_Name', { ...config, name: 'Plain_Name' }, 'STOPPED')
  await connect.create('second', { ...config, name: 'second', 'batch.size': '10' }, 'STOPPED')
  return { registry, worker }
}

function silenced() {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  return () => String(write.mock.lastCall?.[0])
}

describe('weir generate', () => {
  it('writes manifests whose application changes nothing in the runtimes', async () => {
    const { registry, worker } = await startRuntimes()
    const output = silenced()
    const [root, configDirectory] = [temporaryDirectory(), temporaryDirectory()]
    const urls = ['--registry', registry.url, '--worker', worker.url]
    expect([await generateCommand.run([root, ...urls]), output()]).toEqual([0, expect.stringContaining('manifests in')])
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'))
    expect(files).toEqual(expect.arrayContaining(['registries/default/schemas/long-schema.yaml']))
    const config = join(configDirectory, 'operator.yaml')
    const workers = `workers: [{name: default, url: "${worker.url}", allowedNamespaces: {from: All}, ownershipMarker: false}]`
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
        workers: [{ ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: worker.url }, writesOwnerMarker: false }],
        registries: [{ ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: registry.url } }],
      },
      { operatorNamespace: 'default', cluster },
      (_, { endpoint }) => ({
        ...endpoint,
        through: (call, send) => {
          const isLookup = call.method === 'POST' && /^\/subjects\/[^/]+$/.test(call.path)
          if (call.method !== 'GET' && !isLookup) writes.push(`${call.method} ${call.path}`)
          return send(call)
        },
      }),
    )
    const clock = new FakeClock()
    const reconcilers = createReconcilers({ cluster, runtimes, clock })
    const { resources, configMaps, problems } = manifestDirectoryOf(
      files.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
    )
    expect(problems).toEqual([])
    for (const [key, data] of configMaps) cluster.configMaps.set(key, data)
    expect(resources.map(({ kind }) => kind).sort()).toEqual([
      ...['Connector', 'Connector', 'RegistryMode', 'RegistryMode'],
      ...['Subject', 'Subject', 'Subject', 'Subject', 'Subject'],
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
  const random = fc.string({
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
    minLength: 32,
    maxLength: 64,
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
    const isMixed = (value: string) => /\d/.test(value) && /[a-z]/i.test(value) && new Set(value).size > 14
    const randomValue = random.filter(isMixed).map((value) => ['some.setting', value] as const)
    fc.assert(
      fc.property(fc.oneof(secretUnderKey, secretInUrl, randomValue), ([key, value]) => {
        const secret = /:([^:@]+)@/.exec(value)?.[1] ?? value
        fc.pre(secret.trim() === secret && !secret.includes('${') && secret.length >= 8)
        const config = { 'connector.class': 'A', 'tasks.max': '1', name: 'c', topic: 'orders', [key]: value }
        const { files, secrets, notes } = connectorManifests(
          { c: { info: { name: 'c', config, tasks: [], type: 'sink' } } },
          scope,
        )
        expect(JSON.stringify([files.map(({ text }) => text), secrets, notes])).not.toContain(
          JSON.stringify(secret).slice(1, -1),
        )
        expect(secrets).toEqual([expect.objectContaining({ connector: 'c', setting: key })])
        expect(manifestDirectoryOf(files).problems).toEqual([])
        expect(files[0]?.text).toContain('topic: orders')
      }),
      { numRuns: 200 },
    )
  })

  it('keep placeholders of config providers as they are', () => {
    const config = { 'connector.class': 'A', 'tasks.max': '1', 'connection.password': '${file:/etc/secret:password}' }
    const { files, secrets } = connectorManifests(
      { c: { info: { name: 'c', config, tasks: [], type: 'sink' } } },
      scope,
    )
    expect(secrets).toEqual([])
    expect(files[0]?.text).toContain('${file:/etc/secret:password}')
  })

  it('have valid and different names', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 300 }), { minLength: 2, maxLength: 5 }),
        (names) => {
          const made = names.map((name) => objectNameFor(scope, name))
          expect(new Set(made).size).toBe(names.length)
          for (const name of made) expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,220}[a-z0-9])?$/)
        },
      ),
    )
  })
})
