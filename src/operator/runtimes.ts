import type { Endpoint } from '../clients/http-client.ts'
import { createRegistryClient, type RegistryClient } from '../clients/registry-client.ts'
import { createWorkerClient, type WorkerClient } from '../clients/worker-client.ts'
import type { Cluster } from './cluster/cluster.ts'
import { TerminalError } from './controller/reconcile-error.ts'
import { type LabelSelector, matchesSelector } from './label-selector.ts'
import type { Resource } from './resources/resource.ts'

/** A worker or registry that resources may refer to, and the namespaces that may. */
export type RuntimeConfig = {
  /** Name that `workerRef` and `registryRef` use. */
  readonly name: string
  readonly endpoint: Pick<Endpoint, 'url' | 'auth' | 'tls'>
  /** `Same`: the operator's own namespace; a selector: namespaces with these labels. */
  readonly namespaces: 'All' | 'Same' | readonly string[] | LabelSelector
  /** Timeout of one request, including its response. */
  readonly requestTimeoutMs: number
  /** How often the runtime is listed. */
  readonly observeIntervalMs: number
  /** How many requests may be in flight. */
  readonly maxInFlight: number
  /** How long a Ready resource stays Ready while the runtime does not respond or rebalances. */
  readonly readinessGracePeriodMs: number
  /** After this time without an answer a deletion is abandoned; absent: never. */
  readonly deletionTimeoutMs?: number
}
export type WorkerRuntimeConfig = RuntimeConfig & {
  /** Names of connectors on the worker, with `{namespace}` and `{name}`. */
  readonly nameTemplate: string
  /** Whether `spec.name` takes precedence over the template. */
  readonly allowsExplicitNames: boolean
  /** Connectors that no resource may manage; `*` matches anything. */
  readonly protectedNames: readonly string[]
  /** Placeholder for a value of a Secret in a configuration, with `{namespace}`, `{name}` and `{key}`. */
  readonly secretPlaceholder: string
  /** Whether the ownership marker is written into the configuration of connectors. */
  readonly writesOwnerMarker: boolean
  /** Whether values of Secrets may be sent to the worker in clear text. */
  readonly allowsInlineSecrets: boolean
  /** Replaces `deletionTimeoutMs` in a namespace that is being deleted; absent: the same. */
  readonly terminatingDeletionTimeoutMs?: number
  /** Label selector of the worker's pods, for autoscalers. */
  readonly podSelector?: string
}
export type RegistryRuntimeConfig = RuntimeConfig & {
  /** Allowed prefixes of subjects by namespace; a namespace without an entry may use all subjects. */
  readonly subjectPrefixes: Readonly<Record<string, readonly string[]>>
  /**
   * Allowed contexts by namespace; `*` applies to namespaces without an entry. Without either, a namespace may use all
   * contexts.
   */
  readonly contexts: Readonly<Record<string, readonly string[]>>
}
/** An invalid entry of the configuration. It affects only the resources that refer to it. */
export type InvalidRuntimeConfig = { readonly name: string; readonly error: string }

/** All runtimes that resources may refer to. */
export type RuntimesConfig = {
  readonly workers: readonly (WorkerRuntimeConfig | InvalidRuntimeConfig)[]
  readonly registries: readonly (RegistryRuntimeConfig | InvalidRuntimeConfig)[]
}

export const RUNTIME_DEFAULTS = {
  namespaces: 'All',
  requestTimeoutMs: 10_000,
  observeIntervalMs: 30_000,
  maxInFlight: 8,
  readinessGracePeriodMs: 60_000,
  nameTemplate: '{name}',
  allowsExplicitNames: false,
  protectedNames: [],
  secretPlaceholder: '${secret:{namespace}/{name}:{key}}',
  writesOwnerMarker: true,
  allowsInlineSecrets: false,
  subjectPrefixes: {},
  contexts: {},
} as const

/** Name of the runtime that a resource uses when it refers to none. */
export const DEFAULT_RUNTIME = 'default'

/** One worker and one registry for all namespaces. */
export function runtimesConfigFor(urls: {
  readonly workerUrl?: string
  readonly registryUrl?: string
}): RuntimesConfig {
  const entries = (url: string | undefined) =>
    url === undefined ? [] : [{ ...RUNTIME_DEFAULTS, name: DEFAULT_RUNTIME, endpoint: { url } }]
  return { workers: entries(urls.workerUrl), registries: entries(urls.registryUrl) }
}

export type WorkerRuntime = { readonly runtimeConfig: WorkerRuntimeConfig; readonly client: WorkerClient }
export type RegistryRuntime = { readonly runtimeConfig: RegistryRuntimeConfig; readonly client: RegistryClient }

/** The two kinds of runtimes. */
export type RuntimeKind = 'worker' | 'registry'

/** Finds the runtime of a resource. Both methods throw `TerminalError` when the resource may not use it. */
export interface Runtimes {
  worker(resource: Resource<'Connector'>): WorkerRuntime
  registry(resource: Resource<'Subject' | 'RegistryMode'>): RegistryRuntime
}

/** Whether the configuration depends on the labels or the deletion of namespaces. */
export function needsNamespaces({ workers, registries }: RuntimesConfig): boolean {
  return (
    [...workers, ...registries].some(
      (runtimeConfig) => !('error' in runtimeConfig) && isSelector(runtimeConfig.namespaces),
    ) ||
    workers.some(
      (runtimeConfig) => !('error' in runtimeConfig) && runtimeConfig.terminatingDeletionTimeoutMs !== undefined,
    )
  )
}

/** What the access check needs to know of namespaces. */
export type NamespaceContext = {
  /** The namespace that the operator runs in. */
  readonly operatorNamespace: string
  readonly cluster: Pick<Cluster, 'namespace'>
}

/** The endpoint of a runtime. Responses of runtimes are always limited. */
export type RuntimeEndpoint = Endpoint & Required<Pick<Endpoint, 'responseBudget'>>
export type EndpointResolver = (runtime: RuntimeKind, runtimeConfig: RuntimeConfig) => RuntimeEndpoint

/** Creates the clients of all runtimes. They are shared by all resources, because they cache schemas. */
export function createRuntimes(
  config: RuntimesConfig,
  namespaceContext: NamespaceContext,
  resolveEndpoint: EndpointResolver,
): Runtimes {
  return runtimesWithClients(config, namespaceContext, {
    worker: (runtimeConfig) => createWorkerClient(resolveEndpoint('worker', runtimeConfig)),
    registry: (runtimeConfig) => createRegistryClient(resolveEndpoint('registry', runtimeConfig)),
  })
}

/** Creates the client of a runtime; called once for each. */
export type RuntimeClients = {
  worker(runtimeConfig: WorkerRuntimeConfig): WorkerClient
  registry(runtimeConfig: RegistryRuntimeConfig): RegistryClient
}

/** The runtimes of a configuration with these clients. */
export function runtimesWithClients(
  { workers, registries }: RuntimesConfig,
  namespaceContext: NamespaceContext,
  clients: RuntimeClients,
): Runtimes {
  const indexByName = <E extends RuntimeConfig, C>(
    entries: readonly (E | InvalidRuntimeConfig)[],
    connect: (runtimeConfig: E) => C,
  ) =>
    new Map(
      entries.map((runtimeConfig) => [
        runtimeConfig.name,
        'error' in runtimeConfig ? runtimeConfig : { runtimeConfig, client: connect(runtimeConfig) },
      ]),
    )
  const workersByName = indexByName(workers, (runtimeConfig) => clients.worker(runtimeConfig))
  const registriesByName = indexByName(registries, (runtimeConfig) => clients.registry(runtimeConfig))
  return {
    worker: ({ spec, metadata }) => findRuntime('worker', workersByName, spec.workerRef.name, metadata.namespace),
    registry: ({ spec, metadata }) =>
      findRuntime('registry', registriesByName, spec.registryRef.name, metadata.namespace),
  }

  function findRuntime<P extends { readonly runtimeConfig: RuntimeConfig }>(
    what: string,
    runtimesByName: ReadonlyMap<string, P | InvalidRuntimeConfig>,
    name: string,
    namespace: string,
  ): P {
    const found = runtimesByName.get(name)
    if (found === undefined)
      throw new TerminalError('UnknownCluster', `the operator's configuration has no ${what} ${name}`)
    if ('error' in found) throw new TerminalError('ClusterConfigInvalid', `${what} ${name}: ${found.error}`)
    if (isNamespaceAllowed(`${what} ${name}`, found.runtimeConfig, namespace, namespaceContext)) return found
    throw new TerminalError(
      'NotAllowed',
      `${what} ${name} does not allow namespace ${namespace}: see allowedNamespaces of its configuration`,
    )
  }
}

/** Throws `TerminalError` where the labels are unknown. That does not count as revoked access: deletions wait. */
function isNamespaceAllowed(
  what: string,
  { namespaces }: RuntimeConfig,
  namespace: string,
  { operatorNamespace, cluster }: NamespaceContext,
): boolean {
  if (namespaces === 'All') return true
  if (!isSelector(namespaces)) return (namespaces === 'Same' ? [operatorNamespace] : namespaces).includes(namespace)
  const info = cluster.namespace(namespace)
  if (info === undefined) throw new TerminalError('ClusterConfigInvalid', `${what}: ${UNKNOWN_LABELS}`)
  return info !== null && matchesSelector(namespaces, info.labels)
}

const UNKNOWN_LABELS =
  'allowedNamespaces selects by labels, which are unknown: namespaces of a directory of manifests have none, ' +
  'and on Kubernetes the operator needs permission to list and watch namespaces'

function isSelector(namespaces: RuntimeConfig['namespaces']): namespaces is LabelSelector {
  return typeof namespaces === 'object' && 'matchLabels' in namespaces
}
