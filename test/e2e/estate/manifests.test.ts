import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { run } from '../../env/process.ts'
import { describeOn, real } from '../../env/real.ts'
import { runWeir } from '../../support/cli.ts'
import { type CountingProxy, openCountingProxy } from '../../support/counting-proxy.ts'
import { API, installCrds } from '../../support/crds.ts'
import { ESTATE_SECRETS } from '../../support/estate/connectors.ts'
import { ESTATE_SETTINGS, type Estate, operatorConfiguration, startEstate } from '../../support/estate/start-estate.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { startOperatorWith } from '../../support/operator-process.ts'
import { createTestNamespace } from '../../support/test-namespace.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'

const kafka = await real('kafka')
// Used only to find out whether this machine can run a Java worker.
const java = await real('javaConnect')
const javaHost = await real('javaHost')
const mirrorMaker = await real('mirrorMaker')
const testPlugins = await real('kafkaTestPlugins')
const kubernetes = await real('kubernetes')
const kubectl = await real('kubectl')

const SUBJECTS = Number(process.env['WEIR_ESTATE_SUBJECTS'] ?? 200)
const WAIT = { everyMs: 250, timeoutMs: 600_000 }

/** Nobody is killed here. A worker that misses a session on a busy machine would write the statuses of all connectors again. */
const PATIENT = { 'session.timeout.ms': '300000', 'consumer.session.timeout.ms': '300000' }
const PARTS = [kafka, java, javaHost, mirrorMaker, testPlugins, kubernetes, kubectl]

describeOn(PARTS, 'an estate of Kafka Connect and Confluent Schema Registry', () => {
  let broker: Broker
  let estate: Estate
  let proxies: { readonly worker: CountingProxy; readonly registry: CountingProxy }

  beforeAll(async () => {
    const { bootstrap } = kafka.address
    broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
    const plugins = [mirrorMaker.address, testPlugins.address]
    estate = await startEstate({
      bootstrap,
      broker,
      plugins,
      hostDirectory: javaHost.address.directory,
      subjects: SUBJECTS,
      settings: { ...ESTATE_SETTINGS, ...PATIENT },
    })
    const [worker, registry] = [await openCountingProxy(estate.java.url), await openCountingProxy(estate.registry.url)]
    proxies = { worker, registry }
  })
  afterAll(async () => {
    proxies?.worker.stop()
    proxies?.registry.stop()
    await estate?.stop()
    await broker?.close()
  })

  it('gets manifests that are applied without a write and without a restart, after which weir diff is empty', {
    timeout: 1_200_000,
  }, async () => {
    const api = kubeApi(kubernetes.address)
    await installCrds(api)
    const { namespace } = await createTestNamespace(api)
    const before = await storedByRuntimes(broker, estate)
    const directory = join(estate.files, 'manifests')
    const urls = ['--worker', proxies.worker.url, '--registry', proxies.registry.url]
    const generated = await runWeir(estate.files, 'generate', directory, ...urls, '--namespace', namespace)
    expect(generated, generated.stdout + generated.stderr).toMatchObject({ code: 0 })
    const files = textsIn(directory)
    for (const secret of ESTATE_SECRETS) expect(files.filter(({ text }) => text.includes(secret))).toEqual([])
    await createSecrets(directory, namespace)

    const applied = await run({
      file: kubectl.address.file,
      args: [
        '--kubeconfig',
        kubernetes.address.kubeconfig,
        'apply',
        '--server-side',
        '--recursive',
        '--filename',
        directory,
      ],
      directory: estate.files,
    })
    expect(applied, applied.stderr).toMatchObject({ code: 0 })
    const configuration = operatorConfiguration(estate.files, {
      worker: proxies.worker.url,
      registry: proxies.registry.url,
    })
    await startOperatorWith(['--config', configuration, '--secrets'], kubernetes.address, namespace)
    const failing = estate.connectors.filter(({ fails }) => fails !== undefined).map(({ name }) => name)
    let unready: readonly Applied[] = []
    await until('all resources to be observed', WAIT, async () => {
      const all = await resourcesIn(namespace)
      unready = all.filter(({ ready }) => ready?.status !== 'True')
      return all.every(({ ready }) => ready !== undefined) && unready.length === failing.length
    }).catch((error) => {
      throw new Error(`${error.message}: ${JSON.stringify(unready.slice(0, 20), undefined, 1)}`)
    })
    expect(unready.map(({ name }) => name).sort()).toEqual(failing.toSorted())

    const diff = await runWeir(estate.files, 'diff', directory, '--config', configuration)
    expect(diff).toMatchObject({ code: 0, stdout: 'no differences\n' })
    expect([proxies.worker.writes, proxies.registry.writes]).toEqual([[], []])
    expect(await storedByRuntimes(broker, estate)).toEqual(before)
  })

  /** Creates the Secrets that the generated list asks for, with the values that the connectors have now. */
  async function createSecrets(directory: string, namespace: string): Promise<void> {
    const rows = readFileSync(join(directory, 'SECRETS.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| '))
    const cells = rows.slice(2).map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
    const client = createWorkerClient({ url: estate.java.url })
    const secrets = new Map<string, Record<string, string>>()
    for (const [secret = '', key = '', connector = '', setting = ''] of cells) {
      const { config } = await client.get(connector)
      secrets.set(secret, { ...secrets.get(secret), [key]: config[setting]! })
    }
    expect(secrets.size).toBeGreaterThan(0)
    for (const [name, stringData] of secrets) {
      const secret = { metadata: { name }, stringData }
      const path = `/api/v1/namespaces/${namespace}/secrets`
      expect(await kubeApi(kubernetes.address).send('POST', path, secret)).toMatchObject({ status: 201 })
    }
  }

  async function resourcesIn(namespace: string): Promise<readonly Applied[]> {
    const kinds = ['connectors', 'subjects', 'registrymodes'].map(async (plural) => {
      const { body } = await kubeApi(kubernetes.address).send('GET', `${API}/namespaces/${namespace}/${plural}`)
      return (body['items'] as readonly Item[]).map(({ metadata: { name }, status }) => ({
        name,
        ready: status?.conditions?.find(({ type }) => type === 'Ready'),
      }))
    })
    return (await Promise.all(kinds)).flat()
  }
})

type Condition = { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }
type Applied = { readonly name: string; readonly ready: Condition | undefined }
type Item = {
  readonly metadata: { readonly name: string }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

function textsIn(directory: string): readonly { readonly path: string; readonly text: string }[] {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(yaml|md)$/.test(path),
  )
  return paths.map((path) => ({ path, text: readFileSync(join(directory, path), 'utf8') }))
}

/**
 * The ends of the topics in which the runtimes store configurations, states and schemas: a write adds a record, and so
 * does each start of a connector or task.
 */
async function storedByRuntimes(broker: Broker, { groupId, schemasTopic }: Estate): Promise<unknown> {
  const topics = [`${groupId}-configs`, `${groupId}-status`, schemasTopic]
  return Object.fromEntries(
    await Promise.all(topics.map(async (topic) => [topic, await broker.topics.offsets(topic, 'latest')] as const)),
  )
}
