import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { describeOn, real } from '../../env/real.ts'
import { installCrds } from '../../support/crds.ts'
import { startFaultyProxy } from '../../support/faulty-proxy.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { startOperatorWith } from '../../support/operator-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { createTestNamespace } from '../../support/test-namespace.ts'
import { startUp } from '../../support/up.ts'

const kubernetes = await real('kubernetes')
const WORKERS = 20
/** Connectors on each of the two failing workers. */
const CHANGES = 30
/** Changes that are applied before the two workers fail, to measure how long a change takes on this machine. */
const UNDISTURBED = 5
/** Response time of the slow worker. With shared concurrency, a change on another worker would wait for several. */
const RESPONSE_MS = 9_000
const DATAGEN = { 'kafka.topic': 'generated', quickstart: 'orders', 'value.converter': 'StringConverter', rate: '1' }

describeOn([kubernetes], 'an operator of many workers, one of which never responds and one after 9 s,', () => {
  beforeAll(() => installCrds(kubeApi(kubernetes.address)))

  it('applies changes on the others without delay', async () => {
    const directory = temporaryDirectory()
    const { workerUrl } = await startUp({
      manifests: temporaryDirectory(),
      log: ['--data', `${directory}/data`],
      directory,
    })
    const [slow, silent] = [await startFaultyProxy({ url: workerUrl }), await startFaultyProxy({ url: workerUrl })]
    const healthy = Array.from({ length: WORKERS }, (_, number) => `worker-${number}`)
    const entry = (name: string, url: string) => ({ name, url, allowedNamespaces: { from: 'All' } })
    const workers = [
      ...healthy.map((name) => entry(name, workerUrl)),
      entry('slow', slow.url),
      entry('silent', silent.url),
    ]
    const path = join(directory, 'operator.yaml')
    writeFileSync(path, stringify({ apiVersion: 'config.weir.dev/v1alpha1', kind: 'OperatorConfig', workers }))
    const { namespace, apply, condition } = await createTestNamespace(kubeApi(kubernetes.address))
    await startOperatorWith(['--config', path], kubernetes.address, namespace)
    const declare = (name: string, worker: string) =>
      apply('Connector', name, { class: 'Datagen', config: DATAGEN, workerRef: { name: worker } })
    const readyMs = async (worker: string) => {
      const fromMs = performance.now()
      await declare(`on-${worker}`, worker)
      await condition('connectors', `on-${worker}`, 'Ready', 'True/Succeeded')
      return performance.now() - fromMs
    }
    const undisturbedMs: number[] = []
    for (const worker of healthy.slice(0, UNDISTURBED)) undisturbedMs.push(await readyMs(worker))
    slow.behave('responds after 9 s')
    silent.behave('does not respond')
    for (let number = 0; number < CHANGES; number++) {
      await declare(`slow-${number}`, 'slow')
      await declare(`silent-${number}`, 'silent')
    }
    const disturbedMs: number[] = []
    for (const worker of healthy.slice(UNDISTURBED)) disturbedMs.push(await readyMs(worker))
    expect(Math.max(...disturbedMs)).toBeLessThan(RESPONSE_MS + 3 * Math.max(...undisturbedMs))
  })
})
