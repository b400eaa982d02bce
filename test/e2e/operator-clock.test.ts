import { expect } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { itOn, real } from '../env/real.ts'
import type { Program } from '../support/cli.ts'
import { installCrds } from '../support/crds.ts'
import { kubeApi } from '../support/kube-api.ts'
import { logOf, startOperatorFor } from '../support/operator-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'
import { startUp } from '../support/up.ts'

const kubernetes = await real('kubernetes')

/** Sets the clock on SIGUSR2: back by a day the first time, forward by a day the second time. */
const SET_CLOCK = `const now = Date.now
let behindMs = 0
Date.now = () => now() - behindMs
process.on('SIGUSR2', () => {
  behindMs = 86_400_000 - behindMs
  console.error('the clock says ' + new Date(Date.now()).toISOString())
})`
const DATAGEN = { 'kafka.topic': 'generated', quickstart: 'orders', 'value.converter': 'StringConverter', rate: '1' }

itOn([kubernetes], 'the operator continues when the clock is set back by a day and forward again', async () => {
  const api = kubeApi(kubernetes.address)
  await installCrds(api)
  const directory = temporaryDirectory()
  const runtimes = await startUp({
    manifests: temporaryDirectory(),
    log: ['--data', `${directory}/data`],
    directory,
  })
  const [registry, worker] = [
    createRegistryClient({ url: runtimes.registryUrl }),
    createWorkerClient({ url: runtimes.workerUrl }),
  ]
  const { namespace, apply, condition, remove } = await createTestNamespace(api)
  const imported = ['--import', `data:text/javascript,${encodeURIComponent(SET_CLOCK)}`]
  const operator = await startOperatorFor(runtimes, kubernetes.address, namespace, imported)
  const scope = { type: 'Subject', subject: 'held' }
  await apply('Subject', 'before', { schema: '"int"', deletionPolicy: 'HardDelete' })
  await apply('Connector', 'steady', { class: 'Datagen', config: DATAGEN })
  await apply('RegistryMode', 'window', { scope, mode: 'READONLY', window: { id: '1', duration: '15s' } })
  await condition('subjects', 'before', 'Ready', 'True/Succeeded')
  await condition('connectors', 'steady', 'Ready', 'True/Succeeded')
  await condition('registrymodes', 'window', 'WindowOpen', 'True/Open')
  const leaderships = () => logOf(operator).match(/"leading"/g)?.length

  await setClock(operator, 1)
  await apply('Subject', 'after', { schema: '"int"' })
  await condition('subjects', 'after', 'Ready', 'True/Succeeded')
  await remove('subjects', 'before')
  await until('the subject to go', WAIT, async () => !(await registry.subjects()).includes('before'))
  // The window closes in time, not a day late.
  await condition('registrymodes', 'window', 'WindowOpen', 'False/Closed')
  expect(leaderships()).toBe(1)

  await setClock(operator, 2)
  // The process may have been suspended for a day, so it acquires the lease before it continues.
  await until('it to lead again', WAIT, () => leaderships() === 2)
  await apply('Subject', 'last', { schema: '"int"' })
  await condition('subjects', 'last', 'Ready', 'True/Succeeded')
  expect((await registry.subjects()).toSorted()).toEqual(['after', 'last'])
  expect((await worker.status('steady')).tasks.map(({ state }) => state)).toEqual(['RUNNING'])
  const metrics = await (await fetch(`${runtimes.workerUrl}/metrics`)).text()
  expect(metrics).toMatch(/connector_startup_attempts_total\S* 1$/m)
})

async function setClock(operator: Program, times: number): Promise<void> {
  process.kill(operator.pid!, 'SIGUSR2')
  await until('the clock to be set', WAIT, () => logOf(operator).match(/the clock says/g)?.length === times)
}
