import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { createRegistryClient } from '../../src/clients/registry.ts'
import { createWorkerClient } from '../../src/clients/worker.ts'
import { crdFiles } from '../../src/operator/crds.ts'
import { type Kubernetes, startKubernetes } from '../env/kubernetes.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { answers, startWeir } from '../support/cli.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const API = '/apis/weir.dev/v1alpha1'
const WAIT = { everyMs: 25, timeoutMs: 60_000 }

const kubernetes = await real('kubernetes')

/** A control plane of this file's own: it is killed and compacted. */
describeOn([kubernetes], 'the operator on a real Kubernetes API', () => {
  let control: Kubernetes
  let api: KubeApi

  beforeAll(async () => {
    control = await startKubernetes()
    api = kubeApi(control)
    for (const { text } of crdFiles()) {
      const definition = parse(text)
      await api.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
      const path = `${API}/${definition.spec.names.plural}`
      await until(path, WAIT, async () => (await api.send('GET', path)).status === 200)
    }
    return () => control.stop()
  })

  it('registers a Subject, runs a Connector that waits for it, and says so where kubectl looks', async () => {
    const { namespace, apply, condition, object } = await world(api)
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

  it('says of an incompatible schema why, and registers nothing', async () => {
    const { namespace, apply, condition, object } = await world(api)
    const { registryUrl } = await startOperator(control, namespace)
    await apply('Subject', 'user', { schema: record([]), compatibility: 'BACKWARD' })
    await condition('subjects', 'user', 'Ready', 'True/Succeeded')
    await apply('Subject', 'user', { schema: record([{ name: 'email', type: 'string' }]), compatibility: 'BACKWARD' })
    await condition('subjects', 'user', 'Stalled', 'True/Incompatible')
    const { status } = await object('subjects', 'user')
    expect(status?.conditions.find(({ type }) => type === 'Ready')?.message).toContain("'email'")
    expect(await createRegistryClient({ url: registryUrl }).versions('user')).toEqual([1])
  })

  it('takes a schema from a ConfigMap, and follows it', async () => {
    const { namespace, apply, condition, object } = await world(api)
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

  it('goes on when the API server was killed, and its watches are told to list again', async () => {
    const { namespace, apply, condition } = await world(api)
    await startOperator(control, namespace)
    await apply('Subject', 'before', { schema: '"int"' })
    await condition('subjects', 'before', 'Ready', 'True/Succeeded')
    await control.kill()
    await control.restart()
    await apply('Subject', 'between', { schema: '"int"' })
    await control.compact()
    await apply('Subject', 'after', { schema: '"int"' })
    for (const name of ['between', 'after']) await condition('subjects', name, 'Ready', 'True/Succeeded')
  })

  it('writes nothing while nothing changes', async () => {
    const { namespace, apply, condition, object } = await world(api)
    await startOperator(control, namespace)
    await apply('Connector', 'quiet', {
      class: 'Datagen',
      config: { 'kafka.topic': 'quiet', quickstart: 'orders', rate: '1' },
    })
    await condition('connectors', 'quiet', 'Ready', 'True/Succeeded')
    const { resourceVersion } = (await object('connectors', 'quiet')).metadata
    // A change beside it is seen through, and by then all that was on its way for this one has come.
    await apply('Subject', 'other', { schema: '"int"' })
    await condition('subjects', 'other', 'Ready', 'True/Succeeded')
    expect((await object('connectors', 'quiet')).metadata.resourceVersion).toBe(resourceVersion)
  })
})

type Stored = {
  readonly metadata: {
    readonly resourceVersion: string
    readonly finalizers?: readonly string[]
    readonly managedFields?: readonly { readonly manager: string; readonly subresource?: string }[]
  }
  readonly status?: {
    readonly version?: number
    readonly conditions: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
    }[]
  }
}

/** A namespace of the test's own, and what a person does there. */
async function world(api: KubeApi) {
  const namespace = `test-${Math.random().toString(36).slice(2, 10)}`
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  const path = (plural: string, name: string) => `${API}/namespaces/${namespace}/${plural}/${name}`
  const object = async (plural: string, name: string) =>
    (await api.send('GET', path(plural, name))).body as unknown as Stored
  return {
    namespace,
    object,
    async apply(kind: string, name: string, spec: object) {
      const body = { apiVersion: 'weir.dev/v1alpha1', kind, metadata: { name, namespace }, spec }
      const plural = `${kind.toLowerCase()}s`
      const answer = await api.send(
        'PATCH',
        `${path(plural, name)}?fieldManager=person&force=true`,
        body,
        'application/apply-patch+yaml',
      )
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    },
    async condition(plural: string, name: string, type: string, wanted: string) {
      let found: unknown
      await until(`${name} to be ${type}=${wanted}`, WAIT, async () => {
        const { status } = await object(plural, name)
        found = status
        const condition = status?.conditions?.find((each) => each.type === type)
        return condition !== undefined && `${condition.status}/${condition.reason}` === wanted
      }).catch((error: Error) => {
        throw new Error(`${error.message}; it is ${JSON.stringify(found)}`)
      })
    },
  }
}

/** `weir operator` with both runtimes in its process, on an embedded broker. */
async function startOperator({ kubeconfig }: Kubernetes, namespace: string) {
  const directory = temporaryDirectory()
  const [registryPort, workerPort] = [await freePort(), await freePort()]
  const args = [
    ...['--kubeconfig', kubeconfig, '--namespace', namespace, '--data', join(directory, 'data')],
    ...['--registry-port', String(registryPort), '--worker-port', String(workerPort)],
    ...['--set', 'worker.value.converter=StringConverter', '--set', 'worker.offset.flush.interval.ms=200'],
  ]
  const workerUrl = `http://127.0.0.1:${workerPort}`
  const program = await startWeir(['operator', ...args], () => answers(`${workerUrl}/connectors`), { directory })
  onTestFinished(() => program.kill())
  return { registryUrl: `http://127.0.0.1:${registryPort}`, workerUrl }
}

function record(fields: readonly object[]): string {
  return JSON.stringify({ type: 'record', name: 'User', fields })
}
