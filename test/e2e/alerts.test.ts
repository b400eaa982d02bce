import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { issueCertificate } from '../../src/operator/admission/issue-certificate.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { responds, startWeir } from '../support/cli.ts'
import { installCrds } from '../support/crds.ts'
import { OK, type Reply, startHttpServer } from '../support/http-server.ts'
import { kubeApi } from '../support/kube-api.ts'
import { DASHBOARDS, grafanaDashboard, prometheusRules } from '../support/monitoring.ts'
import { operatorAccount } from '../support/operator-process.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createTestNamespace } from '../support/test-namespace.ts'

const [prometheus, kubernetes] = [await real('prometheus'), await real('kubernetes')]

/** Each minute of the rules takes a second, and each scrape interval of 30 s half a second. */
const SPEED = 60
const INTERVAL_MS = 30_000 / SPEED
const CONNECTORS = 5
const DAY_MS = 86_400_000

/** A source that cannot list its tasks while a file exists. */
const MOODY = `
import { existsSync } from 'node:fs'
import { defineSource, field, z } from 'weir/sdk'

export default defineSource({
  class: 'Moody',
  version: '1.0.0',
  summary: 'Has tasks only without the file.',
  config: z.object({ obstacle: field.text({ doc: 'A file.' }) }),
  tasks({ obstacle }, _, raw) {
    if (existsSync(obstacle)) throw new Error('there is an obstacle')
    return [raw]
  },
  async *poll({ signal }) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
})
`

type Fault = {
  readonly alerts: readonly string[]
  readonly begin: () => Promise<unknown> | unknown
  readonly repair: () => Promise<unknown> | unknown
}

describeOn([prometheus, kubernetes], 'a Prometheus that scrapes Weir', () => {
  it('raises the alerts of each fault, resolves them after the repair, and has data for the dashboards', {
    timeout: 900_000,
  }, async () => {
    const weir = await startInstallation()
    const rules = prometheusRules({
      limits: { expectedConnectors: CONNECTORS, expectedTasks: CONNECTORS },
      timed: (duration) => `${(secondsOf(duration) * 1_000) / SPEED}ms`,
    })
    const watching = await startPrometheus(prometheus.address, {
      ...{ rules, jobs: weir.jobs, intervalMs: INTERVAL_MS },
    })
    const observe = async ({ alerts, begin, repair }: Fault) => {
      await begin()
      await watching.untilFiring(alerts)
      const texts = await watching.annotations()
      expect(texts.filter((text) => /<error|<no value>|\$/.test(text))).toEqual([])
      await repair()
      await watching.untilResolved(alerts)
    }
    await Promise.all(weir.faults.map(observe))
    const withoutData = await panelsWithoutData(watching.query)
    expect(withoutData.filter((title) => title !== 'Drift and restarts per hour')).toEqual([])
    await observe(weir.missingConnector)
    await observe(weir.killedOperator)
  })
})

function secondsOf(duration: string): number {
  const [, count = '', unit = ''] = /^(\d+)([smh])$/.exec(duration) ?? []
  return Number(count) * { s: 1, m: 60, h: 3_600 }[unit as 's' | 'm' | 'h']
}

/** The titles of the panels of all dashboards whose queries return nothing. A query that is invalid is an error. */
async function panelsWithoutData(query: (expr: string) => Promise<readonly unknown[]>): Promise<readonly string[]> {
  const titles: string[] = []
  for (const [name, board] of Object.entries(DASHBOARDS)) {
    for (const { title, targets } of grafanaDashboard(name, board).panels) {
      // No series has the label here, as without Kubernetes.
      const found = await Promise.all(targets.map(({ expr }) => query(expr.replaceAll('$namespace', ''))))
      if (found.flat().length === 0) titles.push(title)
    }
  }
  return titles
}

/** An operator with a registry and a worker in its process, a registry with TLS, and the faults that they can have. */
async function startInstallation() {
  const api = kubeApi(kubernetes.address)
  await installCrds(api)
  const place = await createTestNamespace(api)
  const files = temporaryDirectory()
  const fileOf = (name: string) => join(files, name)
  let [endpoint, away]: [Reply, Reply] = [OK, OK]
  const endpoints = await startHttpServer(() => endpoint)
  const runtime = await startHttpServer(() => away)

  const configuration = stringify({
    apiVersion: 'config.weir.dev/v1alpha1',
    kind: 'OperatorConfig',
    workers: [{ name: 'away', url: runtime.url, allowedNamespaces: { from: 'All' }, observeInterval: '1s' }],
  })
  writeFileSync(fileOf('operator.yaml'), configuration)
  writeFileSync(fileOf('moody.ts'), MOODY)
  writeFileSync(fileOf('obstacle'), '')
  const [monitoring, registryPort, workerPort] = [await freePort(), await freePort(), await freePort()]
  const operatorArgs = [
    ...(['operator', '--config', fileOf('operator.yaml'), '--data', fileOf('data')] as const),
    ...['--kubeconfig', await operatorAccount(kubernetes.address, place.namespace)],
    ...['--namespace', place.namespace, '--lease-namespace', place.namespace],
    ...['--monitoring', `http://127.0.0.1:${monitoring}`],
    ...['--registry-port', String(registryPort), '--worker-port', String(workerPort)],
    ...['value.converter=StringConverter', `plugin.path=${fileOf('moody.ts')}`].flatMap((setting) => [
      ...['--set', `worker.${setting}`],
    ]),
  ] as const
  const startOperator = async () => {
    const program = await startWeir(operatorArgs, () => responds(`http://127.0.0.1:${monitoring}/readyz`))
    onTestFinished(() => program.kill())
    return program
  }
  let operator = await startOperator()

  const certificate = async (issuedMs: number) => {
    const { cert, key } = await issueCertificate(['127.0.0.1'], issuedMs)
    writeFileSync(fileOf('registry.pem'), `${cert}\n${key}`)
  }
  // Valid for ten days more.
  await certificate(Date.now() - 80 * DAY_MS)
  const registry = await startRegistryProcess(['--data', fileOf('tls-registry')], {
    listeners: `http://127.0.0.1:${await freePort()},https://127.0.0.1:${await freePort()}`,
    'ssl.keystore.location': fileOf('registry.pem'),
  })
  onTestFinished(() => registry.kill())

  const connect = (name: string, spec: object, annotations: Readonly<Record<string, string>> = {}) =>
    place.apply('Connector', name, { autoRestart: { enabled: false }, ...spec }, annotations)
  const restarted = () => ({ 'weir.dev/restart-requested-at': new Date().toISOString() })
  const orders = { class: 'Datagen', config: { 'kafka.topic': 'orders', quickstart: 'orders', rate: '20' } }
  const lines = { class: 'FileStreamSink', config: { topics: 'orders', file: join(files, 'missing', 'lines.txt') } }
  const moody = { class: 'Moody', config: { obstacle: fileOf('obstacle') } }
  const post = {
    class: 'HttpSink',
    config: { topics: 'orders', 'http.api.url': endpoints.url, 'max.retries': '1000', 'retry.backoff.ms': '5' },
  }
  const parsed = (converter: string) => ({
    class: 'FileStreamSink',
    config: {
      ...{ topics: 'orders', file: fileOf('parsed.txt'), 'value.converter': converter },
      ...{ 'errors.tolerance': 'all', 'errors.deadletterqueue.topic.name': 'orders-dead' },
      'errors.deadletterqueue.topic.replication.factor': '1',
    },
  })
  await connect('orders', orders)
  await connect('post', post)
  await place.condition('connectors', 'post', 'Ready', 'True/Succeeded')
  await place.apply('Subject', 'orders-value', { schema: '"int"' })
  await place.condition('subjects', 'orders-value', 'Ready', 'True/Succeeded')

  const faults: readonly Fault[] = [
    {
      alerts: ['WeirTaskFailed'],
      begin: () => connect('lines', lines),
      repair: () => {
        mkdirSync(fileOf('missing'))
        return connect('lines', lines, restarted())
      },
    },
    {
      alerts: ['WeirConnectorFailed'],
      begin: () => connect('moody', moody),
      repair: () => {
        rmSync(fileOf('obstacle'))
        return connect('moody', moody, restarted())
      },
    },
    {
      alerts: ['WeirSinkStalled'],
      begin: () => {
        endpoint = { status: 503 }
      },
      repair: () => {
        endpoint = OK
      },
    },
    {
      alerts: ['WeirDeadLetters'],
      begin: () => connect('parsed', parsed('JsonConverter')),
      repair: () => connect('parsed', parsed('StringConverter')),
    },
    {
      alerts: ['WeirResourcesNotReady'],
      begin: () => place.apply('Subject', 'orders-value', { schema: '"string"' }),
      repair: () => place.apply('Subject', 'orders-value', { schema: '"int"' }),
    },
    {
      alerts: ['WeirRuntimeDown'],
      begin: () => {
        away = 'cut'
        return connect('far', { ...orders, workerRef: { name: 'away' } })
      },
      repair: () => {
        away = OK
      },
    },
    {
      alerts: ['WeirNotReady'],
      begin: () => writeFileSync(fileOf('operator.yaml'), 'workers: ['),
      repair: () => writeFileSync(fileOf('operator.yaml'), configuration),
    },
    {
      alerts: ['WeirRegistryCertificateEnds'],
      begin: () => undefined,
      repair: () => certificate(Date.now()),
    },
  ]
  return {
    faults,
    missingConnector: {
      alerts: ['WeirConnectorCount', 'WeirTaskCount'],
      begin: () => place.remove('connectors', 'post'),
      repair: () => connect('post', post),
    },
    killedOperator: {
      alerts: ['WeirTargetDown', 'WeirOperatorNoLeader', 'WeirRegistryNoLeader'],
      begin: () => operator.kill(),
      repair: async () => {
        operator = await startOperator()
      },
    },
    jobs: [
      { name: 'weir-operator', url: `http://127.0.0.1:${monitoring}` },
      // It is another registry, with a leader of its own.
      { name: 'weir-tls', url: registry.url, keep: '.*certificate.*' },
    ],
  }
}
