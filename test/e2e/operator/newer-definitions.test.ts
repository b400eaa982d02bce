import { expect, it, onTestFinished } from 'vitest'
import { crdOf } from '../../../src/operator/resources/custom-resource-definition.ts'
import { startKubernetes } from '../../env/kubernetes.ts'
import { describeOn, real } from '../../env/real.ts'
import { API, installCrds } from '../../support/crds.ts'
import { type KubeApi, kubeApi } from '../../support/kube-api.ts'
import { startOperator } from '../../support/operator-process.ts'
import { createTestNamespace, WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

const kubernetes = await real('kubernetes')
const DATAGEN = { 'kafka.topic': 'generated', quickstart: 'orders', 'value.converter': 'StringConverter', rate: '1' }

type Fields = { readonly [name: string]: { enum?: unknown[]; properties?: Record<string, unknown> } & object }

/** Stores a definition of Connectors with a state, a field and a nested field that this version does not know. */
async function installNewerDefinition(api: KubeApi): Promise<void> {
  const definition = JSON.parse(JSON.stringify(crdOf('Connector')))
  const fields = definition.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties as Fields
  fields['state']!.enum!.push('Draining')
  fields['autoRestart']!.properties!['jitter'] = { type: 'boolean', default: true }
  Object.assign(fields, { pace: { type: 'string', default: 'Normal' } })
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/connectors.weir.dev'
  const { status, body } = await api.send('PATCH', path, { spec: definition.spec }, 'application/merge-patch+json')
  expect(status, JSON.stringify(body)).toBe(200)
}

describeOn([kubernetes], 'an operator whose definitions were upgraded before it', () => {
  it('reads new and edited objects, and reports by a condition what it cannot read', async () => {
    // Its own control plane: other tests use the definitions of this version.
    const own = await startKubernetes()
    onTestFinished(() => own.stop())
    const api = kubeApi(own)
    await installCrds(api)
    const { namespace, apply, condition, object, tryApply, remove } = await createTestNamespace(api)
    const { workerUrl } = await startOperator(own, namespace)
    const datagen = { class: 'Datagen', config: DATAGEN }
    await apply('Connector', 'earlier', datagen)
    await condition('connectors', 'earlier', 'Ready', 'True/Succeeded')

    await installNewerDefinition(api)
    await until('the new default', WAIT, async () => {
      const { body } = await tryApply('Connector', 'probe', datagen, { dryRun: true })
      return (body['spec'] as { pace?: string } | undefined)?.pace === 'Normal'
    })
    await apply('Connector', 'later', datagen)
    await condition('connectors', 'later', 'Ready', 'True/Succeeded')
    await apply('Connector', 'earlier', { ...datagen, config: { ...DATAGEN, rate: '2' } })
    const rate = async () => {
      const response = await fetch(`${workerUrl}/connectors/earlier`)
      return ((await response.json()) as { config: Record<string, string> }).config['rate']
    }
    await until('the edit', WAIT, async () => (await rate()) === '2')
    await condition('connectors', 'earlier', 'Ready', 'True/Succeeded')

    await apply('Connector', 'later', { ...datagen, state: 'Draining' })
    await condition('connectors', 'later', 'Ready', 'False/UnsupportedSpec')
    const { status } = await object('connectors', 'later')
    expect(status?.conditions[0]?.message).toMatch(/cannot read the object: spec\.state: 'Draining' is not allowed/)
    await apply('Connector', 'later', { ...datagen, state: 'Running' })
    await condition('connectors', 'later', 'Ready', 'True/Succeeded')
    await remove('connectors', 'later')
    const path = `${API}/namespaces/${namespace}/connectors/later`
    await until('the deletion', WAIT, async () => (await api.send('GET', path)).status === 404)
  })
})
