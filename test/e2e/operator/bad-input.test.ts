import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { WAIT } from '../../support/kube-world.ts'
import { type Scene, startScene } from '../../support/scene.ts'
import { until } from '../../support/until.ts'

// What people should not do and do all the same, on a real API server and real runtimes.

const kubernetes = await real('kubernetes')

describeOn([kubernetes], 'an operator that is given', () => {
  let scene: Scene

  beforeAll(async () => {
    scene = await startScene(kubernetes.address)
    return () => scene.stop()
  })

  it('names that need escaping keeps each by its own name', async () => {
    const connector = '50%&a=b?c#d"é'
    const spec = { name: connector, class: 'FileStreamSource', config: { file: 'none', topic: 'lines' } }
    await scene.apply('Connector', 'odd', spec)
    const subject = ':.odd:a/b c?d#e%2F"é'
    await scene.apply('Subject', 'odd', { subject, schema: '"int"', deletionPolicy: 'HardDelete' })
    await scene.condition('connectors', 'odd', 'Ready', 'True/Succeeded')
    await scene.condition('subjects', 'odd', 'Ready', 'True/Succeeded')
    expect(Object.keys(await scene.worker.list())).toContain(connector)
    expect(await scene.registry.versions(subject)).toEqual([1])
    await scene.remove('connectors', 'odd')
    await scene.remove('subjects', 'odd')
    await until('both to be gone', WAIT, async () => {
      const names = Object.keys(await scene.worker.list())
      return !names.includes(connector) && (await scene.registry.subjects({ prefix: ':.odd:' })).length === 0
    })
  })

  it('a schema of 1 MiB has it refused, by the API server or by the registry', async () => {
    const schema = JSON.stringify({ type: 'enum', name: 'E', symbols: ['A'], doc: 'x'.repeat(1_048_576) })
    const refused = await scene.tryApply('Subject', 'large', { schema })
    expect([refused.status, refused.body['reason']]).toEqual([422, 'Invalid'])
    // A ConfigMap holds 1 MiB: there the registry has the last word.
    const data = { schema: JSON.stringify({ type: 'enum', name: 'E', symbols: ['A'], doc: 'x'.repeat(1_000_000) }) }
    await scene.api.send('POST', `/api/v1/namespaces/${scene.namespace}/configmaps`, {
      metadata: { name: 'large' },
      data,
    })
    await scene.apply('Subject', 'large', { schemaFrom: { configMapKeyRef: { name: 'large', key: 'schema' } } })
    await scene.condition('subjects', 'large', 'Stalled', 'True/SchemaTooLarge')
    expect(await scene.registry.subjects({ prefix: 'large' })).toEqual([])
  })

  it('an edit every 10 ms ends where the last one says, with few writes on the way', async () => {
    const edits = 300
    for (let edit = 1; edit <= edits; edit++) {
      const config = { file: 'none', topic: 'lines', 'batch.size': String(edit) }
      await scene.apply('Connector', 'busy', { class: 'FileStreamSource', config })
      await sleep(10)
    }
    await until('the last edit to be in force', WAIT, async () => {
      const { status, metadata } = (await scene.object('connectors', 'busy')) as unknown as {
        readonly status?: { readonly observedGeneration: number; readonly conditions: readonly object[] }
        readonly metadata: { readonly generation: number }
      }
      const ready = status?.conditions.some(
        (one) => 'type' in one && one.type === 'Ready' && 'status' in one && one.status === 'True',
      )
      return ready === true && status?.observedGeneration === metadata.generation
    })
    expect((await scene.worker.get('busy')).config['batch.size']).toBe(String(edits))
    const { resourceVersion } = (await scene.object('connectors', 'busy')).metadata
    const told = await scene.events('busy')
    // At most one event a reason is kept each ten minutes, however often it happened.
    expect(told.filter((one) => one.startsWith('Updated')).length).toBeLessThan(30)
    // It is looked at each second: nothing is left to do.
    await scene.apply('Subject', 'after', { schema: '"int"' })
    await scene.condition('subjects', 'after', 'Ready', 'True/Succeeded')
    expect((await scene.object('connectors', 'busy')).metadata.resourceVersion).toBe(resourceVersion)
  })
})
