import type { SecureContextOptions } from 'node:tls'
import type { Logger } from '../common/logging/logger.ts'
import { ChangeFeed } from '../console/change-feed.ts'
import { type ConsoleRuntime, consoleRoutes } from '../console/routes/console-routes.ts'
import { type ProxiedRuntime, proxyPath, runtimeProxyRoutes } from '../console/routes/runtime-proxy-routes.ts'
import { startHttpServer } from '../http/server.ts'
import type { Cluster } from './cluster/cluster.ts'
import { resolveConnectorName } from './connector/connector-name.ts'
import { type ResourceRow, resourceRows } from './resource-rows.ts'
import { subjectName } from './resources/index-values.ts'
import type { Resource } from './resources/resource.ts'
import type { SubscribeToRuntimeEvents } from './runtime-events.ts'
import type { InvalidRuntimeConfig, RuntimeConfig, RuntimeKind, RuntimesConfig } from './runtimes.ts'
import { runtimeNameOf } from './watch-mapping.ts'

export type ConsoleServerOptions = {
  /** `http://host:port` of the console. It has no authentication of its own. */
  readonly listener: string
  readonly logger: Logger
  readonly cluster: Cluster
  readonly runtimesConfig: () => RuntimesConfig
  readonly subscribeToRuntimeEvents?: SubscribeToRuntimeEvents | undefined
}

/** A resource as the console shows it, and the object that it declares. */
type ReportedResource = Omit<ResourceRow, 'resource'> & { readonly runtime?: string; readonly object?: string }

/**
 * Serves the console of all runtimes and resources. The page reads and changes runtimes with the credentials of its user;
 * the state of resources is public to those who reach the listener.
 */
export async function startConsole(
  options: ConsoleServerOptions,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { listener, logger, cluster, runtimesConfig, subscribeToRuntimeEvents } = options
  const changes = new ChangeFeed()
  const unsubscribe = [
    cluster.onChange(() => {
      changes.publish({ kind: 'resource', name: null })
      // The operator changes runtimes, and reports what it sees of them as the status of resources.
      changes.publish({ kind: 'connector', name: null })
      changes.publish({ kind: 'subject', name: null })
    }),
    subscribeToRuntimeEvents?.((event) =>
      changes.publish(
        'worker' in event ? { kind: 'connector', name: event.connector } : { kind: 'subject', name: event.subject },
      ),
    ),
  ]
  const json = ['application/json']
  const server = await startHttpServer({
    listeners: [listener],
    logger,
    consumes: json,
    produces: json,
    routes: (app) => {
      consoleRoutes(app, {
        program: 'operator',
        runtimes: () => consoleRuntimes(runtimesConfig()),
        resources: () => declaredResources(cluster, runtimesConfig()),
        changes,
      })
      runtimeProxyRoutes(app, (kind, name) => findRuntime(runtimesConfig(), kind, name))
    },
  })
  const url = `${server.urls[0]}/ui`
  logger.info({ url }, 'the console is available')
  return {
    url,
    async stop() {
      for (const one of unsubscribe) one?.()
      changes.close()
      await server.stop()
    },
  }
}

function consoleRuntimes({ workers, registries }: RuntimesConfig): readonly ConsoleRuntime[] {
  const of = (kind: RuntimeKind, configs: readonly (RuntimeConfig | InvalidRuntimeConfig)[]) =>
    configs.flatMap((config) =>
      'error' in config ? [] : [{ kind, name: config.name, basePath: proxyPath(kind, config.name) }],
    )
  return [...of('worker', workers), ...of('registry', registries)]
}

function findRuntime({ workers, registries }: RuntimesConfig, kind: string, name: string): ProxiedRuntime | undefined {
  const configs = kind === 'worker' ? workers : kind === 'registry' ? registries : []
  const found = configs.find((config) => config.name === name)
  if (found === undefined || 'error' in found) return undefined
  const { url, tls } = found.endpoint
  return { url, ...(tls === undefined ? {} : { tls: serverTrustOf(tls) }) }
}

/** Without the client certificate of the operator, which would give a user its permissions. */
function serverTrustOf({ ca, checkServerIdentity }: SecureContextOptions & { checkServerIdentity?: () => undefined }) {
  return { ...(ca === undefined ? {} : { ca }), ...(checkServerIdentity === undefined ? {} : { checkServerIdentity }) }
}

function declaredResources(cluster: Cluster, runtimesConfig: RuntimesConfig): readonly ReportedResource[] {
  return resourceRows(cluster).map(({ resource, ...row }) => ({
    ...row,
    ...(resource === undefined ? {} : declarationOf(resource, runtimesConfig)),
  }))
}

function declarationOf(resource: Resource, { workers }: RuntimesConfig): Pick<ReportedResource, 'runtime' | 'object'> {
  const runtime = runtimeNameOf(resource)
  if (resource.kind === 'Subject') return { runtime, object: subjectName(resource) }
  if (resource.kind !== 'Connector') return { runtime }
  const config = workers.find(({ name }) => name === runtime)
  return config === undefined || 'error' in config
    ? { runtime }
    : { runtime, object: resolveConnectorName(config, resource) }
}
