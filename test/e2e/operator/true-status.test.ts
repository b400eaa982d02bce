import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { randomAt } from '../../../src/java-compat/avro-random-generator/random.ts'
import { describeOn, real } from '../../env/real.ts'
import { installCrds } from '../../support/crds.ts'
import { startFaultyProxy } from '../../support/faulty-proxy.ts'
import type { ProxyBehavior } from '../../support/faulty-proxy-server.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { startOperatorFor } from '../../support/operator-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { createTestNamespace } from '../../support/test-namespace.ts'
import { startUp } from '../../support/up.ts'

const kubernetes = await real('kubernetes')
/** 500 in the long form. */
const EDITS = Number(process.env['WEIR_STATUS_EDITS'] ?? 150)
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_261_122) || 1
const NAMES = ['a', 'b', 'c', 'd']
const FAULTS: readonly ProxyBehavior[] = [
  'well',
  'well',
  'returns status 500',
  'closes the connection',
  'returns status 409',
  'returns HTML',
]
const DATAGEN = { 'kafka.topic': 'generated', quickstart: 'orders', 'value.converter': 'StringConverter' }

type Declared = {
  readonly metadata: { readonly generation: number }
  readonly spec: { readonly config: Readonly<Record<string, string>> }
  readonly status?: {
    readonly observedGeneration: number
    readonly conditions: readonly { readonly type: string; readonly status: string }[]
  }
}

describeOn([kubernetes], 'the status of a Connector', () => {
  beforeAll(() => installCrds(kubeApi(kubernetes.address)))

  it('is Ready for a generation only if the worker has its configuration, under random faults', async () => {
    const directory = temporaryDirectory()
    const runtimes = await startUp({ manifests: temporaryDirectory(), log: ['--data', `${directory}/data`], directory })
    const proxy = await startFaultyProxy({ url: runtimes.workerUrl })
    const place = await createTestNamespace(kubeApi(kubernetes.address))
    await startOperatorFor({ ...runtimes, workerUrl: proxy.url }, kubernetes.address, place.namespace)
    const connectors = createWorkerClient({ url: runtimes.workerUrl })
    const declare = (name: string, rate: number) =>
      place.apply('Connector', name, { class: 'Datagen', config: { ...DATAGEN, rate: String(rate) } })
    for (const name of NAMES) await declare(name, 1)
    for (const name of NAMES) await place.condition('connectors', name, 'Ready', 'True/Succeeded')

    const untrue: string[] = []
    let observations = 0
    let isOver = false
    const read = async (name: string) => (await place.object('connectors', name)) as unknown as Declared
    /** The worker's configuration while the resource is Ready; undefined if it was not Ready throughout. */
    const observe = async (name: string) => {
      const before = await read(name)
      const held = claimsReady(before) ? (await connectors.get(name)).config['rate'] : undefined
      const after = await read(name)
      const isSame = claimsReady(after) && after.metadata.generation === before.metadata.generation
      return held !== undefined && isSame ? { held, declared: before.spec.config['rate'] } : undefined
    }
    const watch = async () => {
      for (let turn = 0; !isOver; turn++) {
        const name = NAMES[turn % NAMES.length]!
        const observed = await observe(name)
        if (observed === undefined) continue
        observations += 1
        const { held, declared } = observed
        if (held !== declared) untrue.push(`${name}: Ready for rate ${declared}, the worker holds ${held}`)
      }
    }
    const watching = watch()
    // A busy machine observes less of each edit.
    const isSeen = () => observations > EDITS / 10
    for (let edit = 0; edit < EDITS || (!isSeen() && edit < 4 * EDITS); edit++) {
      const random = randomAt(SEED, edit)
      proxy.behave(FAULTS[random.below(FAULTS.length)]!)
      await declare(NAMES[random.below(NAMES.length)]!, edit + 2)
      await sleep(random.below(150))
    }
    proxy.behave('well')
    for (const name of NAMES) await place.condition('connectors', name, 'Ready', 'True/Succeeded')
    isOver = true
    await watching
    expect(untrue).toEqual([])
    expect(isSeen()).toBe(true)
    for (const name of NAMES) {
      expect((await connectors.get(name)).config['rate']).toBe((await read(name)).spec.config['rate'])
    }
  })
})

function claimsReady({ metadata, status }: Declared): boolean {
  const ready = status?.conditions.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' && status?.observedGeneration === metadata.generation
}
