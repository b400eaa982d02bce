import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { describeOn, real } from '../env/real.ts'
import { installCrds } from '../support/crds.ts'
import { kubeApi } from '../support/kube-api.ts'
import { logOf, monitoringOf, operatorAccount, startOperatorWith } from '../support/operator-process.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const kubernetes = await real('kubernetes')

describeOn([kubernetes], 'an operator of several registries', () => {
  beforeAll(() => installCrds(kubeApi(kubernetes.address)))

  it('registers each Subject in the registry that it refers to, and applies changes of its configuration file', async () => {
    const { namespace, apply, condition } = await createTestNamespace(kubeApi(kubernetes.address))
    const [first, second] = [await startRegistry(), await startRegistry()]
    const path = join(temporaryDirectory(), 'operator.yaml')
    const write = (registries: readonly object[], more: object = {}) =>
      writeFileSync(
        path,
        stringify({ apiVersion: 'config.weir.dev/v1alpha1', kind: 'OperatorConfig', registries, ...more }),
      )
    const entry = (name: string, url: string) => ({ name, url, allowedNamespaces: { from: 'All' } })
    const broken = { name: 'broken', url: 'here' }
    write([entry('one', first.url), broken])
    const operator = await startOperatorWith(['--config', path], kubernetes.address, namespace)
    const subjects = { a: 'one', b: 'two', c: 'broken' }
    for (const [name, registry] of Object.entries(subjects)) {
      await apply('Subject', name, { registryRef: { name: registry }, schema: '"int"' })
    }
    await condition('subjects', 'a', 'Ready', 'True/Succeeded')
    await condition('subjects', 'b', 'Stalled', 'True/UnknownCluster')
    await condition('subjects', 'c', 'Stalled', 'True/ClusterConfigInvalid')

    write([entry('one', first.url), entry('two', second.url), broken])
    await condition('subjects', 'b', 'Ready', 'True/Succeeded')
    expect(await createRegistryClient({ url: first.url }).subjects()).toEqual(['a'])
    expect(await createRegistryClient({ url: second.url }).subjects()).toEqual(['b'])
    const metrics = await (await fetch(`${monitoringOf(operator)}/metrics`)).text()
    expect(metrics).toContain('weir_runtime_up{cluster="two",runtime="registry"} 1')

    write([], { kind: 'Nothing' })
    await until('the complaint', WAIT, () => logOf(operator).includes('cannot read the configuration'))
    expect((await fetch(`${monitoringOf(operator)}/readyz`)).status).toBe(503)
    await apply('Subject', 'd', { registryRef: { name: 'two' }, schema: '"int"' })
    await condition('subjects', 'd', 'Ready', 'True/Succeeded')
  })
})

describeOn([kubernetes], 'a runtime with a namespace selector', () => {
  const api = kubeApi(kubernetes.address)
  beforeAll(() => installCrds(api))

  const selector = { matchLabels: { team: 'shop' } }
  const granting = (url: string, allowedNamespaces: object) => {
    const path = join(temporaryDirectory(), 'operator.yaml')
    const write = (allowed: object) =>
      writeFileSync(
        path,
        stringify({
          ...{ apiVersion: 'config.weir.dev/v1alpha1', kind: 'OperatorConfig' },
          registries: [{ name: 'default', url, allowedNamespaces: allowed }],
        }),
      )
    write(allowedNamespaces)
    return { path, write }
  }

  async function label(namespace: string, team: string | null) {
    const labels = { metadata: { labels: { team } } }
    const answer = await api.send('PATCH', `/api/v1/namespaces/${namespace}`, labels, 'application/merge-patch+json')
    expect(answer.status).toBe(200)
  }

  it('is allowed for namespaces with matching labels, also after a change of the configuration', async () => {
    const { namespace, apply, condition, object } = await createTestNamespace(api)
    const { url } = await startRegistry()
    const { path, write } = granting(url, { from: 'List', names: ['elsewhere'] })
    await startOperatorWith(['--config', path], kubernetes.address, namespace)
    await apply('Subject', 'a', { schema: '"int"' })
    await condition('subjects', 'a', 'Stalled', 'True/NotAllowed')

    await label(namespace, 'shop')
    write({ from: 'Selector', selector })
    await condition('subjects', 'a', 'Ready', 'True/Succeeded')
    await label(namespace, 'orders')
    await condition('subjects', 'a', 'Stalled', 'True/NotAllowed')
    const { status } = await object('subjects', 'a')
    expect(status?.conditions.find(({ type }) => type === 'Ready')?.message).toBe(
      `registry default does not allow namespace ${namespace}: see allowedNamespaces of its configuration`,
    )
    await label(namespace, 'shop')
    await condition('subjects', 'a', 'Ready', 'True/Succeeded')
    await label(namespace, null)
    await condition('subjects', 'a', 'Stalled', 'True/NotAllowed')
  })

  it('is allowed for no namespace while the operator has no permission to watch namespaces, which it logs', async () => {
    const { namespace, apply, condition } = await createTestNamespace(api)
    const { url } = await startRegistry()
    const { path } = granting(url, { from: 'Selector', selector })
    const withheld = { verb: 'list', resource: 'namespaces' }
    const operator = await startOperatorWith(['--config', path], kubernetes.address, namespace, withheld)
    await apply('Subject', 'a', { schema: '"int"' })
    await condition('subjects', 'a', 'Stalled', 'True/ClusterConfigInvalid')
    expect(logOf(operator)).toContain('cannot list resource \\"namespaces\\"')
    await label(namespace, 'shop')
    await operatorAccount(kubernetes.address, namespace)
    await condition('subjects', 'a', 'Ready', 'True/Succeeded')
  })
})

async function startRegistry() {
  const registry = await startRegistryProcess(['--data', join(temporaryDirectory(), 'data')], {})
  onTestFinished(() => registry.kill())
  return registry
}
