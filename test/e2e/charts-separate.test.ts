import { beforeAll, expect, it } from 'vitest'
import { hashPassword } from '../../src/http/password-hash.ts'
import { issueCertificate } from '../../src/operator/admission/issue-certificate.ts'
import { startKubernetes } from '../env/kubernetes.ts'
import { describeOn, real } from '../env/real.ts'
import { helmIn, type Release, runRelease } from '../support/chart-release.ts'
import { kubeApi } from '../support/kube-api.ts'
import { kubeResources } from '../support/kube-resources.ts'
import { type Sandbox, startSandbox } from '../support/sandbox.ts'
import { createTestNamespace } from '../support/test-namespace.ts'

const [helm, kubernetes, sandboxes] = [await real('helm'), await real('kubernetes'), await real('sandbox')]
const kafka = await real('kafka')

describeOn([helm, kubernetes, sandboxes, kafka], 'the chart with separate runtimes, TLS and login', () => {
  // Their topics and groups on the Kafka that all tests share.
  const namespace = `chart-${Math.random().toString(36).slice(2, 8)}`
  let place: Awaited<ReturnType<typeof createTestNamespace>>
  let release: Release
  let sandbox: Sandbox

  beforeAll(async () => {
    const control = await startKubernetes()
    sandbox = await startSandbox(sandboxes.address)
    const { bootstrap } = kafka.address
    for (const port of [Number(new URL(control.url).port), Number(bootstrap.split(':')[1])]) await sandbox.offer(port)
    const resources = kubeResources(kubeApi(control))
    await resources.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    for (const program of ['registry', 'worker']) {
      const secret = (name: string, stringData: object) =>
        resources.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData } as never)
      const names = [`weir-${program}`, `weir-${program}-0.weir-${program}-pods`].map(
        (name) => `${name}.${namespace}.svc`,
      )
      const { cert, key, ca } = await issueCertificate(names, Date.now())
      await secret(`${program}-tls`, { 'tls-combined.pem': `${cert}\n${key}`, 'ca.crt': ca })
      const users = `operator: ${await hashPassword('open sesame')}, admin\n`
      await secret(`${program}-users`, { users, username: 'operator', password: 'open sesame' })
    }
    release = runRelease({ name: 'weir', namespace, address: control }, sandbox)
    const secured = (program: string, more: object) => ({
      ...{ replicas: 1, tls: { secretName: `${program}-tls` }, users: { secretName: `${program}-users` } },
      ...more,
    })
    const weir = helmIn(namespace, helm.address.file, control)
    const topics = { 'brokerstore.topic': namespace, 'brokerstore.topic.replication.factor': '1' }
    const values = {
      runtimes: 'Separate',
      kafka: { bootstrapServers: bootstrap },
      registry: secured('registry', { properties: { ...topics, 'schema.registry.group.id': `${namespace}-registry` } }),
      worker: secured('worker', {
        groupId: namespace,
        // The registry's log-in is not for everybody who writes a connector: these need no registry.
        properties: {
          'value.converter': 'StringConverter',
          'config.storage.replication.factor': '1',
          'offset.storage.replication.factor': '1',
          'status.storage.replication.factor': '1',
        },
      }),
    }
    await weir.call('install', 'weir', 'weir', ...weir.values(values))
    await release.settled('operator', 'registry', 'worker')
    place = await createTestNamespace(kubeApi(control), namespace)
    return async () => {
      await release.stop()
      await sandbox.stop()
      await control.stop()
    }
  }, 400_000)

  it('registers a schema', async () => {
    await place.apply('Subject', 'orders-value', { schema: '{"type": "string"}' })
    await place.condition('subjects', 'orders-value', 'Ready', 'True/Succeeded')
  })

  it('runs a connector on a worker that has the name of its pod', async () => {
    await place.apply('Connector', 'orders', {
      class: 'Datagen',
      config: { 'kafka.topic': `${namespace}-orders`, quickstart: 'orders' },
    })
    await place.condition('connectors', 'orders', 'Ready', 'True/Succeeded')
    const { status } = (await place.object('connectors', 'orders')) as {
      status?: { workerId?: string; selector?: string }
    }
    expect(status?.workerId).toBe(`weir-worker-0.weir-worker-pods.${namespace}.svc:8083`)
    expect(status?.selector).toBe('app.kubernetes.io/instance=weir,app.kubernetes.io/component=worker')
  })

  it('logs no password, and writes only to writable mounts', () => {
    const logs = ['operator', 'registry', 'worker'].map((program) => release.logOf(`weir-${program}-0`))
    expect(logs.join('\n')).not.toContain('open sesame')
    expect(logs.join('\n')).not.toMatch(/EROFS|EACCES|has no effect/)
  })
})
