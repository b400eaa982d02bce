import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { findFromOverview, openConsole } from '../../support/console-page.ts'
import { installCrds } from '../../support/crds.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { logOf, startOperatorWith, type Verb } from '../../support/operator-process.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { createTestNamespace, WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const chromium = await real('chromium')
const kubernetes = await real('kubernetes')

const SOURCE = { class: 'FileStreamSource', config: { file: '/dev/null', topic: 'orders' } }

describeOn([chromium, kubernetes], "symptoms in an operator's console", () => {
  const api = kubeApi(kubernetes.address)
  beforeAll(() => installCrds(api))

  it('an operator that may not update its Lease is found within three clicks', async () => {
    const { namespace, apply } = await createTestNamespace(api)
    await apply('Connector', 'orders', SOURCE)
    const worker = await startTestWorker({ 'connector.paths.allowed': '/' })
    const page = await openOperator(namespace, worker.url, { verb: 'create', resource: 'leases' })
    await findFromOverview(page, [], 'This replica may not read or write the Lease')
    await findFromOverview(page, [], 'Grant the privilege that its log names.')
  })

  it('a deletion that waits for a worker that does not respond is found within three clicks', async () => {
    const { namespace, apply, condition, remove } = await createTestNamespace(api)
    const worker = await startTestWorker({ 'connector.paths.allowed': '/' })
    const page = await openOperator(namespace, worker.url)
    await apply('Connector', 'orders', { ...SOURCE, deletionPolicy: 'Delete' })
    await condition('connectors', 'orders', 'Ready', 'True/Succeeded')
    await findFromOverview(page, ['Connectors', 'orders'], 'Declared by the resource')
    await worker.stop()
    await remove('connectors', 'orders')
    await findFromOverview(page, [], /Deleting|WorkerUnreachable/)
    await findFromOverview(page, ['1 resources'], 'orders')
    await findFromOverview(page, [], 'DOWN')
  })

  /** The console of an operator with one worker, for the administrator of the cluster. */
  async function openOperator(namespace: string, workerUrl: string, withheld?: Verb) {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const args = ['--worker', workerUrl, '--registry', registry.url, '--console', 'http://127.0.0.1:0']
    const operator = await startOperatorWith(args, kubernetes.address, namespace, withheld)
    const consoleUrl = () => /"url":"(http:[^"]+)\/ui"/.exec(logOf(operator))?.[1]
    await until('the console', WAIT, () => consoleUrl() !== undefined)
    const page = await openConsole(chromium.address.url, consoleUrl() ?? '')
    await page.getByLabel('Token', { exact: true }).fill(kubernetes.address.token)
    await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    return page
  }
})
