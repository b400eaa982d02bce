import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { type Kubernetes, startKubernetes } from '../env/kubernetes.ts'
import { describeOn, real } from '../env/real.ts'
import type { Program } from '../support/cli.ts'
import { API, installCrds } from '../support/crds.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { logOf, monitoringOf, startOperator, startOperatorFor } from '../support/operator-process.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const kubernetes = await real('kubernetes')

/** 60,000 in the long form. */
const AWAY_MS = Number(process.env['WEIR_AWAY_MS'] ?? 20_000)

/** A control plane for this file only: it is killed and compacted. */
describeOn([kubernetes], 'the operator on a real Kubernetes API', () => {
  let control: Kubernetes
  let api: KubeApi

  beforeAll(async () => {
    control = await startKubernetes()
    api = kubeApi(control)
    await installCrds(api)
    return () => control.stop()
  })

  it('registers a Subject, then runs a Connector that waits for it, and shows both in the columns of kubectl', async () => {
    const { namespace, apply, condition, object } = await createTestNamespace(api)
    const { registryUrl, workerUrl } = await startOperator(control, namespace)
    await apply('Connector', 'orders', {
      class: 'Datagen',
      subjectRefs: [{ name: 'orders-value' }],
      config: { 'kafka.topic': 'orders', quickstart: 'orders' },
    })
    await condition('connectors', 'orders', 'Ready', 'False/WaitingForSubject')
    await apply('Subject', 'orders-value', { schema: '{"type":"long"}', compatibility: 'FULL' })
    await condition('subjects', 'orders-value', 'Ready', 'True/Succeeded')
    await condition('connectors', 'orders', 'Ready', 'True/Succeeded')
    expect(await createRegistryClient({ url: registryUrl }).versions('orders-value')).toEqual([1])
    expect(Object.keys(await createWorkerClient({ url: workerUrl }).list())).toEqual(['orders'])

    const connector = await object('connectors', 'orders')
    expect(connector.metadata.finalizers).toEqual(['weir.dev/connector'])
    expect(connector.status).toMatchObject({ observedGeneration: 1, tasks: { summary: '1/1' }, type: 'source' })
    const managers = connector.metadata.managedFields?.map(
      ({ manager, subresource = '' }) => `${manager} ${subresource}`,
    )
    expect(managers?.sort()).toEqual(['person ', 'weir-operator status', 'weir-operator-finalizer '])

    const path = `${API}/namespaces/${namespace}/connectors/orders`
    await api.send('DELETE', path)
    await until('the deletion', WAIT, async () => (await api.send('GET', path)).status === 404)
    expect(await createWorkerClient({ url: workerUrl }).list()).toEqual({})
  })

  it('reports why a schema is incompatible, and registers nothing', async () => {
    const { namespace, apply, condition, object } = await createTestNamespace(api)
    const { registryUrl } = await startOperator(control, namespace)
    await apply('Subject', 'user', { schema: record([]), compatibility: 'BACKWARD' })
    await condition('subjects', 'user', 'Ready', 'True/Succeeded')
    await apply('Subject', 'user', { schema: record([{ name: 'email', type: 'string' }]), compatibility: 'BACKWARD' })
    await condition('subjects', 'user', 'Stalled', 'True/Incompatible')
    const { status } = await object('subjects', 'user')
    expect(status?.conditions.find(({ type }) => type === 'Ready')?.message).toContain("'email'")
    expect(await createRegistryClient({ url: registryUrl }).versions('user')).toEqual([1])
  })

  it('reads a schema from a ConfigMap, and registers its changes', async () => {
    const { namespace, apply, condition, object } = await createTestNamespace(api)
    await startOperator(control, namespace)
    const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
    const data = (schema: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'schemas' },
      data: { user: schema },
    })
    await apply('Subject', 'user', { schemaFrom: { configMapKeyRef: { name: 'schemas', key: 'user' } } })
    await condition('subjects', 'user', 'Ready', 'False/WaitingForInput')
    await api.send('POST', configMaps, data(record([])))
    await condition('subjects', 'user', 'Ready', 'True/Succeeded')
    await api.send('PUT', `${configMaps}/schemas`, data(record([{ name: 'age', type: 'int', default: 0 }])))
    await until('version 2', WAIT, async () => (await object('subjects', 'user')).status?.version === 2)
  })

  it('exports offsets to a ConfigMap, from which a new connector continues', async () => {
    const { namespace, apply, condition, remove } = await createTestNamespace(api)
    const { workerUrl } = await startOperator(control, namespace)
    const worker = createWorkerClient({ url: workerUrl })
    const lines = join(temporaryDirectory(), 'lines.txt')
    writeFileSync(lines, 'one\ntwo\n')
    const source = { class: 'FileStreamSource', config: { file: lines, topic: 'lines' } }
    const kept = { export: { configMapRef: { name: 'saved' }, interval: '1s' } }
    await apply('Connector', 'lines', { ...source, offsets: kept })
    const saved = async () => {
      const { body } = await api.send('GET', `/api/v1/namespaces/${namespace}/configmaps/saved`)
      return JSON.parse((body as { data?: Record<string, string> }).data?.['offsets.json'] ?? '{}').offsets
    }
    const place = { partition: { filename: lines }, offset: { position: 8 } }
    await until('the offsets to be saved', WAIT, async () => isDeepStrictEqual(await saved(), [place]))

    await remove('connectors', 'lines')
    const path = `${API}/namespaces/${namespace}/connectors/lines`
    await until('the deletion', WAIT, async () => (await api.send('GET', path)).status === 404)
    const offsetsFrom = { configMapKeyRef: { name: 'saved' } }
    const operation = { id: 'restore', type: 'Alter', offsetsFrom }
    await apply('Connector', 'again', { ...source, state: 'Stopped', offsets: { operation } })
    await condition('connectors', 'again', 'Ready', 'True/Succeeded')
    expect(await worker.offsets('again')).toEqual([place])
  })

  it('continues after a long outage of the API server, when its watches have to list again', {
    timeout: 300_000,
  }, async () => {
    const { namespace, apply, condition, object } = await createTestNamespace(api)
    await startOperator(control, namespace)
    await apply('Subject', 'before', { schema: '"int"' })
    await condition('subjects', 'before', 'Ready', 'True/Succeeded')
    await control.kill()
    await sleep(AWAY_MS)
    await control.restart()
    await apply('Subject', 'between', { schema: '"int"' })
    await control.compact()
    await apply('Subject', 'after', { schema: '"int"' })
    // The backoff has reached one attempt in 30 s.
    await until('it to be back', { everyMs: 250, timeoutMs: 180_000 }, async () => {
      return (await object('subjects', 'after')).status?.version === 1
    })
    for (const name of ['between', 'after']) await condition('subjects', name, 'Ready', 'True/Succeeded')
  })

  it('has one leader: a standby takes over at once when the leader stops, and soon after it is killed', async () => {
    const { namespace, apply, condition, events } = await createTestNamespace(api)
    const registry = await startRegistryProcess(['--data', join(temporaryDirectory(), 'data')], {})
    onTestFinished(() => registry.kill())
    const runtimes = { registryUrl: registry.url, workerUrl: 'http://127.0.0.1:1' }
    const first = await startOperatorFor(runtimes, control, namespace)
    await until('the first leader', WAIT, () => leads(first))
    const second = await startOperatorFor(runtimes, control, namespace)
    await apply('Subject', 'one', { schema: '"int"' })
    await condition('subjects', 'one', 'Ready', 'True/Succeeded')
    expect(leads(second)).toBe(false)
    for (const [operator, leading] of [
      [first, 1],
      [second, 0],
    ] as const) {
      const url = monitoringOf(operator)
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      const metrics = await (await fetch(`${url}/metrics`)).text()
      expect(metrics).toContain(`leader_election_master_status ${leading}`)
      expect(metrics).toContain('weir_resources{kind="Subject",ready="True",reason="Succeeded"} 1')
      expect(metrics).toMatch(/rest_client_requests_total\{code="200",method="GET",host="127\.0\.0\.1:\d+"\} \d+/)
    }
    expect(await events('one')).toEqual(['Registered by weir.dev/operator'])

    expect(await first.interrupt()).toBe(0)
    await until('the second leader', WAIT, () => leads(second))
    await apply('Subject', 'two', { schema: '"int"' })
    await condition('subjects', 'two', 'Ready', 'True/Succeeded')

    const third = await startOperatorFor(runtimes, control, namespace)
    await second.kill()
    await until('the third leader', WAIT, () => leads(third))
    await apply('Subject', 'three', { schema: '"int"' })
    await condition('subjects', 'three', 'Ready', 'True/Succeeded')
    const client = createRegistryClient({ url: registry.url })
    for (const subject of ['one', 'two', 'three']) expect(await client.versions(subject)).toEqual([1])
  })

  it('writes nothing while nothing changes', async () => {
    const { namespace, apply, condition, object } = await createTestNamespace(api)
    await startOperator(control, namespace)
    await apply('Connector', 'quiet', {
      class: 'Datagen',
      config: { 'kafka.topic': 'quiet', quickstart: 'orders', rate: '1' },
    })
    await condition('connectors', 'quiet', 'Ready', 'True/Succeeded')
    const version = async () => (await object('connectors', 'quiet')).metadata.resourceVersion
    // Its tasks may still start, which changes the status. A status that is written again and again never passes.
    let others = 0
    await until('a status that does not change', WAIT, async () => {
      const before = await version()
      others += 1
      // When a later change of another resource is applied, all pending events of this one have arrived.
      await apply('Subject', `other-${others}`, { schema: '"int"' })
      await condition('subjects', `other-${others}`, 'Ready', 'True/Succeeded')
      return (await version()) === before
    })
  })
})

function leads(operator: Program): boolean {
  return logOf(operator).includes('"leading"')
}

function record(fields: readonly object[]): string {
  return JSON.stringify({ type: 'record', name: 'User', fields })
}
