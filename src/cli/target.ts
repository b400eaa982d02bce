import { dirname, relative } from 'node:path'
import type { Endpoint } from '../clients/http-client.ts'
import { ClusterError } from '../clients/kubernetes/cluster-error.ts'
import type { KubernetesApi } from '../clients/kubernetes/kubernetes-api.ts'
import { UsageError } from './command.ts'
import { findRunningStacks, type RunningStack, readRunningStack } from './running-stack.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, type ConnectionValues, endpointOf } from './runtime-connection.ts'

/** Options of the commands that work on what runs. */
export const TARGET_OPTIONS = {
  ...CONNECTION_OPTIONS,
  worker: { type: 'string' },
  registry: { type: 'string' },
  data: { type: 'string' },
  context: { type: 'string' },
  kubeconfig: { type: 'string' },
  namespace: { type: 'string', short: 'n' },
} as const

export const TARGET_HELP = `Without an option that names one, it uses the running weir up of this directory, of its subdirectories or of its parents.

  --worker URL            a worker, such as http://127.0.0.1:8083
  --registry URL          a registry, such as http://127.0.0.1:8081
  --data DIR              the running weir up that has its data in DIR
  --context NAME          resources of Kubernetes, by this context of the kubeconfig
  --kubeconfig FILE       resources of Kubernetes, by this kubeconfig
  -n, --namespace NAME    namespace of the resources; default: that of the context
${CONNECTION_HELP}`

export type TargetValues = ConnectionValues & {
  readonly [Name in 'worker' | 'registry' | 'data' | 'context' | 'kubeconfig' | 'namespace']?: string | undefined
}

export type TargetRuntime = 'worker' | 'registry'

/** What a command works on. `origin` names it for messages. */
export type Target =
  | {
      readonly kind: 'runtimes'
      readonly origin: string
      readonly endpoints: Readonly<Partial<Record<TargetRuntime, Endpoint>>>
      /** The running `weir up` whose runtimes they are. */
      readonly stack?: RunningStack
    }
  | { readonly kind: 'kubernetes'; readonly origin: string; readonly api: KubernetesApi; readonly namespace: string }

/**
 * The one decision about what a command works on: the runtimes of `--worker` and `--registry`, else resources in Kubernetes, else the
 * `weir up` of `--data`, else the nearest running one. Throws a `UsageError` that says what would be right.
 */
export async function resolveTarget(values: TargetValues, directory = process.cwd()): Promise<Target> {
  const { worker, registry, data, context, kubeconfig, namespace } = values
  const isKubernetes = context !== undefined || kubeconfig !== undefined
  const ways = [worker ?? registry, data, context ?? kubeconfig].filter((way) => way !== undefined)
  if (ways.length > 1)
    throw new UsageError(
      '--worker and --registry, --data, and --context and --kubeconfig exclude each other: give one of them',
    )
  if (namespace !== undefined && !isKubernetes)
    throw new UsageError('--namespace applies to resources of Kubernetes: add --context NAME')
  if (isKubernetes) {
    const api = await openApi(kubeconfig, context)
    return {
      kind: 'kubernetes',
      origin: context === undefined ? `${kubeconfig}` : `context ${context}`,
      api,
      namespace: namespace ?? api.namespace,
    }
  }
  if (worker !== undefined || registry !== undefined) {
    const named = [...endpointAt('worker', worker, values), ...endpointAt('registry', registry, values)]
    return { kind: 'runtimes', origin: 'the command line', endpoints: Object.fromEntries(named) }
  }
  const stack = data === undefined ? nearestStack(RUNTIME_HINT, directory) : stackOf(data)
  const own = [...endpointAt('worker', stack.workerUrl, values), ...endpointAt('registry', stack.registryUrl, values)]
  return { kind: 'runtimes', origin: `weir up ${stack.manifests}`, endpoints: Object.fromEntries(own), stack }
}

async function openApi(kubeconfig: string | undefined, context: string | undefined): Promise<KubernetesApi> {
  const { openKubernetesApi } = await import('../clients/kubernetes/kubernetes-api.ts')
  try {
    return openKubernetesApi(kubeconfig, undefined, context)
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    throw new UsageError(error.message)
  }
}

/** The endpoint of a runtime. Throws a `UsageError` if the target has none. */
export function runtimeOf(target: Target, runtime: TargetRuntime, what: string): Endpoint {
  if (target.kind === 'kubernetes')
    throw new UsageError(
      `${what} needs the ${runtime} itself, not its resources in Kubernetes: give --${runtime} URL, such as that of kubectl port-forward`,
    )
  const endpoint = target.endpoints[runtime]
  if (endpoint !== undefined) return endpoint
  throw new UsageError(`${what} needs a ${runtime}: give --${runtime} URL`)
}

const RUNTIME_HINT =
  'give --worker URL or --registry URL, such as --worker http://127.0.0.1:8083, or --context NAME for resources in Kubernetes'

/** The nearest running `weir up`. `otherwise`: what else would be right. */
export function nearestStack(otherwise: string, directory = process.cwd()): RunningStack {
  const { running, left } = findRunningStacks(directory)
  const [first, ...more] = running
  if (first !== undefined && more.length === 0) return first.stack
  if (first !== undefined) {
    const all = running.map(({ file }) => `--data ${relative(directory, dirname(file)) || '.'}`)
    throw new UsageError(`several weir up run here: choose one with ${all.join(' or ')}`)
  }
  const ended = left.map(({ file, stack }) => `weir up ${stack.manifests} has ended without removing ${file}. `)
  throw new UsageError(
    `${ended[0] ?? ''}no running weir up was found in ${directory}, its subdirectories or its parents: start one (weir up DIR), or ${otherwise}`,
  )
}

/** The running `weir up` of a data directory. `otherwise`: what else would be right. */
export function stackOf(data: string, otherwise?: string): RunningStack {
  const stack = readRunningStack(data)
  if (stack !== undefined) return stack
  const start = `--data ${data}: no running weir up has its data there: start one (weir up DIR --data ${data})`
  throw new UsageError(otherwise === undefined ? start : `${start}; ${otherwise}`)
}

function endpointAt(
  runtime: TargetRuntime,
  url: string | undefined,
  values: TargetValues,
): readonly (readonly [TargetRuntime, Endpoint])[] {
  return url === undefined ? [] : [[runtime, endpointOf(`--${runtime}`, url, values)]]
}
