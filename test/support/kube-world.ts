import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { rbacOf } from '../../src/operator/rbac.ts'
import type { KubernetesAddress } from '../env/kubernetes.ts'
import { freePort } from '../env/ports.ts'
import { partDirectory } from '../env/workspace.ts'
import { answers, type Program, startWeir } from './cli.ts'
import { API } from './definitions.ts'
import { type KubeApi, kubeApi } from './kube-api.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { until } from './until.ts'

const ANYWHERE = 'http://127.0.0.1:0'
export const WAIT = { everyMs: 25, timeoutMs: 60_000 }

type Stored = {
  readonly metadata: {
    readonly resourceVersion: string
    readonly finalizers?: readonly string[]
    readonly managedFields?: readonly { readonly manager: string; readonly subresource?: string }[]
  }
  readonly status?: {
    readonly version?: number
    readonly conditions: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
    }[]
  }
}

/** Creates a namespace for the test, with methods for what a user does in it. */
export async function world(api: KubeApi, namespace = `test-${Math.random().toString(36).slice(2, 10)}`) {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  const path = (plural: string, name: string) => `${API}/namespaces/${namespace}/${plural}/${name}`
  const object = async (plural: string, name: string) =>
    (await api.send('GET', path(plural, name))).body as unknown as Stored
  /** Like `kubectl apply`, optionally with `--dry-run=server`. */
  const tryApply = (kind: string, name: string, spec: object, { dryRun = false, annotations = {} } = {}) =>
    api.send(
      'PATCH',
      `${path(`${kind.toLowerCase()}s`, name)}?fieldManager=person&force=true${dryRun ? '&dryRun=All' : ''}`,
      { apiVersion: 'weir.dev/v1alpha1', kind, metadata: { name, namespace, annotations }, spec },
      'application/apply-patch+yaml',
    )
  return {
    namespace,
    object,
    tryApply,
    async apply(kind: string, name: string, spec: object, annotations: Readonly<Record<string, string>> = {}) {
      const answer = await tryApply(kind, name, spec, { annotations })
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    },
    async remove(plural: string, name: string) {
      const { status, body } = await api.send('DELETE', path(plural, name))
      expect(status, JSON.stringify(body)).toBeLessThan(300)
    },
    /** The Events of an object, as text. */
    async events(name: string): Promise<readonly string[]> {
      const { body } = await api.send('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`)
      const items = body['items'] as readonly {
        regarding: { name: string }
        reason: string
        reportingController: string
      }[]
      const of = items.filter(({ regarding }) => regarding.name === name)
      return of.map(({ reason, reportingController }) => `${reason} by ${reportingController}`)
    },
    async condition(plural: string, name: string, type: string, wanted: string) {
      let found: unknown
      await until(`${name} to be ${type}=${wanted}`, WAIT, async () => {
        const { status } = await object(plural, name)
        found = status
        const condition = status?.conditions?.find((each) => each.type === type)
        return condition !== undefined && `${condition.status}/${condition.reason}` === wanted
      }).catch((error: Error) => {
        throw new Error(`${error.message}; it is ${JSON.stringify(found)}`)
      })
    },
  }
}

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

/** Starts `weir operator` with both runtimes in its process, on an embedded broker. */
export async function startOperator(address: KubernetesAddress, namespace: string, more: readonly string[] = []) {
  const directory = temporaryDirectory()
  const [registryPort, workerPort] = [await freePort(), await freePort()]
  const args = [
    ...['--kubeconfig', await operatorAccount(address, namespace)],
    ...['--namespace', namespace, '--lease-namespace', namespace],
    ...['--data', join(directory, 'data'), '--monitoring', ANYWHERE],
    ...['--registry-port', String(registryPort), '--worker-port', String(workerPort)],
    ...['--set', 'worker.value.converter=StringConverter', '--set', 'worker.offset.flush.interval.ms=200'],
    ...more,
  ]
  const workerUrl = `http://127.0.0.1:${workerPort}`
  const program = await startWeir(['operator', ...args], () => answers(`${workerUrl}/connectors`), { directory })
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
    ...['--monitoring', ANYWHERE, ...runtimes],
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
