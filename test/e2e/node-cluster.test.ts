import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { imageWay } from '../env/image.ts'
import { type Kafka, startKafka } from '../env/kafka.ts'
import { type NodeCluster, startNodeCluster } from '../env/node-cluster.ts'
import { NODE_IP } from '../env/node-machine.ts'
import { describeOn, real, realWhereAMachineCan } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { DatagenVerifier } from '../support/datagen-verifier.ts'
import { type Helm, helmAt } from '../support/helm.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { podsOf } from '../support/pods.ts'
import { RegistrationLoad, registrationProblems } from '../support/registry-load.ts'
import { createTestNamespace } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const tools = await realWhereAMachineCan('nodeTools')
const image = await real('image')
const helm = await real('helm')
const kafkaJars = await real('kafka')

const NAMESPACE = 'weir'
/** The first run on a machine builds two images. */
const SET_UP_MS = 1_800_000
const TEST_MS = 900_000
const WAIT = { everyMs: 500, timeoutMs: 300_000 }

describeOn([tools, image, helm, kafkaJars], 'the chart and the image on a node', () => {
  let kafka: Kafka
  let cluster: NodeCluster
  let charts: Helm
  let api: KubeApi
  let registry: RegistryClient
  let resources: Awaited<ReturnType<typeof createTestNamespace>>
  let verifier: DatagenVerifier
  const loads = new Set<RegistrationLoad>()

  beforeAll(async () => {
    kafka = await startKafka({ listeners: { PODS: 'PLAINTEXT' }, hosts: { PODS: NODE_IP } })
    cluster = await startNodeCluster(tools.address)
    const way = imageWay(image.address)
    for (const version of ['test', 'next']) {
      const archive = join(partDirectory('image'), 'image.tar')
      await way.save(await way.build({ version }), archive)
      await cluster.importImage(archive)
    }
    api = kubeApi(cluster.api)
    charts = helmAt(helm.address.file, cluster.api.kubeconfig)
    const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await api.send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE, labels: restricted } })
    await callHelm('install', 'weir', 'weir', '--wait', '--timeout', '10m', '--values', await valuesOf('test'))
    registry = createRegistryClient({ url: await urlOf('weir-registry', 8081), timeoutMs: 4_000 })
    resources = await createTestNamespace(api, NAMESPACE)
  }, SET_UP_MS)
  afterEach(async () => {
    for (const load of loads) await load.stop()
    loads.clear()
  })
  afterAll(async () => {
    await cluster?.stop()
    await kafka?.stop()
  }, TEST_MS)

  it('start: operator, registries and workers are Ready under Pod Security restricted', async () => {
    const pods = await podsOf(api, NAMESPACE)
    expect(pods.filter(({ isReady }) => !isReady)).toEqual([])
    const count = Map.groupBy(pods, ({ component }) => component)
    expect(Object.fromEntries([...count].map(([name, { length }]) => [name, length]))).toEqual({
      operator: 2,
      registry: 2,
      worker: 2,
    })
  })

  it(
    'pass helm test',
    async () => {
      await callHelm('test', 'weir', '--timeout', '5m')
    },
    TEST_MS,
  )

  it(
    'make a Subject, a RegistryMode and a Connector Ready',
    async () => {
      verifier = new DatagenVerifier(kafka.bootstrap, { topic: 'orders', tasks: 2, iterations: 4_000 })
      await resources.apply('Subject', 'orders-value', { schema: '"int"', compatibility: 'BACKWARD' })
      const scope = { type: 'Subject', subject: 'orders-value' }
      await resources.apply('RegistryMode', 'orders', { scope, mode: 'READWRITE' })
      await applyConnector('25')
      await untilAllReady()
    },
    TEST_MS,
  )

  it(
    'continue after an election, and lose nothing, when the pod of the leading registry is killed',
    async () => {
      const load = await startLoad('killed')
      const leader = await leadingPod()
      const killedMs = performance.now()
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/${leader}`
      await api.send('DELETE', path, { gracePeriodSeconds: 0 })
      await until('writes after the leader’s end', WAIT, () => load.lastMs > killedMs + 1_000)
      await untilPods(({ isReady }) => isReady)
      await finish(load)
    },
    TEST_MS,
  )

  it(
    'restart and lose nothing after a power failure of the node',
    async () => {
      const load = await startLoad('power')
      const since = wholeSecond()
      await cluster.unplug()
      cluster.plugIn()
      await untilPods(({ isReady, startedMs }) => isReady && startedMs >= since)
      const backMs = performance.now()
      await until('writes after the restart', WAIT, () => load.lastMs > backMs + 1_000)
      await finish(load)
      await untilAllReady()
    },
    TEST_MS,
  )

  it(
    'continue writing and lose nothing during an upgrade to another image under load',
    async () => {
      const load = await startLoad('upgrade')
      const startMs = performance.now()
      await callHelm('upgrade', 'weir', 'weir', '--wait', '--timeout', '10m', '--values', await valuesOf('next'))
      const upgradedMs = performance.now()
      await untilPods(({ isReady, image: runs }) => isReady && runs === 'localhost/weir:next')
      await until('writes after the upgrade', WAIT, () => load.lastMs > upgradedMs + 1_000)
      await finish(load)
      // Elections interrupt the writes, but not for the whole upgrade, in which at least one registry is always ready.
      expect(load.longestPauseMs).toBeLessThan(upgradedMs - startMs)
      await untilAllReady()
    },
    TEST_MS,
  )

  it(
    'have delivered every record of the connector',
    async () => {
      // The connector was slow so far, so that it ran during all of the above. The rest need not take as long.
      await applyConnector('1000')
      await verifier.untilComplete(WAIT.timeoutMs)
    },
    TEST_MS,
  )

  async function applyConnector(rate: string): Promise<void> {
    await resources.apply('Connector', 'orders', {
      class: 'Datagen',
      tasksMax: 2,
      config: { ...verifier.config, rate },
    })
  }

  /** Writes that go on until the test has seen what it waits for. */
  async function startLoad(prefix: string): Promise<RegistrationLoad> {
    const load = new RegistrationLoad([registry], { prefix })
    loads.add(load)
    await until('some writes', WAIT, () => load.acknowledged.size > 20)
    return load
  }

  async function finish(load: RegistrationLoad): Promise<void> {
    await load.stop()
    expect(await registrationProblems(load, [registry])).toEqual([])
  }

  async function callHelm(command: string, ...args: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await charts.call([command, ...args, '--namespace', NAMESPACE])
    expect(code, `${stdout}${stderr}${code === 0 ? '' : logs()}`).toBe(0)
  }

  /** The last words of every container and of the node. */
  function logs(): string {
    const files = globSync('*/*/*.log', { cwd: cluster.podLogs })
    const containers = files
      .map((name) => `\n${name}\n${readFileSync(join(cluster.podLogs, name), 'utf8').split('\n').slice(-8).join('\n')}`)
      .join('')
    return `${containers}\n${cluster.nodeLogs()}`
  }

  async function valuesOf(tag: string): Promise<string> {
    const [, port = ''] = (kafka.listeners['PODS'] ?? '').split(':')
    offered ??= cluster.offer(Number(port))
    const resourcesOf = (memory: string) => ({ requests: { cpu: '10m', memory }, limits: { memory: '1Gi' } })
    return charts.valuesFile({
      runtimes: 'Separate',
      image: { repository: 'localhost/weir', tag, pullPolicy: 'Never' },
      kafka: { bootstrapServers: await offered },
      operator: { replicas: 2, resources: resourcesOf('128Mi') },
      registry: {
        resources: resourcesOf('128Mi'),
        properties: {
          'brokergroup.session.timeout.ms': '6000',
          'brokergroup.heartbeat.interval.ms': '1000',
        },
      },
      worker: {
        resources: resourcesOf('128Mi'),
        properties: {
          'config.storage.replication.factor': '1',
          'offset.storage.replication.factor': '1',
          'status.storage.replication.factor': '1',
        },
      },
    })
  }
  let offered: Promise<string> | undefined

  async function untilPods(isSo: (pod: Awaited<ReturnType<typeof podsOf>>[number]) => boolean): Promise<void> {
    let last: unknown
    await until('all pods', WAIT, async () => {
      const pods = await podsOf(api, NAMESPACE)
      last = pods
      return pods.length === 6 && pods.every(isSo)
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(last)}${logs()}`)
    })
  }

  async function untilAllReady(): Promise<void> {
    for (const [plural, name] of [
      ['subjects', 'orders-value'],
      ['registrymodes', 'orders'],
      ['connectors', 'orders'],
    ] as const) {
      let last: unknown
      await until(`${plural} ${name} to be Ready`, WAIT, async () => {
        const { status } = await resources.object(plural, name)
        last = status
        return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
      }).catch((error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(last)}${logs()}`)
      })
    }
  }

  async function urlOf(service: string, port: number): Promise<string> {
    const { body } = await api.send('GET', `/api/v1/namespaces/${NAMESPACE}/services/${service}`)
    const { clusterIP } = body['spec'] as { readonly clusterIP: string }
    return `http://127.0.0.1:${await cluster.reach(`${clusterIP}:${port}`)}`
  }

  async function leadingPod(): Promise<string> {
    for (const { name, component, ip } of await podsOf(api, NAMESPACE)) {
      if (component !== 'registry') continue
      const metrics = await (await fetch(`http://127.0.0.1:${await cluster.reach(`${ip}:8081`)}/metrics`)).text()
      if (/^kafka_schema_registry_master_slave_role 1$/m.test(metrics)) return name
    }
    throw new Error('no registry leads')
  }
})

/** Kubernetes' times have no milliseconds. The next one, so that what ran before is older. */
function wholeSecond(): number {
  return Math.ceil(Date.now() / 1_000) * 1_000
}
