import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { freePort } from '../../env/ports.ts'
import { describeOn, real } from '../../env/real.ts'
import { expectAccessible, openConsole, showView, takePicture } from '../../support/console-page.ts'
import { installCrds } from '../../support/crds.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { logOf, startOperatorWith } from '../../support/operator-process.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { createTestNamespace, WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const [chromium, kubernetes, java] = [await real('chromium'), await real('kubernetes'), await real('javaConnect')]

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

describeOn([chromium, kubernetes, java], 'the console of an operator in a cluster', () => {
  const api = kubeApi(kubernetes.address)
  beforeAll(() => installCrds(api))

  it('shows what the user may read in Kubernetes, with drift, a runtime that is down, and what to do', async () => {
    const { url, namespace, apply, condition, tokenOf, worker } = await startEstate()
    await apply('Subject', 'orders-value', { schema: '"int"', compatibility: 'FULL', driftPolicy: 'Report' })
    await apply('Connector', 'orders', {
      class: 'FileStreamSource',
      driftPolicy: 'Report',
      config: { file: '/dev/null', topic: 'orders', 'db.password': 'hunter2' },
    })
    await apply('Connector', 'lost', { class: 'FileStreamSource', workerRef: { name: 'gone' } })
    await apply('Connector', 'wrong', { class: 'org.example.Missing', workerRef: { name: 'java' } })
    await condition('connectors', 'orders', 'Ready', 'True/Succeeded')
    await condition('subjects', 'orders-value', 'Ready', 'True/Succeeded')
    await condition('connectors', 'wrong', 'Ready', 'False/PluginNotFound')
    await condition('connectors', 'lost', 'Ready', 'Unknown/WorkerUnreachable')
    const changed = await fetch(`${worker}/connectors/orders/config`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ file: '/dev/./null', topic: 'changed', note: 'by hand' }),
    })
    expect(changed.status).toBe(200)
    await condition('connectors', 'orders', 'Synced', 'False/Drifted')

    const page = await openConsole(chromium.address.url, url)
    await page.getByRole('heading', { name: 'Kubernetes token' }).waitFor()
    expect(await page.getByText('orders').count()).toBe(0)
    await logIn(page, 'wrong')
    await page.getByText('does not accept the Kubernetes token').waitFor()
    await logIn(page, await tokenOf('reader', 'weir-view'))
    const attention = page.getByRole('region', { name: 'Needs attention' })
    for (const shown of ['Drifted', 'WorkerUnreachable', 'PluginNotFound', 'DOWN', 'INVALID'])
      await attention.getByText(shown, { exact: true }).waitFor()
    await attention.getByText('Make the worker available; the operator continues by itself.').waitFor()
    await page.getByText('4 resources', { exact: true }).waitFor()
    await page.getByText(/active operator: .+ \(this replica\)/).waitFor()
    await page.getByRole('region', { name: 'Worker java' }).getByText('0 connectors').waitFor()
    await expectAccessible(page, 'overview of the operator')
    await takePicture(page, 'operator')

    // From the overview to the difference in one click.
    await attention.getByRole('link', { name: `Connector ${namespace}/orders` }).click()
    await page.getByText('3 keys differ').waitFor()
    const row = (key: string) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: key, exact: true }) })
    expect(await row('file').textContent()).toBe('file/dev/null/dev/./null')
    expect(await row('note').textContent()).toBe('notenot setby hand')
    await page.getByText('contains secrets in clear text').waitFor()
    expect(await page.getByLabel('Manifest').textContent()).toContain('db.password: "[hidden]"')
    expect(await page.content()).not.toContain('hunter2')
    await page.getByRole('button', { name: 'Copy the manifest' }).waitFor()
    await expectAccessible(page, 'drift')
    await page.setViewportSize({ width: 380, height: 700 })
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    expect(await page.evaluate(overflow)).toBe(0)
    await page.setViewportSize({ width: 1_000, height: 620 })

    // The difference disappears when the resource is followed again.
    await apply('Connector', 'orders', {
      class: 'FileStreamSource',
      config: { file: '/dev/null', topic: 'orders', 'db.password': 'hunter2' },
    })
    await page.getByText('The worker runs the declared configuration.').waitFor()

    await showView(page, 'subjects/orders-value')
    await page.getByRole('link', { name: 'Compare with what is declared' }).click()
    await page.getByText('The declared schema is version 1.').waitFor()
    await page.getByText('The texts are equal.').waitFor()

    // A schema that is not registered is shown as what would be added.
    await apply('Subject', 'orders-value', { schema: '"string"', compatibility: 'FULL', driftPolicy: 'Report' })
    await condition('subjects', 'orders-value', 'Ready', 'False/Incompatible')
    await showView(page, 'subjects/orders-value')
    await page.getByRole('status').filter({ hasText: 'Incompatible:' }).waitFor()
    await page.getByRole('link', { name: 'Compare with what is declared' }).click()
    await page.getByText('The declared schema is not registered.').waitFor()
    const difference = page.getByRole('region', { name: 'Difference of version 1, the latest and declared' })
    expect((await difference.locator('td.right').allTextContents()).join('')).toContain('string')
    // A reader may change no runtime.
    await showView(page, 'connectors/orders')
    await page.getByRole('heading', { name: 'Configuration' }).waitFor()
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0)
  })

  it('shows nothing to a user without permissions, and lets a user who may update all connectors change a runtime', async () => {
    const { url, apply, condition, tokenOf, worker } = await startEstate()
    await apply('Connector', 'orders', { class: 'FileStreamSource', config: { file: '/dev/null', topic: 'orders' } })
    await condition('connectors', 'orders', 'Ready', 'True/Succeeded')

    const page = await openConsole(chromium.address.url, url)
    await logIn(page, await tokenOf('stranger'))
    await page.getByText('0 resources').waitFor()
    expect(await page.getByRole('link', { name: 'Connectors' }).count()).toBe(0)
    await showView(page, 'resources')
    await page.getByText('0 of 0').waitFor()

    const other = await openConsole(chromium.address.url, url)
    // The administrator of the cluster.
    await logIn(other, kubernetes.address.token)
    await showView(other, 'connectors/orders')
    await other.getByRole('button', { name: 'Pause' }).click()
    await other.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await other.getByText('Paused orders.').waitFor()
    // The operator undoes it.
    await other.getByRole('heading', { level: 1 }).getByText('RUNNING').waitFor()
    // The page may still show the state before the pause.
    const status = async () => (await fetch(`${worker}/connectors/orders/status`)).json()
    await expect.poll(status).toMatchObject({ connector: { state: 'RUNNING' } })
  })

  /** An operator of a Weir worker and registry, a Java Connect cluster, and a worker that does not respond. */
  async function startEstate() {
    const [worker, registry, gonePort] = [await startTestWorker(), await startTestRegistry(), await freePort()]
    onTestFinished(() => registry.stop())
    const { namespace, apply, condition } = await createTestNamespace(api)
    const file = join(temporaryDirectory(), 'operator.yaml')
    const entry = (name: string, url: string) => ({ name, url, observeInterval: '1s', healthGrace: '1s' })
    writeFileSync(
      file,
      stringify({
        ...{ apiVersion: 'config.weir.dev/v1alpha1', kind: 'OperatorConfig' },
        workers: [
          entry('default', worker.url),
          entry('java', java.address.url),
          entry('gone', `http://127.0.0.1:${gonePort}`),
          { name: 'broken', url: 'here' },
        ].map((one) => ({ ...one, allowedNamespaces: { from: 'All' } })),
        registries: [{ ...entry('default', registry.url), allowedNamespaces: { from: 'All' } }],
      }),
    )
    const args = ['--config', file, '--console', 'http://127.0.0.1:0']
    const operator = await startOperatorWith(args, kubernetes.address, namespace)
    const consoleUrl = () => /"url":"(http:[^"]+)\/ui"/.exec(logOf(operator))?.[1]
    await until('the console', WAIT, () => consoleUrl() !== undefined)
    return {
      ...{ namespace, apply, condition, url: consoleUrl()!, worker: worker.url },
      /** The token of a new service account, with a cluster role in the namespace if one is given. */
      async tokenOf(name: string, clusterRole?: string): Promise<string> {
        await api.send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } })
        if (clusterRole !== undefined) {
          const { status } = await api.send('POST', `${RBAC}/namespaces/${namespace}/rolebindings`, {
            metadata: { name },
            subjects: [{ kind: 'ServiceAccount', name, namespace }],
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
          })
          expect(status).toBe(201)
        }
        const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
        const { body } = await api.send('POST', path, { spec: { expirationSeconds: 3_600 } })
        return (body['status'] as { readonly token: string }).token
      },
    }
  }
})

async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click()
}
