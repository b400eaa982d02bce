import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { rbacOf } from '../../src/operator/rbac.ts'
import type { KubernetesAddress } from '../env/kubernetes.ts'
import { freePort } from '../env/ports.ts'
import { partDirectory } from '../env/workspace.ts'
import { type Program, responds, startWeir } from './cli.ts'
import { kubeApi } from './kube-api.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const ANY_PORT = 'http://127.0.0.1:0'

/**
 * Creates a service account with exactly the rights of `weir crds --rbac`, minus `withheld`, and returns the path of a
 * kubeconfig for it. All operators in these tests use such an account, so a call without a granted right fails a test.
 */
export async function operatorAccount(address: KubernetesAddress, namespace: string, withheld?: Verb): Promise<string> {
  const api = kubeApi(address)
  for (const object of rbacOf({
    namespace,
    watched: [namespace],
    webhook: true,
    console: true,
    offsetsExport: true,
    secrets: true,
    namespaceLabels: true,
  }) as readonly Granted[]) {
    const grants = (rule: Rule) => ({
      ...rule,
      verbs: rule.verbs.filter((verb) => verb !== withheld?.verb || !rule.resources.includes(withheld.resource)),
    })
    const rules = object.rules && { rules: object.rules.map(grants).filter(({ verbs }) => verbs.length > 0) }
    const { status, body } = await api.send(
      'PATCH',
      `${pathOf(object)}?fieldManager=person&force=true`,
      { ...object, ...rules },
      APPLY,
    )
    expect(status, JSON.stringify(body)).toBeLessThan(300)
  }
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/weir-operator`
  const { body } = await api.send('POST', `${account}/token`, { spec: { expirationSeconds: 3_600 } })
  const { token } = body['status'] as { token: string }
  const file = join(partDirectory('account'), 'kubeconfig')
  const admin = JSON.parse(readFileSync(address.kubeconfig, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...admin, users: [{ name: 'admin', user: { token } }] }), { mode: 0o600 })
  return file
}

/** A permission: a verb on a resource. */
export type Verb = { readonly verb: string; readonly resource: string }
type Rule = { readonly resources: readonly string[]; readonly verbs: readonly string[] }
type Granted = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly Rule[]
}
const APPLY = 'application/apply-patch+yaml'

function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Granted): string {
  const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${kind.toLowerCase()}s/${name}`
}

/** Starts `weir operator` with both runtimes in its process, on an embedded broker unless `log` says otherwise. */
export async function startOperator(
  address: KubernetesAddress,
  namespace: string,
  more: readonly string[] = [],
  log?: readonly string[],
) {
  const directory = temporaryDirectory()
  const [registryPort, workerPort] = [await freePort(), await freePort()]
  const args = [
    ...['--kubeconfig', await operatorAccount(address, namespace)],
    ...['--namespace', namespace, '--lease-namespace', namespace],
    ...(log ?? ['--data', join(directory, 'data')]),
    ...['--monitoring', ANY_PORT],
    ...['--registry-port', String(registryPort), '--worker-port', String(workerPort)],
    ...['--set', 'worker.value.converter=StringConverter', '--set', 'worker.offset.flush.interval.ms=200'],
    ...more,
  ]
  const workerUrl = `http://127.0.0.1:${workerPort}`
  const program = await startWeir(['operator', ...args], () => responds(`${workerUrl}/connectors`), { directory })
  onTestFinished(() => program.kill())
  return { registryUrl: `http://127.0.0.1:${registryPort}`, workerUrl, program }
}

/** Starts `weir operator` for existing runtimes. Resolves when its caches are synced and it is standing by. */
export function startOperatorFor(
  { registryUrl, workerUrl }: { readonly registryUrl: string; readonly workerUrl: string },
  address: KubernetesAddress,
  namespace: string,
  nodeArgs: readonly string[] = [],
): Promise<Program> {
  return startOperatorWith(['--registry', registryUrl, '--worker', workerUrl], address, namespace, undefined, nodeArgs)
}

/** Like `startOperatorFor`, with the arguments in `runtimes` and without the permission `withheld`. */
export async function startOperatorWith(
  runtimes: readonly string[],
  address: KubernetesAddress,
  namespace: string,
  withheld?: Verb,
  nodeArgs: readonly string[] = [],
): Promise<Program> {
  const args = [
    ...['--kubeconfig', await operatorAccount(address, namespace, withheld)],
    ...['--namespace', namespace, '--lease-namespace', namespace],
    ...['--monitoring', ANY_PORT, ...runtimes],
  ]
  const isReady = (logFile: string) => logOf({ logFile }).includes('"standing by"')
  const program = await startWeir(['operator', ...args], isReady, { nodeArgs })
  onTestFinished(() => program.kill())
  return program
}

/** URL of the operator's metrics and probes. */
export function monitoringOf(program: Pick<Program, 'logFile'>): string {
  const [, url] = /"program":"operator","url":"(http:[^"]+)"/.exec(logOf(program)) ?? []
  if (url === undefined) throw new Error('the operator does not listen')
  return url
}

export function logOf({ logFile }: Pick<Program, 'logFile'>): string {
  return readFileSync(logFile, 'utf8')
}
