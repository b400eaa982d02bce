import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { itOn, real } from '../env/real.ts'
import { API, installCrds } from '../support/crds.ts'
import { randomOf } from '../support/hostile-requests.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { startOperatorFor } from '../support/operator-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createTestNamespace } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'
import { startUp } from '../support/up.ts'

/**
 * Half of the kills happen while resources are created, half while some of them change. 50 in the long form. A seed
 * repeats the actions of a failed run, except for the exact times of the kills.
 */
const KILLS = Number(process.env['WEIR_CHAOS_KILLS'] ?? 6)
const SEED = Number(process.env['WEIR_CHAOS_SEED'] ?? 1)
const SUBJECTS = 400
const CONNECTORS = 100
/** A kill happens within this time after the operator is ready, so that it interrupts any of its operations. */
const KILL_WITHIN_MS = 3_000
const CHANGED_EACH = 5
const WAIT = { everyMs: 250, timeoutMs: 300_000 }

type Listed = {
  readonly metadata: { readonly name: string; readonly generation: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

const kubernetes = await real('kubernetes')

itOn(
  [kubernetes],
  'the declared connectors and subjects exist exactly once after repeated kills of the operator',
  async () => {
    const api = kubeApi(kubernetes.address)
    await installCrds(api)
    const runtimes = await startRuntimes()
    const space = new DeclaredResources(await createTestNamespace(api))
    const random = randomOf(SEED)
    const killed = async (change: () => Promise<void>) => {
      const operator = await startOperatorFor(runtimes, kubernetes.address, space.namespace)
      const changed = change()
      await sleep(random() * KILL_WITHIN_MS)
      await operator.kill()
      await changed
      // Otherwise the next operator waits until the lease expires.
      await api.send('DELETE', `/apis/coordination.k8s.io/v1/namespaces/${space.namespace}/leases/weir-operator`)
    }
    const settled = async () => {
      const operator = await startOperatorFor(runtimes, kubernetes.address, space.namespace)
      await untilReady(api, space)
      await operator.interrupt()
    }

    await space.declareAll()
    for (let kill = 0; kill < KILLS / 2; kill++) await killed(async () => {})
    await settled()
    expect(await startsOf(runtimes.workerUrl)).toBe(CONNECTORS)
    for (let kill = 0; kill < KILLS / 2; kill++) await killed(() => space.changeSome(random))
    await settled()
    // Each connector was started when it was created and when it was changed, and at no other time.
    expect(await startsOf(runtimes.workerUrl)).toBeLessThanOrEqual(CONNECTORS + space.connectorChanges)

    const registry = createRegistryClient({ url: runtimes.registryUrl })
    expect((await registry.subjects()).toSorted()).toEqual([...space.schemas.keys()].toSorted())
    for (const [subject, texts] of space.schemas) {
      const versions = await registry.versions(subject)
      const stored = await Promise.all(versions.map(async (at) => (await registry.version(subject, at))!.schema))
      // A Subject that was changed before its first reconcile has only its last schema.
      expect(texts.slice(-stored.length), subject).toEqual(stored)
    }
    const worker = createWorkerClient({ url: runtimes.workerUrl })
    const listed = await worker.list()
    expect(Object.keys(listed).toSorted()).toEqual([...space.rates.keys()].toSorted())
    for (const [name, rate] of space.rates) expect(listed[name]?.info?.config['rate'], name).toBe(rate)
  },
  600_000 + KILLS * 20_000,
)

/** A registry and a worker without declared resources. */
function startRuntimes() {
  const directory = temporaryDirectory()
  return startUp({ manifests: temporaryDirectory(), log: ['--data', `${directory}/data`], directory })
}

/** The declared resources, which change while the operator is killed. */
class DeclaredResources {
  readonly namespace: string
  /** By subject, its schemas in the order of their declaration. */
  readonly schemas = new Map<string, readonly string[]>()
  /** By connector, its rate. */
  readonly rates = new Map<string, string>()
  connectorChanges = 0
  readonly #world: Awaited<ReturnType<typeof createTestNamespace>>

  constructor(place: Awaited<ReturnType<typeof createTestNamespace>>) {
    this.#world = place
    this.namespace = place.namespace
  }

  async declareAll(): Promise<void> {
    for (let at = 0; at < SUBJECTS; at++) await this.#declareSubject(`subject-${at}`)
    for (let at = 0; at < CONNECTORS; at++) await this.#declareConnector(`connector-${at}`, '0.1')
  }

  /** Changes some subjects and some connectors, and deletes one of them. */
  async changeSome(random: () => number): Promise<void> {
    const pick = (names: Iterable<string>) => [...names].toSorted(() => random() - 0.5).slice(0, CHANGED_EACH)
    for (const subject of pick(this.schemas.keys())) await this.#declareSubject(subject)
    const [doomed, ...connectors] = pick(this.rates.keys())
    for (const connector of connectors) {
      this.connectorChanges += 1
      await this.#declareConnector(connector, `0.${1 + Math.floor(random() * 9)}1`)
    }
    this.rates.delete(doomed!)
    await this.#world.remove('connectors', doomed!)
  }

  async #declareSubject(subject: string): Promise<void> {
    const texts = this.schemas.get(subject) ?? []
    const fields = Array.from({ length: texts.length }, (_, at) => ({ name: `added${at}`, type: 'int', default: 0 }))
    const schema = JSON.stringify({ type: 'record', name: subject.replace('-', '_'), fields })
    this.schemas.set(subject, [...texts, schema])
    await this.#world.apply('Subject', subject, { schema })
  }

  async #declareConnector(name: string, rate: string): Promise<void> {
    this.rates.set(name, rate)
    await this.#world.apply('Connector', name, {
      class: 'Datagen',
      config: { 'kafka.topic': 'generated', quickstart: 'orders', 'value.converter': 'StringConverter', rate },
    })
  }
}

/** Waits until all declared resources are Ready and no other exists. */
async function untilReady(api: KubeApi, space: DeclaredResources): Promise<void> {
  const declared = space.schemas.size + space.rates.size
  let notReady: readonly unknown[] = []
  await until('everything to be Ready', WAIT, async () => {
    const lists = await Promise.all(
      ['subjects', 'connectors'].map((plural) => api.send('GET', `${API}/namespaces/${space.namespace}/${plural}`)),
    )
    const all = lists.flatMap(({ body }) => body['items'] as readonly Listed[])
    notReady = all.filter((one) => !isReady(one))
    return notReady.length === 0 && all.length === declared
  }).catch((error: Error) => {
    throw new Error(`${error.message}; ${notReady.length} are not, such as ${JSON.stringify(notReady[0])}`)
  })
}

function isReady({ metadata, status }: Listed): boolean {
  const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  return ready && status?.observedGeneration === metadata.generation
}

async function startsOf(workerUrl: string): Promise<number> {
  const text = await (await fetch(`${workerUrl}/metrics`)).text()
  return Number(/connector_startup_attempts_total\S* (\d+)/.exec(text)![1])
}
