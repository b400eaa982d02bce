import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { crdFiles } from '../../src/operator/crd-files.ts'
import { must } from '../env/debian.ts'
import { type Kubernetes, startKubernetes } from '../env/kubernetes.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { responds, startWeir } from '../support/cli.ts'
import { API, installCrds } from '../support/crds.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { startOperator } from '../support/operator-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createTestNamespace } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const kubernetes = await real('kubernetes')

const ARCHIVE = join(import.meta.dirname, 'upgrade/data.tar.gz')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

it('a data directory of the first version keeps its ids, versions, modes and offsets', async () => {
  const directory = temporaryDirectory()
  await must({ file: 'tar', args: ['-xzf', ARCHIVE], directory })
  const copy = join(directory, 'copy.txt')
  expect(readFileSync(copy, 'utf8')).toBe('one\ntwo\nthree\n')
  const [registryPort, workerPort] = [await freePort(), await freePort()]
  const ports = ['--registry-port', String(registryPort), '--worker-port', String(workerPort), '--console-port', '0']
  const url = `http://127.0.0.1:${workerPort}`
  const weir = await startWeir(['up', 'manifests', '--data', 'data', ...ports], () => responds(`${url}/connectors`), {
    directory,
  })
  onTestFinished(() => weir.stop())
  const registry = createRegistryClient({ url: `http://127.0.0.1:${registryPort}` })
  expect(await registry.subjects()).toEqual(['orders-value'])
  expect(await registry.latest('orders-value')).toMatchObject({
    version: 2,
    id: 2,
    schema: expect.stringContaining('"note"'),
  })
  expect(await registry.mode('orders-value')).toBe('READWRITE')
  expect(await registry.config('orders-value')).toEqual({ compatibility: 'BACKWARD' })
  // No id is given twice.
  expect(await registry.register('new', { schema: '"int"' })).toMatchObject({ id: 3 })

  const worker = createWorkerClient({ url })
  expect(Object.keys(await worker.list()).toSorted()).toEqual(['lines-sink', 'lines-source'])
  // What is new is copied, and nothing of what was there is copied again.
  appendFileSync(join(directory, 'lines.txt'), 'four\n')
  await until('the new line', WAIT, () => existsSync(copy) && readFileSync(copy, 'utf8').includes('four\n'))
  expect(readFileSync(copy, 'utf8')).toBe('one\ntwo\nthree\nfour\n')
})

/** As the first operator wrote it: without what later ones tell, and with what they tell no more. */
const SINCE = '2026-01-02T03:04:05Z'
const READY = {
  type: 'Ready',
  status: 'True',
  lastTransitionTime: SINCE,
  reason: 'Succeeded',
  message: 'as an earlier version put it',
}
const FORGOTTEN = { type: 'Forgotten', status: 'True', lastTransitionTime: SINCE, reason: 'Earlier', message: '' }

/** A control plane of its own: its definitions keep what they do not know. */
describeOn([kubernetes], 'statuses of an earlier operator', () => {
  let control: Kubernetes
  let api: KubeApi
  beforeAll(async () => {
    control = await startKubernetes()
    api = kubeApi(control)
    await installCrds(api)
    for (const { name } of crdFiles()) await keepUnknown(name.replace('.yaml', ''))
    return () => control.stop()
  })

  it('are read and updated, and unknown fields are kept', async () => {
    const { namespace, apply, condition, object } = await createTestNamespace(api)
    const declared = [
      ['subjects', 'Subject', { schema: '"int"' }, { id: 7, version: 7 }],
      ['registrymodes', 'RegistryMode', { scope: { type: 'Subject', subject: 's' }, mode: 'READWRITE' }, {}],
      ['connectors', 'Connector', CONNECTOR, { lastHandledRestart: 'then', state: 'LOST', configHash: 'of then' }],
    ] as const
    for (const [plural, kind, spec, status] of declared) {
      await apply(kind, 's', spec, { 'weir.dev/restart-requested-at': 'then' })
      const conditions = [READY, FORGOTTEN]
      await writeStatus(namespace, plural, { observedGeneration: 1, conditions, old: 'kept', ...status })
    }
    const { registryUrl } = await startOperator(control, namespace)
    for (const [plural] of declared) {
      // The first status of this operator may say that it has only begun.
      await until(`${plural} to be what is so now`, WAIT, async () => {
        const { conditions = [] } = (await object(plural, 's')).status ?? {}
        const isOwn = conditions.every(({ message, type }) => message !== READY.message && type !== FORGOTTEN.type)
        return isOwn && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
      })
      await condition(plural, 's', 'Ready', 'True/Succeeded')
      expect((await object(plural, 's')).status).toMatchObject({ observedGeneration: 1, old: 'kept' })
    }
    expect(await createRegistryClient({ url: registryUrl }).versions('s')).toEqual([1])
    expect((await object('subjects', 's')).status).toMatchObject({ id: 1, version: 1 })
    // What was asked for and done is not done again.
    const connector = (await object('connectors', 's')).status
    expect(connector).toMatchObject({ lastHandledRestart: 'then', state: 'RUNNING', tasks: { summary: '1/1' } })
  })

  const CONNECTOR = { class: 'Datagen', config: { 'kafka.topic': 'orders', quickstart: 'orders' } }

  async function keepUnknown(name: string): Promise<void> {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
    const pointer = '/spec/versions/0/schema/openAPIV3Schema/properties/status/x-kubernetes-preserve-unknown-fields'
    const patch = [{ op: 'add', path: pointer, value: true }]
    const { status, body } = await api.send('PATCH', path, patch, 'application/json-patch+json')
    expect(status, JSON.stringify(body)).toBe(200)
  }

  async function writeStatus(namespace: string, plural: string, status: object): Promise<void> {
    const path = `${API}/namespaces/${namespace}/${plural}/s`
    const { apiVersion, kind } = (await api.send('GET', path)).body
    const body = { apiVersion, kind, metadata: { name: 's', namespace }, status }
    const query = 'fieldManager=weir-operator&force=true'
    const answer = await api.send('PATCH', `${path}/status?${query}`, body, 'application/apply-patch+yaml')
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
})
