import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { describeOn, real } from '../../env/real.ts'
import { installCrds } from '../../support/crds.ts'
import { startFailingWorker } from '../../support/failing-worker.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { startOperatorWith } from '../../support/operator-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { createTestNamespace } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

const kubernetes = await real('kubernetes')
const CONNECTORS = 60
/** With a character that makes it two bytes for each one in memory. */
const TRACE = `java.lang.IllegalStateException: first\n${'\tat example.Task.run(Task.java:1)\n'.repeat(40_000)}Caused by: java.io.IOException: disk full →\n`
/** The operator has about 30 MB of live objects; one list of the worker has 80 MB. */
const HEAP_MB = 128

describeOn([kubernetes], 'an operator of 60 connectors whose tasks fail with traces of 1.3 MB', () => {
  beforeAll(() => installCrds(kubeApi(kubernetes.address)))

  it('keeps a bounded part of each trace', async () => {
    const worker = await startFailingWorker(TRACE)
    const path = join(temporaryDirectory(), 'operator.yaml')
    const entry = { name: 'default', url: worker.url, allowedNamespaces: { from: 'All' }, observeInterval: '2s' }
    writeFileSync(path, stringify({ apiVersion: 'config.weir.dev/v1alpha1', kind: 'OperatorConfig', workers: [entry] }))
    const { namespace, apply, condition, object } = await createTestNamespace(kubeApi(kubernetes.address))
    await startOperatorWith(['--config', path], kubernetes.address, namespace, undefined, [
      `--max-old-space-size=${HEAP_MB}`,
    ])
    const names = Array.from({ length: CONNECTORS }, (_, number) => `failing-${number}`)
    for (const name of names) await apply('Connector', name, { class: 'Failing', config: { topic: name } })
    for (const name of names) await condition('connectors', name, 'Ready', 'False/TaskFailed')
    const before = worker.lists()
    await until('further lists', { everyMs: 50, timeoutMs: 120_000 }, () => worker.lists() > before + 2)
    const { status } = await object('connectors', names[0]!)
    const [ready] = status!.conditions
    expect(ready!.message).toMatch(/^task 0 failed: disk full →; restart/)
  })
})
