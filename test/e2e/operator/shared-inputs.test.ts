import { expect, it, onTestFinished } from 'vitest'
import { type KubernetesAddress, startKubernetes } from '../../env/kubernetes.ts'
import { describeOn, real } from '../../env/real.ts'
import { installCrds } from '../../support/crds.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { startOperator } from '../../support/operator-process.ts'
import { createTestNamespace, WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

const kubernetes = await real('kubernetes')
const SUBJECTS = 100
const schema = (doc: string) => JSON.stringify({ type: 'record', name: 'Order', doc, fields: [] })

/** How often a single ConfigMap was read, by the metrics of the API server. */
async function configMapReads(address: KubernetesAddress): Promise<number> {
  const { body } = await kubeApi(address).send('GET', '/metrics')
  const lines = String(body['message']).split('\n')
  const counts = lines.filter(
    (line) =>
      line.startsWith('apiserver_request_total{') &&
      line.includes('resource="configmaps"') &&
      line.includes('verb="GET"') &&
      line.includes('scope="resource"'),
  )
  return counts.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

describeOn([kubernetes], `${SUBJECTS} Subjects with the schema of one ConfigMap`, () => {
  it('are registered anew after a change of it, which the operator reads once', async () => {
    // Its own control plane: the operators of other tests read ConfigMaps as well.
    const own = await startKubernetes()
    onTestFinished(() => own.stop())
    const api = kubeApi(own)
    await installCrds(api)
    const { namespace, apply, object } = await createTestNamespace(api)
    await startOperator(own, namespace)
    const store = async (doc: string) => {
      const data = { order: schema(doc) }
      const metadata = { name: 'schemas', namespace }
      const path = `/api/v1/namespaces/${namespace}/configmaps/schemas?fieldManager=person&force=true`
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
      expect((await api.send('PATCH', path, body, 'application/apply-patch+yaml')).status).toBeLessThan(300)
    }
    const names = Array.from({ length: SUBJECTS }, (_, number) => `order-${number}`)
    const registered = async (version: number) => {
      for (const name of names)
        await until(`version ${version} of ${name}`, WAIT, async () => {
          return (await object('subjects', name)).status?.version === version
        })
    }
    await store('first')
    const schemaFrom = { configMapKeyRef: { name: 'schemas', key: 'order' } }
    for (const name of names) await apply('Subject', name, { schemaFrom })
    await registered(1)
    const before = await configMapReads(own)
    expect(before).toBeGreaterThan(0)
    await store('second')
    await registered(2)
    expect((await configMapReads(own)) - before).toBe(1)
  })
})
