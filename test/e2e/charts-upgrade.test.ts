import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { API_GROUP, DEPRECATED_VERSIONS, STORED_VERSION } from '../../src/common/resource-api.ts'
import { startKubernetes } from '../env/kubernetes.ts'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { alphaDefinitions } from '../support/alpha-definitions.ts'
import { helmIn } from '../support/chart-release.ts'
import { CHARTS } from '../support/charts.ts'
import { helmAt } from '../support/helm.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'

const [helm, kubernetes] = [await real('helm'), await real('kubernetes')]

const NAMESPACE = 'weir'
const [ALPHA] = DEPRECATED_VERSIONS
const VALUES = { kafka: { embedded: { enabled: true } } }

/** This chart with the definitions as they were with `v1alpha1` alone. */
function olderChart(): string {
  const chart = join(partDirectory('older-chart'), 'weir')
  cpSync(join(CHARTS, 'weir'), chart, { recursive: true })
  for (const definition of alphaDefinitions())
    writeFileSync(join(chart, 'charts/weir-crds/templates', `${definition.metadata.name}.yaml`), stringify(definition))
  return chart
}

/** One release: each test continues where the one before ended. Without nodes, no program runs. */
describeOn([helm, kubernetes], 'the chart with definitions of v1alpha1 alone', () => {
  let api: KubeApi
  let kubeconfig: string
  let weir: ReturnType<typeof helmIn>
  let older: string
  beforeAll(async () => {
    const control = await startKubernetes()
    api = kubeApi(control)
    kubeconfig = control.kubeconfig
    older = olderChart()
    weir = helmIn(NAMESPACE, helm.address.file, control)
    await weir.call('install', 'weir', older, '--create-namespace', ...weir.values(VALUES))
    const subject = { apiVersion: `${API_GROUP}/${ALPHA}`, kind: 'Subject', metadata: { name: 'orders-value' } }
    const path = `/apis/${API_GROUP}/${ALPHA}/namespaces/${NAMESPACE}/subjects`
    const { status, body } = await api.send('POST', path, { ...subject, spec: { schema: '"int"' } })
    expect(status, JSON.stringify(body)).toBe(201)
    return () => control.stop()
  })

  const subjects = async (version: string) => {
    const { body } = await api.send('GET', `/apis/${API_GROUP}/${version}/namespaces/${NAMESPACE}/subjects`)
    return (body['items'] as readonly { metadata: { name: string; uid: string }; spec: object }[]).map(
      ({ metadata: { name, uid }, spec }) => ({ name, uid, spec }),
    )
  }
  const versions = async () => {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/subjects.${API_GROUP}`
    const { spec } = (await api.send('GET', path)).body as { spec: { versions: readonly { name: string }[] } }
    return spec.versions.map(({ name }) => name)
  }

  it('is upgraded, keeps its resources, and goes back with the definitions of the newer version', async () => {
    const before = await subjects(ALPHA)
    await weir.call('upgrade', 'weir', 'weir', '--reuse-values')
    expect(await versions()).toEqual([STORED_VERSION, ALPHA])
    expect(await subjects(STORED_VERSION)).toEqual(before)
    await weir.call('upgrade', 'weir', older, '--reuse-values', '--set', 'crds.enabled=false')
    expect(await versions()).toEqual([STORED_VERSION, ALPHA])
    expect(await subjects(ALPHA)).toEqual(before)
    await weir.call('upgrade', 'weir', 'weir', '--reuse-values', '--set', 'crds.enabled=true')
    expect(await versions()).toEqual([STORED_VERSION, ALPHA])
    expect(await subjects(STORED_VERSION)).toEqual(before)
  })

  it('is refused by the API server as the target of helm rollback, which changes no definition and no resource', async () => {
    const before = await subjects(STORED_VERSION)
    const rollback = await helmAt(helm.address.file, kubeconfig).call([
      'rollback',
      'weir',
      '1',
      '--namespace',
      NAMESPACE,
    ])
    expect(rollback.code).toBe(1)
    expect(rollback.stderr).toMatch(/status\.storedVersions.*v1beta1/)
    expect(await versions()).toEqual([STORED_VERSION, ALPHA])
    expect(await subjects(STORED_VERSION)).toEqual(before)
  })
})
