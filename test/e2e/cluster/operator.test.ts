import { expect, onTestFinished } from 'vitest'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { PROGRAM_ACLS } from '../../../src/cli/doctor/program-acls.ts'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { startKafkaCluster } from '../../env/kafka-cluster.ts'
import { itOn, real } from '../../env/real.ts'
import { type Acl, openAclAdmin } from '../../support/acls.ts'
import { setArgs } from '../../support/cli.ts'
import { ClusterAdmin } from '../../support/cluster-admin.ts'
import { API, installCrds } from '../../support/crds.ts'
import { type KubeApi, kubeApi } from '../../support/kube-api.ts'
import { monitoringOf, startOperator } from '../../support/operator-process.ts'
import { createTestNamespace } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

const SUBJECTS = 150
const CONNECTORS = 50
const USER = 'operator'
const WAIT = { everyMs: 250, timeoutMs: 300_000 }
const SCHEMAS = '_schemas'
const GENERATED = 'generated'

/** The names of the page that this operator has others for: the group of its embedded worker, and the topic of its connectors. */
const OWN_NAMES: Readonly<Record<string, string>> = { 'connect-cluster': 'weir-up', lines: GENERATED }
/** Exactly the rights that docs/acls.md lists for the runtimes of an operator, and for source connectors. */
const ACLS: readonly Acl[] = PROGRAM_ACLS.filter(({ program }) =>
  /registry$|^worker$|^task of a source connector$/i.test(program),
).flatMap(({ acls }) =>
  acls.map(({ operation, resourceType, resourceName }) => ({
    operation,
    resourceType,
    resourceName: OWN_NAMES[resourceName ?? ''] ?? resourceName,
  })),
)

type Listed = {
  readonly metadata: { readonly generation: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

const kafka = await real('kafka')
const kubernetes = await real('kubernetes')

itOn(
  [kafka, kubernetes],
  'an operator on three brokers applies 200 changes while the leader of the schemas is killed, each once',
  async () => {
    const cluster = await startKafkaCluster({ users: { [USER]: 'operator-secret' }, superUsers: [] })
    onTestFinished(() => cluster.stop())
    const acls = openAclAdmin({ 'bootstrap.servers': cluster.bootstrap })
    onTestFinished(() => acls.close())
    await acls.grant(USER, ACLS)
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': cluster.bootstrap } },
      { logger: silentLogger() },
    )
    onTestFinished(() => broker.close())
    await broker.topics.create({ name: GENERATED, partitions: 3 })
    const api = kubeApi(kubernetes.address)
    await installCrds(api)
    const space = await createTestNamespace(api)
    const settings = setArgs(cluster.clientSettings(USER))
    const log = ['--bootstrap', cluster.securedBootstrap, ...settings]
    const { registryUrl, workerUrl, program } = await startOperator(kubernetes.address, space.namespace, [], log)

    const names = [
      ...Array.from({ length: SUBJECTS }, (_, at) => `subject-${at}`),
      ...Array.from({ length: CONNECTORS }, (_, at) => `connector-${at}`),
    ]
    const admin = new ClusterAdmin(cluster)
    const [first, second] = [names.filter((_, at) => at % 2 === 0), names.filter((_, at) => at % 2 === 1)]
    for (const name of first) await declare(space, name)
    const leader = await admin.leaderOf(SCHEMAS)
    const killed = leader.kill()
    for (const name of second) await declare(space, name)
    await killed
    await untilReady(api, space.namespace, names.length)

    const registry = createRegistryClient({ url: registryUrl })
    const worker = createWorkerClient({ url: workerUrl })
    expect((await registry.subjects()).toSorted()).toEqual(names.filter(isSubject).toSorted())
    for (const subject of names.filter(isSubject))
      expect((await registry.latest(subject)).schema).toBe(schemaOf(subject))
    const connectors = names.filter((name) => !isSubject(name))
    expect(Object.keys(await worker.list()).toSorted()).toEqual(connectors.toSorted())

    // A change that is applied last has been waited for when all others would have been repeated.
    const before = await writesOf(program)
    await leader.restart()
    await declare(space, 'subject-last')
    await untilReady(api, space.namespace, names.length + 1)
    expect(await writesOf(program)).toBe(before + 1)
    for (const subject of names.filter(isSubject)) expect(await registry.versions(subject)).toEqual([1])
  },
  900_000,
)

type Space = Awaited<ReturnType<typeof createTestNamespace>>

function isSubject(name: string): boolean {
  return name.startsWith('subject-')
}

function schemaOf(subject: string): string {
  return JSON.stringify({ type: 'record', name: subject.replaceAll('-', '_'), fields: [] })
}

function declare(space: Space, name: string): Promise<void> {
  if (isSubject(name)) return space.apply('Subject', name, { schema: schemaOf(name) })
  const config = { 'kafka.topic': GENERATED, quickstart: 'orders', rate: '0.1' }
  return space.apply('Connector', name, { class: 'Datagen', config })
}

/** Waits until so many resources exist and all are Ready. */
async function untilReady(api: KubeApi, namespace: string, count: number): Promise<void> {
  let notReady: readonly unknown[] = []
  await until('everything to be Ready', WAIT, async () => {
    const lists = await Promise.all(
      ['subjects', 'connectors'].map((plural) => api.send('GET', `${API}/namespaces/${namespace}/${plural}`)),
    )
    const all = lists.flatMap(({ body }) => body['items'] as readonly Listed[])
    notReady = all.filter((one) => !isReady(one))
    return notReady.length === 0 && all.length === count
  }).catch((error: Error) => {
    throw new Error(`${error.message}; ${notReady.length} are not, such as ${JSON.stringify(notReady[0])}`)
  })
}

function isReady({ metadata, status }: Listed): boolean {
  const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  return ready && status?.observedGeneration === metadata.generation
}

/** How many registrations and configurations the operator has sent that were accepted. */
async function writesOf(program: Parameters<typeof monitoringOf>[0]): Promise<number> {
  const metrics = await (await fetch(`${monitoringOf(program)}/metrics`)).text()
  const accepted =
    /^weir_runtime_requests_total\{[^}]*endpoint="(?:POST \/subjects\/[^"]*\/versions|PUT \/connectors\/[^"]*\/config|POST \/connectors)",code="2\d\d"\} (\d+)$/gm
  return [...metrics.matchAll(accepted)].reduce((sum, [, count]) => sum + Number(count), 0)
}
