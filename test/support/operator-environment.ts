import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import type { KubernetesAddress } from '../env/kubernetes.ts'
import { freePort } from '../env/ports.ts'
import { partDirectory } from '../env/workspace.ts'
import { responds, startWeir } from './cli.ts'
import { installCrds } from './crds.ts'
import { kubeApi } from './kube-api.ts'
import { logOf, monitoringOf, operatorAccount } from './operator-process.ts'
import { startRebalancingWorker } from './rebalancing-worker.ts'
import { createTestNamespace } from './test-namespace.ts'

/** A namespace with an operator and real runtimes, which it observes every second. */
export type OperatorEnvironment = Awaited<ReturnType<typeof createTestNamespace>> & {
  readonly worker: WorkerClient
  readonly registry: RegistryClient
  /** Directory in which connectors read and write files. */
  readonly files: string
  /** Connectors for which the worker `shaky` responds as during a rebalance, and how. */
  readonly rebalancing: Awaited<ReturnType<typeof startRebalancingWorker>>['connectors']
  readonly api: ReturnType<typeof kubeApi>
  /** The sum of a family of the operator's metrics, over the series whose text includes `label`. */
  sumOfMetric(family: string, label: string): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts an environment that several tests share, each with names of its own. In addition to `default`, the operator
 * configuration has the runtimes `closed` (responds 401), `shaky` (see `rebalancing`; has a short `healthGrace`),
 * `away` (unreachable), `foreign` (reserved for another namespace) and `broken` (invalid URL).
 */
export async function startOperatorEnvironment(address: KubernetesAddress): Promise<OperatorEnvironment> {
  const api = kubeApi(address)
  await installCrds(api)
  const testNamespace = await createTestNamespace(api)
  const files = partDirectory('operator-environment')
  const [registryUrl, workerUrl] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const ports = [
    '--registry-port',
    new URL(registryUrl).port,
    '--worker-port',
    new URL(workerUrl).port,
    '--console-port',
    '0',
  ]
  const settings = ['value.converter=StringConverter', 'offset.flush.interval.ms=100'].flatMap((setting) => [
    '--set',
    `worker.${setting}`,
  ])
  const up = ['up', partDirectory('no-manifests'), '--data', join(files, 'data'), ...ports, ...settings] as const
  const runtimes = await startWeir(up, () => responds(`${workerUrl}/connectors`), { directory: files })
  const closed = await startClosed()
  const shaky = await startRebalancingWorker(workerUrl)
  const configuration = join(files, 'operator.yaml')
  writeFileSync(configuration, stringify(configurationFor(workerUrl, registryUrl, closed.url, shaky.url)))
  const operator = await startWeir(
    [
      ...([
        'operator',
        '--config',
        configuration,
        '--kubeconfig',
        await operatorAccount(address, testNamespace.namespace),
      ] as const),
      ...[
        '--namespace',
        testNamespace.namespace,
        '--lease-namespace',
        testNamespace.namespace,
        '--monitoring',
        'http://127.0.0.1:0',
        '--secrets',
      ],
    ],
    (logFile) => logOf({ logFile }).includes('"standing by"'),
  )
  return {
    ...testNamespace,
    api,
    files,
    rebalancing: shaky.connectors,
    worker: createWorkerClient({ url: workerUrl }),
    registry: createRegistryClient({ url: registryUrl }),
    async sumOfMetric(family, label) {
      const text = await (await fetch(`${monitoringOf(operator)}/metrics`)).text()
      const series = text.split('\n').filter((line) => line.startsWith(`${family}{`) && line.includes(label))
      return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
    },
    async stop() {
      await Promise.all([operator.kill(), runtimes.kill()])
      closed.stop()
      shaky.stop()
    },
  }
}

function configurationFor(workerUrl: string, registryUrl: string, closedUrl: string, shakyUrl: string): object {
  const entries = (url: string) => {
    const allowedNamespaces = { from: 'All' }
    const common = { allowedNamespaces, observeInterval: '1s', requestTimeout: '5s' }
    return [
      { name: 'default', url, ...common },
      { name: 'closed', url: closedUrl, ...common },
      { name: 'away', url: 'http://127.0.0.1:1', ...common },
      { name: 'foreign', url, allowedNamespaces: { from: 'List', names: ['elsewhere'] } },
      { name: 'broken', url: 'nowhere' },
    ]
  }
  const protectedNames = ['mirror-*']
  const workers = entries(workerUrl).map((entry) => (entry.name === 'broken' ? entry : { ...entry, protectedNames }))
  const shaky = { ...workers[0], name: 'shaky', url: shakyUrl, healthGrace: '4s' }
  const registries = entries(registryUrl)
  return {
    apiVersion: 'config.weir.dev/v1alpha1',
    kind: 'OperatorConfig',
    workers: [...workers, shaky],
    registries,
  }
}

/** A runtime that responds 401 to all requests. */
async function startClosed() {
  const server = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error_code":401,"message":"Unauthorized"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() }
}
