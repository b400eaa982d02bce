import type { ConsoleRuntime } from '../../console/routes/console-routes.ts'
import { type ProxiedRuntime, type ProxyUse, proxyPath } from '../../console/routes/runtime-proxy-routes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { resolveConnectorName } from '../connector/connector-name.ts'
import { type ResourceRow, resourceRows, resourceState } from '../resource-rows.ts'
import { findCondition } from '../resources/condition.ts'
import type { ConnectorStatus } from '../resources/connector.ts'
import { subjectName } from '../resources/index-values.ts'
import { RESOURCE_KINDS, type Resource, type ResourceKind, resourceKey } from '../resources/resource.ts'
import type {
  InvalidRuntimeConfig,
  RuntimeConfig,
  RuntimeKind,
  RuntimesConfig,
  WorkerRuntimeConfig,
} from '../runtimes.ts'
import { runtimeNameOf } from '../watch-mapping.ts'
import { DECLARED_KIND, READ_RECORDS_VERB, type Viewer } from './viewer.ts'

/** Which replica of the operator reconciles. */
export type OperatorLeadership = {
  /** This process. */
  readonly identity: string
  /** Undefined if no replica holds the lease, or none has been seen yet. */
  readonly leader: string | undefined
  /** Whether this process may not read or write the lease. */
  readonly isForbidden: boolean
}

export type ConsoleStateOptions = {
  readonly cluster: Cluster
  readonly instance: string
  readonly runtimesConfig: () => RuntimesConfig
  /** Whether the configuration could be read the last time. */
  readonly isConfigValid: () => boolean
  /** Undefined where there is only one operator. */
  readonly leadership: () => OperatorLeadership | undefined
}

/** A resource as the console shows it, and the object that it declares. */
export type ResourceReport = Omit<ResourceRow, 'resource'> & {
  /** What is shown: the reason, or in what state it is Ready. */
  readonly state: string
  readonly runtime?: string
  readonly object?: string
  /** The difference between the runtime and what is declared; absent if there is none. */
  readonly drift?: string
  readonly autoRestart?: ConnectorStatus['autoRestart']
}

/** What the console shows of the operator. The viewer is undefined where users are not identified. */
export class ConsoleState {
  readonly cluster: Cluster
  readonly instance: string
  readonly #options: ConsoleStateOptions

  constructor(options: ConsoleStateOptions) {
    this.cluster = options.cluster
    this.instance = options.instance
    this.#options = options
  }

  /** The resources that the user may read. */
  async resources(viewer: Viewer | undefined): Promise<readonly ResourceReport[]> {
    const rows = resourceRows(this.cluster)
    const config = this.#options.runtimesConfig()
    const readable = await this.#readable(rows, viewer)
    return rows.flatMap((row) => {
      if (!readable(row)) return []
      const { resource, ...shown } = row
      return [{ ...shown, state: resourceState(row), ...(resource && declarationIn(resource, config)) }]
    })
  }

  /** Undefined for a resource that does not exist or that the user may not read. */
  async find(
    { kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string },
    viewer: Viewer | undefined,
  ): Promise<Resource | undefined> {
    const known = RESOURCE_KINDS.find((one) => one === kind)
    if (known === undefined) return undefined
    const mayRead = viewer === undefined || (await viewer.readable(known, new Set([namespace]))).has(namespace)
    return mayRead ? this.cluster.get(resourceKey(known, namespace, name)) : undefined
  }

  workerOf(resource: Resource<'Connector'>): WorkerRuntimeConfig | undefined {
    const found = this.#options.runtimesConfig().workers.find(({ name }) => name === runtimeNameOf(resource))
    return found === undefined || 'error' in found ? undefined : found
  }

  /** The runtimes that the user may reach. */
  async runtimes(viewer: Viewer | undefined): Promise<readonly ConsoleRuntime[]> {
    const { workers, registries } = this.#options.runtimesConfig()
    return [
      ...(await this.#reachable('worker', workers, viewer)),
      ...(await this.#reachable('registry', registries, viewer)),
    ]
  }

  async #reachable(
    kind: RuntimeKind,
    configs: readonly (RuntimeConfig | InvalidRuntimeConfig)[],
    viewer: Viewer | undefined,
  ): Promise<readonly ConsoleRuntime[]> {
    const isReadOnly = viewer !== undefined && !(await viewer.mayChange(kind))
    const found: ConsoleRuntime[] = []
    for (const config of configs) {
      const { name } = config
      if ('error' in config || (viewer && !(await viewer.mayReach(kind, () => this.#namespacesOf(kind, name)))))
        continue
      found.push({ kind, name, basePath: proxyPath(kind, name), ...(isReadOnly && { isReadOnly }) })
    }
    return found
  }

  /** Where to pass a request on to; `denied` is the permission that the user lacks. */
  async proxied(
    kind: string,
    name: string,
    { viewer, use }: { readonly viewer: Viewer | undefined; readonly use: ProxyUse },
  ): Promise<ProxiedRuntime | { readonly denied: string } | undefined> {
    if (kind !== 'worker' && kind !== 'registry') return undefined
    const { workers, registries } = this.#options.runtimesConfig()
    const configs: readonly (RuntimeConfig | InvalidRuntimeConfig)[] = kind === 'worker' ? workers : registries
    const config = configs.find((one) => one.name === name)
    if (viewer !== undefined) {
      const what = `${DECLARED_KIND[kind].toLowerCase()}s.weir.dev`
      if (!(await viewer.mayReach(kind, () => this.#namespacesOf(kind, name))))
        return { denied: `User '${viewer.name}' may not list ${what} in any namespace that uses the ${kind} ${name}` }
      if (use.readsRecords && !(await viewer.mayReadRecords()))
        return {
          denied: `User '${viewer.name}' lacks the permission for the verb ${READ_RECORDS_VERB} on connectors.weir.dev in all namespaces, which reading records needs`,
        }
      if (use.changes && !(await viewer.mayChange(kind)))
        return {
          denied: `User '${viewer.name}' lacks the permission to update ${what} in all namespaces, which changes of a ${kind} need`,
        }
    }
    if (config === undefined || 'error' in config) return undefined
    const { url, tls } = config.endpoint
    return { url, ...(tls && { tls: serverTrustOf(tls) }) }
  }

  /** The state of the operator itself. */
  operator() {
    const { leadership, isConfigValid, runtimesConfig } = this.#options
    const { workers, registries } = runtimesConfig()
    const invalid = (kind: RuntimeKind, configs: readonly (RuntimeConfig | InvalidRuntimeConfig)[]) =>
      configs.flatMap((config) => ('error' in config ? [{ kind, name: config.name, error: config.error }] : []))
    return {
      leadership: leadership() ?? null,
      isConfigValid: isConfigValid(),
      invalidRuntimes: [...invalid('worker', workers), ...invalid('registry', registries)],
    }
  }

  async #readable(rows: readonly ResourceRow[], viewer: Viewer | undefined): Promise<(row: ResourceRow) => boolean> {
    if (viewer === undefined) return () => true
    const byKind = new Map<ResourceKind, ReadonlySet<string>>()
    for (const kind of RESOURCE_KINDS) {
      const namespaces = rows.flatMap((row) => (row.kind === kind ? [row.namespace] : []))
      byKind.set(kind, await viewer.readable(kind, new Set(namespaces)))
    }
    return ({ kind, namespace }) => kind !== 'File' && byKind.get(kind)?.has(namespace) === true
  }

  #namespacesOf(runtime: RuntimeKind, name: string): ReadonlySet<string> {
    const resources: readonly Resource[] = this.cluster.list(DECLARED_KIND[runtime])
    return new Set(resources.filter((one) => runtimeNameOf(one) === name).map(({ metadata }) => metadata.namespace))
  }
}

type Tls = NonNullable<RuntimeConfig['endpoint']['tls']>

type ServerTrust = NonNullable<ProxiedRuntime['tls']>
/** One object for each, so that requests share connections. */
const serverTrusts = new WeakMap<Tls, ServerTrust>()

/** Without the client certificate of the operator, which would give a user its permissions. */
function serverTrustOf(tls: Tls): ServerTrust {
  const { ca, checkServerIdentity } = tls
  const trust = serverTrusts.get(tls) ?? {
    ...(ca === undefined ? {} : { ca }),
    ...(checkServerIdentity === undefined ? {} : { checkServerIdentity }),
  }
  serverTrusts.set(tls, trust)
  return trust
}

function declarationIn(
  resource: Resource,
  { workers }: RuntimesConfig,
): Omit<ResourceReport, keyof ResourceRow | 'state'> {
  const runtime = runtimeNameOf(resource)
  const synced = findCondition(resource.status.conditions, 'Synced')
  // Otherwise the operator is about to correct the difference.
  const isKept = synced?.reason === 'Drifted' || resource.spec.suspend
  const drift = synced?.status === 'False' && isKept ? { drift: synced.message } : {}
  if (resource.kind === 'Subject') return { runtime, object: subjectName(resource), ...drift }
  if (resource.kind === 'RegistryMode') return { runtime, ...drift }
  const { autoRestart } = resource.status
  const config = workers.find(({ name }) => name === runtime)
  return {
    runtime,
    ...(config === undefined || 'error' in config ? {} : { object: resolveConnectorName(config, resource) }),
    ...drift,
    ...(autoRestart === undefined ? {} : { autoRestart }),
  }
}
