import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { type OperatorEnvironment, startOperatorEnvironment } from '../../support/operator-environment.ts'
import { WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

/** 60,000 in the long form. */
const EDITED_MS = Number(process.env['WEIR_EDITED_MS'] ?? 10_000)
/** Number of condition changes. 10,000 in the long form. */
const CHANGES = Number(process.env['WEIR_CHANGES'] ?? 2_000)
/** Minimum time between edits; a busy API server needs longer. */
const EDIT_MS = 10
const LONG = { timeout: 300_000 }

type Told = {
  readonly metadata: { readonly generation: number }
  readonly status?: {
    readonly observedGeneration: number
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

// Bad input of users, on a real API server and real runtimes.

const kubernetes = await real('kubernetes')

describeOn([kubernetes], 'an operator that receives', () => {
  let env: OperatorEnvironment

  beforeAll(async () => {
    env = await startOperatorEnvironment(kubernetes.address)
    return () => env.stop()
  })

  it('names that need escaping manages each object under its own name', async () => {
    const connector = '50%&a=b?c#d"é'
    const spec = { name: connector, class: 'FileStreamSource', config: { file: 'none', topic: 'lines' } }
    await env.apply('Connector', 'odd', spec)
    const subject = ':.odd:a/b c?d#e%2F"é'
    await env.apply('Subject', 'odd', { subject, schema: '"int"', deletionPolicy: 'HardDelete' })
    await env.condition('connectors', 'odd', 'Ready', 'True/Succeeded')
    await env.condition('subjects', 'odd', 'Ready', 'True/Succeeded')
    expect(Object.keys(await env.worker.list())).toContain(connector)
    expect(await env.registry.versions(subject)).toEqual([1])
    await env.remove('connectors', 'odd')
    await env.remove('subjects', 'odd')
    await until('both to be gone', WAIT, async () => {
      const names = Object.keys(await env.worker.list())
      return !names.includes(connector) && (await env.registry.subjects({ prefix: ':.odd:' })).length === 0
    })
  })

  it('a schema of 1 MiB reports its rejection, by the API server or by the registry', async () => {
    const schema = JSON.stringify({ type: 'enum', name: 'E', symbols: ['A'], doc: 'x'.repeat(1_048_576) })
    const refused = await env.tryApply('Subject', 'large', { schema })
    expect([refused.status, refused.body['reason']]).toEqual([422, 'Invalid'])
    // A ConfigMap may contain 1 MiB, more than the registry accepts.
    const data = { schema: JSON.stringify({ type: 'enum', name: 'E', symbols: ['A'], doc: 'x'.repeat(1_000_000) }) }
    await env.api.send('POST', `/api/v1/namespaces/${env.namespace}/configmaps`, {
      metadata: { name: 'large' },
      data,
    })
    await env.apply('Subject', 'large', { schemaFrom: { configMapKeyRef: { name: 'large', key: 'schema' } } })
    await env.condition('subjects', 'large', 'Stalled', 'True/SchemaTooLarge')
    expect(await env.registry.subjects({ prefix: 'large' })).toEqual([])
  })

  it('an edit every 10 ms applies the last one, with few writes', LONG, async () => {
    const before = await work()
    const endMs = performance.now() + EDITED_MS
    let edits = 0
    while (performance.now() < endMs) {
      edits += 1
      const config = { file: 'none', topic: 'lines', 'batch.size': String(edits) }
      await Promise.all([sleep(EDIT_MS), env.apply('Connector', 'busy', { class: 'FileStreamSource', config })])
    }
    await until('the last edit to be told of', WAIT, () => hasCurrentCondition('connectors', 'busy', 'Ready'))
    expect((await env.worker.get('busy')).config['batch.size']).toBe(String(edits))
    const done = await work()
    // Each edit causes at most one reconcile, and one more if that changed something. Each writes at most one status.
    expect(done.passes - before.passes).toBeLessThan(2 * edits + 50)
    expect(done.writes - before.writes).toBeLessThan(2 * edits + 50)
    // At most one Event for each reason in ten minutes, however often it occurred.
    expect((await env.events('busy')).filter((one) => one.startsWith('Updated')).length).toBeLessThan(30)
    await atRest(['connectors/busy'])
  })

  it('thousands of changes of conditions keeps their number bounded, and reports the final state', LONG, async () => {
    const names = Array.from({ length: 10 }, (_, at) => `flip-${at}`)
    // Each edit changes at least Ready, Stalled, Synced and Compatible.
    const edits = CHANGES / 4 / names.length
    const [good, bad] = ['"int"', '{"type": "record"']
    const last = (name: string) => (name < 'flip-5' ? good : bad)
    await Promise.all(
      names.map(async (name) => {
        for (let edit = 0; edit < edits; edit++) await env.apply('Subject', name, { schema: edit % 2 ? bad : good })
        await env.apply('Subject', name, { schema: last(name) })
      }),
    )
    for (const name of names) {
      const wanted = last(name) === good ? 'Ready' : 'Stalled'
      await until(`the condition ${wanted} of ${name}`, WAIT, () => hasCurrentCondition('subjects', name, wanted))
      const object = await env.object('subjects', name)
      const types = object.status!.conditions.map(({ type }) => type)
      expect(new Set(types).size).toBe(types.length)
      expect(JSON.stringify(object).length).toBeLessThan(8_192)
      expect((await env.events(name)).length).toBeLessThan(30)
      expect(await env.registry.versions(name)).toEqual([1])
    }
    await atRest(names.map((name) => `subjects/${name}`))
  })

  /** The reconciles and writes of the operator so far. */
  async function work() {
    return {
      passes: await env.sumOfMetric('controller_runtime_reconcile_total', 'controller="connector"'),
      writes: await env.sumOfMetric('rest_client_requests_total', 'method="PATCH"'),
    }
  }

  /** Whether the status is of the current generation, and this condition is True. */
  async function hasCurrentCondition(plural: string, name: string, type: string): Promise<boolean> {
    const { status, metadata } = (await env.object(plural, name)) as unknown as Told
    const isSo = status?.conditions?.some((one) => one.type === type && one.status === 'True') ?? false
    return isSo && status?.observedGeneration === metadata.generation
  }

  /** Waits until the operator writes nothing. It reconciles every second, so nothing is left to do then. */
  async function atRest(paths: readonly string[]): Promise<void> {
    const versions = () =>
      Promise.all(
        paths.map(async (path) => {
          const [plural = '', name = ''] = path.split('/')
          return (await env.object(plural, name)).metadata.resourceVersion
        }),
      )
    const before = await versions()
    await env.apply('Subject', 'after', {
      schema: JSON.stringify({ type: 'enum', name: 'E', symbols: [`V${before[0]}`] }),
      compatibility: 'NONE',
    })
    await until('what came after', WAIT, () => hasCurrentCondition('subjects', 'after', 'Ready'))
    expect(await versions()).toEqual(before)
  }
})
