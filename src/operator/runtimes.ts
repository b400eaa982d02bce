import type { Endpoint } from '../clients/http.ts'
import { createRegistryClient, type RegistryClient } from '../clients/registry.ts'
import { createWorkerClient, type WorkerClient } from '../clients/worker.ts'
import type { Cluster } from './cluster/cluster.ts'
import { TerminalError } from './controller/reconcile-error.ts'
import { type LabelSelector, matchesSelector } from './label-selector.ts'
import type { Resource } from './resources/resource.ts'

/** A runtime that resources may name, and who may. */
export type RuntimeConfig = {
  /** What `workerRef` and `registryRef` call it. */
  readonly name: string
  readonly endpoint: Pick<Endpoint, 'url' | 'auth' | 'tls'>
  /** `Same`: the operator's own; or those with such labels. */
  readonly namespaces: 'All' | 'Same' | readonly string[] | LabelSelector
  /** For one request, answer included. */
  readonly requestTimeoutMs: number
  /** How often it is looked at although nothing was heard of it. */
  readonly observeIntervalMs: number
  /** Requests at the same time. */
  readonly maxInFlight: number
  /** What was Ready stays so for so long while the runtime does not answer, or shares out its work. */
  readonly readinessGracePeriodMs: number
  /** A deletion gives up when it does not answer for so long; absent: never. */
  readonly deletionTimeoutMs?: number
}
export type WorkerRuntimeConfig = RuntimeConfig & {
  /** What connectors are called there, with `{namespace}` and `{name}`. */
  readonly nameTemplate: string
  /** Whether `spec.name` stands as it is, whatever the template. */
  readonly allowsExplicitNames: boolean
  /** Connectors that no resource may have; `*` stands for anything. */
  readonly protectedNames: readonly string[]
  /** What stands in a configuration for a value of a Secret, with `{namespace}`, `{name}` and `{key}`. */
  readonly secretPlaceholder: string
  /** Whether its connectors carry the mark of who keeps them in their configuration. */
  readonly writesOwnerMarker: boolean
  /** Whether values of Secrets may be sent to it in clear. */
  readonly allowsInlineSecrets: boolean
  /** Instead of `deletionTimeoutMs` in a namespace that is being deleted; absent: the same. */
  readonly terminatingDeletionTimeoutMs?: number
  /** Of its pods, for autoscalers. */
  readonly podSelector?: string
}
export type RegistryRuntimeConfig = RuntimeConfig & {
  /** How the subjects of a namespace have to begin; a namespace that is not named may have all. */
  readonly subjectPrefixes: Readonly<Record<string, readonly string[]>>
  /** By namespace, the contexts that it may use; `*` stands for all that are not named. Who is not named may use all. */
  readonly contexts: Readonly<Record<string, readonly string[]>>
}
/** An entry that can't be used: it hurts whoever names it, and nobody else. */
export type InvalidRuntimeConfig = { readonly name: string; readonly error: string }

/** Everything that resources may name. */
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

/** What resources call their worker and their registry when they name none. */
export const DEFAULT_RUNTIME = 'default'

/** Of one worker and one registry, for every namespace. */
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

/** Whom a resource talks to. Both throw `TerminalError` when it may not. */
export interface Runtimes {
  worker(resource: Resource<'Connector'>): WorkerRuntime
  registry(resource: Resource<'Subject' | 'RegistryMode'>): RegistryRuntime
}

/** Whether something in it goes by what a namespace is like: its labels, or that it is being deleted. */
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

/** Where those live who ask, and the operator itself. */
export type NamespaceContext = {
  /** The operator's own namespace. */
  readonly operatorNamespace: string
  readonly cluster: Pick<Cluster, 'namespace'>
}

/** How one entry is reached. */
export type EndpointResolver = (runtime: RuntimeKind, runtimeConfig: RuntimeConfig) => Endpoint

/** Its clients live as long as it does: what they know of schemas is of use to all resources. */
export function createRuntimes(
  { workers, registries }: RuntimesConfig,
  ground: NamespaceContext,
  resolveEndpoint: EndpointResolver,
): Runtimes {
  const places = <E extends RuntimeConfig, C>(
    entries: readonly (E | InvalidRuntimeConfig)[],
    connect: (runtimeConfig: E) => C,
  ) =>
    new Map(
      entries.map((runtimeConfig) => [
        runtimeConfig.name,
        'error' in runtimeConfig ? runtimeConfig : { runtimeConfig, client: connect(runtimeConfig) },
      ]),
    )
  const workerPlaces = places(workers, (runtimeConfig) => createWorkerClient(resolveEndpoint('worker', runtimeConfig)))
  const registryPlaces = places(registries, (runtimeConfig) =>
    createRegistryClient(resolveEndpoint('registry', runtimeConfig)),
  )
  return {
    worker: ({ spec, metadata }) => found('worker', workerPlaces, spec.workerRef.name, metadata.namespace),
    registry: ({ spec, metadata }) => found('registry', registryPlaces, spec.registryRef.name, metadata.namespace),
  }

  function found<P extends { readonly runtimeConfig: RuntimeConfig }>(
    what: string,
    places: ReadonlyMap<string, P | InvalidRuntimeConfig>,
    name: string,
    namespace: string,
  ): P {
    const place = places.get(name)
    if (place === undefined)
      throw new TerminalError('UnknownCluster', `the operator's configuration has no ${what} ${name}`)
    if ('error' in place) throw new TerminalError('ClusterConfigInvalid', `${what} ${name}: ${place.error}`)
    if (isNamespaceAllowed(`${what} ${name}`, place.runtimeConfig, namespace, ground)) return place
    throw new TerminalError('NotAllowed', `${what} ${name} is not granted to namespace ${namespace}`)
  }
}

/** Throws `TerminalError` where nobody can know. That revokes nothing: deletions wait. */
function isNamespaceAllowed(
  what: string,
  { namespaces }: RuntimeConfig,
  namespace: string,
  { operatorNamespace, cluster }: NamespaceContext,
): boolean {
  if (namespaces === 'All') return true
  if (!isSelector(namespaces)) return (namespaces === 'Same' ? [operatorNamespace] : namespaces).includes(namespace)
  const statusFields = cluster.namespace(namespace)
  if (statusFields === undefined) throw new TerminalError('ClusterConfigInvalid', `${what}: ${UNLABELLED}`)
  return statusFields !== null && matchesSelector(namespaces, statusFields.labels)
}

const UNLABELLED =
  'allowedNamespaces goes by labels, which are not known here: in a folder of manifests namespaces have none, ' +
  'and on Kubernetes the operator has to be granted to list and watch namespaces'

function isSelector(namespaces: RuntimeConfig['namespaces']): namespaces is LabelSelector {
  return typeof namespaces === 'object' && 'matchLabels' in namespaces
}
