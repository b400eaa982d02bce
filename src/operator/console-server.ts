import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { watchFiles } from '../common/file-watcher.ts'
import type { Logger } from '../common/logging/logger.ts'
import { ChangeFeed } from '../console/change-feed.ts'
import { consoleRoutes } from '../console/routes/console-routes.ts'
import { runtimeProxyRoutes } from '../console/routes/runtime-proxy-routes.ts'
import { HttpError } from '../http/http-error.ts'
import { startHttpServer } from '../http/server.ts'
import { ConsoleState, type ConsoleStateOptions } from './console/console-state.ts'
import type { IdentifyViewer } from './console/viewer.ts'
import { asUnavailable, authorizeViewers } from './routes/console-authorization.ts'
import { resourceRoutes } from './routes/resource-routes.ts'
import type { RuntimeEvent, SubscribeToRuntimeEvents } from './runtime-events.ts'

export type ConsoleServerOptions = ConsoleStateOptions & {
  /** `http://host:port` of the console, or `https:`, which needs `certificates`. */
  readonly listener: string
  /** Directory with `tls.crt` and `tls.key`. They are read again when they change. */
  readonly certificates?: string
  readonly logger: Logger
  /** Absent: users are not identified, and resources are shown to everybody who reaches the listener. */
  readonly identify?: IdentifyViewer
  readonly subscribeToRuntimeEvents?: SubscribeToRuntimeEvents | undefined
}

/**
 * Serves the console of all runtimes and resources. The page reads and changes runtimes with the credentials of its user,
 * and shows the resources that this user may read in Kubernetes.
 */
export async function startConsole(
  options: ConsoleServerOptions,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { listener, certificates, logger, cluster, identify, subscribeToRuntimeEvents } = options
  const files = certificates === undefined ? [] : [join(certificates, 'tls.crt'), join(certificates, 'tls.key')]
  const readCertificate = () => {
    const [cert, key] = files.map((file) => readFileSync(file))
    return { cert, key }
  }
  const state = new ConsoleState(options)
  const changes = new ChangeFeed()
  const unsubscribe = [
    cluster.onChange(() => {
      changes.publish({ kind: 'resource', name: null })
      // The operator changes runtimes, and reports what it sees of them as the status of resources.
      changes.publish({ kind: 'connector', name: null })
      changes.publish({ kind: 'subject', name: null })
    }),
    // A runtime decides which names its user may read.
    subscribeToRuntimeEvents?.((event) =>
      changes.publish(identify ? { ...changeOf(event), name: null } : changeOf(event)),
    ),
  ]
  const json = ['application/json']
  const server = await startHttpServer({
    listeners: [listener],
    logger,
    ...(files.length > 0 && { tls: readCertificate() }),
    consumes: json,
    produces: json,
    routes: (app) => {
      authorizeViewers(app, identify)
      consoleRoutes(app, {
        program: 'operator',
        runtimes: ({ viewer }) => state.runtimes(viewer).catch((error) => Promise.reject(asUnavailable(error))),
        hasResources: true,
        changes,
      })
      resourceRoutes(app, state)
      runtimeProxyRoutes(app, async (kind, name, { request: { viewer }, use }) => {
        const found = await state
          .proxied(kind, name, { viewer, use })
          .catch((error) => Promise.reject(asUnavailable(error)))
        if (found !== undefined && 'denied' in found) throw new HttpError(403, found.denied)
        return found
      })
    },
  })
  const reloading = watchFiles({ files, read: readCertificate, use: server.setCertificates, logger })
  const url = `${server.urls[0]}/ui`
  logger.info({ url }, 'the console is available')
  return {
    url,
    async stop() {
      for (const one of unsubscribe) one?.()
      reloading.close()
      changes.close()
      await server.stop()
    },
  }
}

function changeOf(event: RuntimeEvent) {
  return 'worker' in event
    ? ({ kind: 'connector', name: event.connector } as const)
    : ({ kind: 'subject', name: event.subject } as const)
}
