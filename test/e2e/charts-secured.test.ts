import { readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { scaffoldPlugin } from '../../src/cli/plugins/plugin-scaffold.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { startKafka } from '../env/kafka.ts'
import { startKubernetes } from '../env/kubernetes.ts'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { helmIn, type Release, runRelease } from '../support/chart-release.ts'
import { brokerTls, keyPair, pem, saslListener, scramUser } from '../support/kafka-security.ts'
import { kubeApi } from '../support/kube-api.ts'
import { type Declared, kubeResources } from '../support/kube-resources.ts'
import { startNpmRegistry } from '../support/npm-registry.ts'
import { type Sandbox, startSandbox } from '../support/sandbox.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { thirdPartyCrds } from '../support/third-party-crds.ts'
import { until } from '../support/until.ts'

const [helm, kubernetes, sandboxes] = [await real('helm'), await real('kubernetes'), await real('sandbox')]
const kafkaJars = await real('kafka')

const EXAMPLE = join(import.meta.dirname, '../../examples/plugin')
const NAMESPACE = 'secured'
const PASSWORD = "alice's"
const SET_UP_MS = 400_000

const oneReplica = Object.fromEntries(
  ['config', 'offset', 'status'].map((kind) => [`${kind}.storage.replication.factor`, '1']),
)

type Listed = readonly { readonly class: string; readonly version: string }[]

/** One release through its life, on a Kafka that lets in only whom it knows by certificate and password. */
describeOn([helm, kubernetes, sandboxes, kafkaJars], 'the chart with a secured Kafka and plugins', () => {
  let broker: Broker
  let place: Awaited<ReturnType<typeof createTestNamespace>>
  let release: Release
  let sandbox: Sandbox
  let weir: ReturnType<typeof helmIn>
  let values: Readonly<Record<string, object | string>>

  beforeAll(async () => {
    const [kafka, control, npm] = await Promise.all([
      startKafka({
        listeners: { PODS: 'SASL_SSL' },
        properties: { ...brokerTls(), ...saslListener('pods'), 'listener.name.pods.ssl.client.auth': 'required' },
        format: scramUser('alice', PASSWORD),
      }),
      startKubernetes(),
      startNpmRegistry(publishable()),
    ])
    const bootstrap = kafka.listeners['PODS']!
    broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': kafka.bootstrap } },
      { logger: silentLogger() },
    )
    sandbox = await startSandbox(sandboxes.address)
    for (const address of [control.url, `kafka://${bootstrap}`, `npm://127.0.0.1:${npm.port}`]) {
      await sandbox.offer(Number(new URL(address).port))
    }
    const api = kubeApi(control)
    const resources = kubeResources(api)
    // KEDA's kinds and those of Prometheus, as clusters have them.
    for (const one of thirdPartyCrds()) await resources.define(one as Declared)
    place = await createTestNamespace(api, NAMESPACE)
    const { key, certificate } = keyPair('client.pem')
    for (const [name, stringData] of Object.entries({
      'kafka-ca': { 'ca.crt': pem('ca.pem') },
      'kafka-user': { 'tls.crt': certificate, 'tls.key': key },
      'kafka-login': { username: 'alice', password: PASSWORD },
      npmrc: { '.npmrc': npm.npmrc },
    })) {
      await resources.apply({ apiVersion: 'v1', kind: 'Secret', metadata: metadata(name), stringData } as Declared)
    }
    const { files } = scaffoldPlugin('PrefixRouter', 'transform', '0.1.0')
    const data = { 'prefix-router.ts': files['prefix-router.ts'] }
    await resources.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('own'), data } as Declared)
    values = {
      monitoring: { dashboards: { enabled: true } },
      kafka: {
        bootstrapServers: bootstrap,
        tls: { enabled: true, caSecretName: 'kafka-ca', secretName: 'kafka-user' },
        sasl: { mechanism: 'SCRAM-SHA-512', secretName: 'kafka-login' },
      },
      registry: { properties: { 'brokerstore.topic.replication.factor': '1' } },
      worker: {
        properties: { 'offset.flush.interval.ms': '1000', ...oneReplica },
        plugins: { npm: { packages: ['folder-watch@1.0.0'], npmrcSecretName: 'npmrc' }, configMaps: ['own'] },
        autoscaling: { kind: 'KEDA', lag: [{ connector: 'lines', topic: 'seen-files', records: 100 }] },
      },
    }
    release = runRelease({ name: 'weir', namespace: NAMESPACE, address: control }, sandbox)
    weir = helmIn(NAMESPACE, helm.address.file, control)
    await weir.call('install', 'weir', 'weir', ...weir.values({ ...values, runtimes: 'Separate' }))
    await release.settled('operator', 'registry', 'worker')
    return async () => {
      await release.stop()
      await sandbox.stop()
      await broker.close()
      await Promise.all([kafka.stop(), control.stop(), npm.stop()])
    }
  }, SET_UP_MS)

  it('registers a schema', async () => {
    await place.apply('Subject', 'orders-value', { schema: '{"type": "string"}' })
    await place.condition('subjects', 'orders-value', 'Ready', 'True/Succeeded')
    expect(await broker.topics.list()).toEqual(
      expect.arrayContaining(['_schemas', 'weir-configs', 'weir-offsets', 'weir-status']),
    )
  })

  it('loads plugins that npm installed in an init container, and plugins of a ConfigMap', async () => {
    const { body } = await sandbox.ask(8083, '/connector-plugins?connectorsOnly=false')
    const versions = new Map((JSON.parse(body) as Listed).map((one) => [one.class, one.version]))
    expect([versions.get('FolderWatch'), versions.get('PrefixRouter')]).toEqual(['1.0.0', '0.1.0'])
    expect(release.logOf('weir-worker-0')).not.toContain('could not be loaded')
  })

  it('runs a connector of such a plugin, and a sink of its topic', async () => {
    await place.apply('Connector', 'files', {
      class: 'FolderWatch',
      config: {
        folder: '/plugins/config-maps/own',
        topic: 'files',
        transforms: 'seen',
        'transforms.seen.type': 'PrefixRouter',
        'transforms.seen.prefix': 'seen-',
      },
    })
    await place.apply('Connector', 'lines', {
      class: 'FileStreamSink',
      config: { topics: 'seen-files', file: '/tmp/lines.txt' },
    })
    for (const name of ['files', 'lines']) await place.condition('connectors', name, 'Ready', 'True/Succeeded')
  })

  it("is scaled by the lag of the sink's consumer group in its topic", async () => {
    const scaled = await release.resources.get<Scaled>({
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: metadata('weir-worker') },
    })
    const { consumerGroup, topic } = scaled!.spec.triggers[0]!.metadata
    await until(`${consumerGroup} to have read ${topic}`, WAIT, async () => {
      const offsets = await broker.groups.offsets(consumerGroup)
      return offsets.some((one) => one.topic === topic && one.offset > 0)
    })
  })

  it('continues with the same topics when it is installed again with embedded runtimes', async () => {
    await weir.call('uninstall', 'weir')
    await weir.call('install', 'weir', 'weir', ...weir.values({ ...values, runtimes: 'Embedded' }))
    await release.settled('operator')
    const answered = async (port: number, path: string) => JSON.parse((await sandbox.ask(port, path)).body) as unknown
    expect(await answered(8081, '/subjects')).toContain('orders-value')
    await until('the connectors to run in the operator', WAIT, async () => {
      const { connector } = (await answered(8083, '/connectors/files/status')) as { connector?: { state: string } }
      return connector?.state === 'RUNNING'
    })
    for (const name of ['files', 'lines']) await place.condition('connectors', name, 'Ready', 'True/Succeeded')
  })

  it('exports every metric that its alerts and dashboards use', async () => {
    const { body } = await sandbox.ask(8080, '/metrics')
    const told = new Set([...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!))
    const asked = await Promise.all([
      release.resources.get({
        ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata: metadata('weir-alerts') },
      }),
      release.resources.get({ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('weir-dashboards') }),
    ])
    const names = asked.flatMap((object) =>
      [...JSON.stringify(object).matchAll(/([a-z_]\w+)\{namespace=/g)].map(([, name]) => name!.replace(/_bucket$/, '')),
    )
    expect(new Set(names).size).toBeGreaterThan(30)
    // Prometheus adds this one.
    expect(names.filter((name) => !told.has(name) && name !== 'up')).toEqual([])
  })

  it('logs no password, and writes only to writable mounts', () => {
    const logs = ['operator', 'registry', 'worker'].map((program) => release.logOf(`weir-${program}-0`)).join('\n')
    expect(logs).not.toContain(PASSWORD)
    expect(logs).not.toMatch(/EROFS|EACCES|has no effect|PRIVATE KEY/)
  })
})

type Scaled = {
  readonly spec: {
    readonly triggers: readonly { readonly metadata: { readonly consumerGroup: string; readonly topic: string } }[]
  }
}

function metadata(name: string) {
  return { name, namespace: NAMESPACE }
}

/** The example as its author publishes it: as JavaScript. */
function publishable(): string {
  const folder = partDirectory('publishable')
  const manifest = readFileSync(join(EXAMPLE, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), manifest.replace('folder-watch.ts', 'folder-watch.js'))
  const source = readFileSync(join(EXAMPLE, 'folder-watch.ts'), 'utf8')
  writeFileSync(join(folder, 'folder-watch.js'), stripTypeScriptTypes(source))
  return folder
}
