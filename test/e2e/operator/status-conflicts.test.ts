import { beforeAll, expect, it } from 'vitest'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { describeOn, real } from '../../env/real.ts'
import { installCrds } from '../../support/crds.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { monitoringOf, startOperatorFor } from '../../support/operator-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { createTestNamespace, WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'
import { startUp } from '../../support/up.ts'

const kubernetes = await real('kubernetes')
const RESTARTS = 4
const OTHER_UID = '00000000-0000-4000-8000-000000000000'
const DATAGEN = { 'kafka.topic': 'generated', quickstart: 'orders', 'value.converter': 'StringConverter' }
const APPLY = 'application/apply-patch+yaml'

type Stored = {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly generation: number }
  readonly status: { readonly observedGeneration: number; readonly lastHandledRestart?: string }
}

describeOn([kubernetes], 'a status that several processes write', () => {
  beforeAll(() => installCrds(kubeApi(kubernetes.address)))

  it('is not replaced by a write that names an earlier version, or another object', async () => {
    const api = kubeApi(kubernetes.address)
    const place = await createTestNamespace(api)
    await place.apply('Connector', 'orders', { class: 'Datagen', config: DATAGEN })
    const read = async () => (await place.object('connectors', 'orders')) as unknown as Stored
    const { uid, resourceVersion } = (await read()).metadata
    const apply = async (subresource: string, metadata: object, fields = {}) => {
      const path = `/apis/${API_VERSION}/namespaces/${place.namespace}/connectors/orders${subresource}`
      const identity = { name: 'orders', namespace: place.namespace, ...metadata }
      const body = { apiVersion: API_VERSION, kind: 'Connector', metadata: identity, ...fields }
      const { status, body: answer } = await api.send(
        'PATCH',
        `${path}?fieldManager=weir-operator&force=true`,
        body,
        APPLY,
      )
      return [status, answer['reason'], answer['message']]
    }
    const status = (observedGeneration: number) => ({ status: { observedGeneration, conditions: [] } })
    const hasChanged = [409, 'Conflict', expect.stringContaining('the object has been modified')]
    expect((await apply('/status', { uid, resourceVersion }, status(7)))[0]).toBe(200)
    expect(await apply('/status', { uid, resourceVersion }, status(6))).toEqual(hasChanged)
    // The uid alone protects no status, and every other write.
    expect(await apply('/status', { uid: OTHER_UID, resourceVersion }, status(6))).toEqual(hasChanged)
    const finalizers = { finalizers: ['weir.dev/connector'] }
    const isOther = [422, 'Invalid', expect.stringContaining('is invalid: metadata.uid: ')]
    expect(await apply('', { uid: OTHER_UID, ...finalizers })).toEqual(isOther)
    await place.remove('connectors', 'orders')
    const isGone = [409, 'Conflict', expect.stringContaining(': uid mismatch: ')]
    expect(await apply('', { uid, ...finalizers })).toEqual(isGone)
    expect((await apply('/status', { uid, resourceVersion }, status(6)))[0]).toBe(404)
  })

  it('reports each restart as done once, while people edit the object and its status at the same time', async () => {
    const api = kubeApi(kubernetes.address)
    const directory = temporaryDirectory()
    const runtimes = await startUp({ manifests: temporaryDirectory(), log: ['--data', `${directory}/data`], directory })
    const place = await createTestNamespace(api)
    const operator = await startOperatorFor(runtimes, kubernetes.address, place.namespace)
    const path = `/apis/${API_VERSION}/namespaces/${place.namespace}/connectors/orders`
    const patch = (subresource: string, body: object) =>
      api.send('PATCH', `${path}${subresource}`, body, 'application/merge-patch+json')
    const read = async () => (await place.object('connectors', 'orders')) as unknown as Stored
    await place.apply('Connector', 'orders', { class: 'Datagen', config: DATAGEN })
    await place.condition('connectors', 'orders', 'Ready', 'True/Succeeded')

    let isDone = false
    const editLabels = async () => {
      for (let edit = 0; !isDone; edit += 1) await patch('', { metadata: { labels: { edit: String(edit) } } })
    }
    const editStatus = async () => {
      const ready = {
        type: 'Ready',
        status: 'True',
        reason: 'Edited',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }
      for (let edit = 0; !isDone; edit += 1)
        await patch('/status', { status: { observedGeneration: edit, conditions: [ready] } })
    }
    const requestRestarts = async () => {
      for (let restart = 1; restart <= RESTARTS; restart += 1) {
        const requested = `restart-${restart}`
        await patch('', { metadata: { annotations: { 'weir.dev/restart-requested-at': requested } } })
        await until(requested, WAIT, async () => (await read()).status.lastHandledRestart === requested)
      }
    }
    const editing = [editLabels(), editStatus()]
    await requestRestarts().finally(() => {
      isDone = true
    })
    await Promise.all(editing)
    await patch('', { spec: { tasksMax: 1, config: { ...DATAGEN, rate: '7' } } })
    await until('the status of the last generation', WAIT, async () => {
      const { metadata, status } = await read()
      return status.observedGeneration === metadata.generation
    })
    await place.condition('connectors', 'orders', 'Ready', 'True/Succeeded')
    expect((await createWorkerClient({ url: runtimes.workerUrl }).get('orders')).config['rate']).toBe('7')
    const metrics = await (await fetch(`${monitoringOf(operator)}/metrics`)).text()
    const [, restarts] =
      /^weir_runtime_requests_total\{.*POST \/connectors\/\{\}\/restart.*\} (\d+)$/m.exec(metrics) ?? []
    expect(Number(restarts)).toBe(RESTARTS)
  })
})
