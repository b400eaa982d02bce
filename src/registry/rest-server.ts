import { watchFiles } from '../common/file-watcher.ts'
import type { Logger } from '../common/logging/logger.ts'
import type { Metrics } from '../common/metrics-registry.ts'
import { parseJsonAsWritten } from '../common/written-json.ts'
import type { ChangeFeed } from '../console/change-feed.ts'
import { consoleRoutes } from '../console/routes/console-routes.ts'
import type { AccessControl } from '../http/access-control.ts'
import { openAuthentication } from '../http/access-control-settings.ts'
import { openAuditLog } from '../http/audit-log-settings.ts'
import type { Authentication } from '../http/authentication.ts'
import { reloadCertificates } from '../http/certificate-reload.ts'
import { DEFAULT_LIMITS, toHttpLimits } from '../http/limit-settings.ts'
import type { PermissionPolicy } from '../http/permissions.ts'
import { openPermissions } from '../http/permissions-file.ts'
import { registerReadiness } from '../http/readiness-metrics.ts'
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../http/server.ts'
import { ROLES } from '../http/users.ts'
import type { DekRegistry } from './dek/dek-registry.ts'
import { Forwarder } from './leadership/forwarder.ts'
import type { RegistryMetrics } from './metrics/registry-metrics.ts'
import type { Registry } from './registry.ts'
import { auditedAction } from './routes/acl-operations.ts'
import { registryErrorResponse } from './routes/error-response.ts'
import { registryOpenApi, registryRoutes } from './routes/registry-routes.ts'
import { checkAccess } from './routes/request-authorization.ts'
import { RouteContext } from './routes/route-context.ts'
import type { ServerIdentity } from './routes/server-metadata.ts'
import { subjectSummaryRoutes } from './routes/subject-summaries.ts'
import { MEDIA_TYPES } from './setting-keys.ts'
import type { RegistryValues } from './settings.ts'
import { instanceTls, listenerExpiry, listenerTls } from './tls-options.ts'

export type ServeOptions = {
  readonly settings: RegistryValues
  readonly identity: ServerIdentity
  readonly logger: Logger
  readonly metrics?: Metrics
  /** The callbacks that update the metrics. */
  readonly measurements: Pick<RegistryMetrics, 'onResponse' | 'onConnection' | 'onCertificates'>
  readonly isReady: () => boolean
  readonly whyNotReady: () => string | undefined
  /** What the pages of the console learn of. */
  readonly changes: ChangeFeed
  /** Absent: `/dek-registry` is not served. */
  readonly dekRegistry?: DekRegistry | undefined
}

/** Which instance writes, for the console. */
function leadershipOf({ leadership }: Registry): { readonly isLeader: boolean; readonly leader: string | null } {
  return { isLeader: leadership.writer() !== undefined, leader: leadership.leaderUrl() ?? null }
}

/** Starts the HTTP server of a registry. */
export async function serveRegistry(registry: Registry, options: ServeOptions): Promise<HttpServer> {
  const { settings, identity, logger, metrics, measurements, isReady, whyNotReady, dekRegistry, changes } = options
  const auditLog = await openAuditLog(settings, { program: 'registry', logger, metrics, describe: auditedAction })
  if (metrics) registerReadiness(metrics, 'registry', isReady)
  const clientTls = instanceTls(settings)
  const serverTls = listenerTls(settings)
  const forwarder = new Forwarder({
    headers: settings['inter.instance.headers.whitelist'].map((name) => name.toLowerCase()),
    connectTimeoutMs: settings['leader.connect.timeout.ms'],
    readTimeoutMs: settings['leader.read.timeout.ms'],
    tls: clientTls.read(),
  })
  const routeContext = new RouteContext(registry, settings, forwarder)
  const authentication = openAuthentication(settings, logger)
  const permissions = openPermissions(settings, logger)
  const resources: { close(): void }[] = [
    forwarder,
    watchFiles({ ...clientTls, use: (renewed) => forwarder.setTls(renewed), logger }),
    ...(authentication ? [authentication] : []),
    permissions,
  ]
  const close = () => {
    for (const resource of resources) resource.close()
  }
  try {
    const server = await startHttpServer({
      listeners: settings.listeners,
      logger,
      routes: async (app) => {
        await registryRoutes(app, routeContext, identity, dekRegistry)
        if (settings['ui.enabled']) {
          consoleRoutes(app, {
            program: 'registry',
            runtimes: ownRuntime,
            changes,
            status: () => leadershipOf(registry),
          })
          subjectSummaryRoutes(app, routeContext)
        }
      },
      openApi: registryOpenApi(identity.version),
      addsRequestId: true,
      onResponse: measurements.onResponse,
      onConnection: measurements.onConnection,
      mapError: (error) => registryErrorResponse(error, routeContext.profile),
      ...mediaTypes(settings),
      // Browsers send cross-site requests without a content type without a CORS preflight, and with the user's
      // credentials.
      requiresContentType: authentication !== undefined,
      ...(metrics ? { metrics } : {}),
      isReady,
      whyNotReady,
      compress: settings['compression.enable'],
      parseBody: parseJsonAsWritten,
      parseLarge: (bytes) => registry.parseLargeBody(bytes),
      ...limits(settings),
      ...(serverTls ? { tls: serverTls.read() } : {}),
      ...(auditLog ? { audit: auditLog.audit } : {}),
      ...accessOptions(settings, authentication?.authentication, permissions.current, routeContext),
    })
    if (serverTls) {
      const reportExpiry = () => measurements.onCertificates(listenerExpiry(settings))
      reportExpiry()
      resources.push(reloadCertificates(server, serverTls, logger, reportExpiry))
    }
    return {
      urls: server.urls,
      stop: async (graceMs = settings['shutdown.graceful.ms']) => {
        await server.stop(graceMs)
        close()
        await auditLog?.close()
      },
    }
  } catch (error) {
    close()
    await auditLog?.close()
    throw error
  }
}

const ownRuntime = () => [{ kind: 'registry', name: 'registry', basePath: '' }] as const

function mediaTypes(settings: RegistryValues): Pick<HttpServerOptions, 'consumes' | 'produces'> {
  const preferred = settings['response.mediatype.default']
  return {
    // A missing content type and `application/octet-stream` are handled as JSON.
    consumes: [...MEDIA_TYPES, 'application/octet-stream'],
    produces: [preferred, ...MEDIA_TYPES.filter((type) => type !== preferred)],
  }
}

function limits(settings: RegistryValues): Pick<HttpServerOptions, 'limits'> {
  const bounded = settings['size.limit.filter.enabled']
  const bodyBytesMax = bounded ? settings['size.limit.filter.max.request.body.size'] : DEFAULT_LIMITS.bodyBytesMax
  return { limits: toHttpLimits(settings, bodyBytesMax) }
}

function accessOptions(
  settings: RegistryValues,
  authentication: Authentication | undefined,
  policy: () => PermissionPolicy,
  routeContext: RouteContext,
): Pick<HttpServerOptions, 'access' | 'crossOrigin'> {
  const origins = settings['access.control.allow.origin']
  const methods = settings['access.control.allow.methods']
  const headers = settings['access.control.allow.headers']
  return {
    ...(authentication ? { access: accessControl(settings, authentication, policy, routeContext) } : {}),
    ...(origins === '' ? {} : { crossOrigin: { origins, methods, headers } }),
  }
}

function accessControl(
  settings: RegistryValues,
  authentication: Authentication,
  policy: () => PermissionPolicy,
  routeContext: RouteContext,
): AccessControl {
  const allowed = settings['authentication.roles']
  return {
    authentication,
    kind: 'subjects',
    policy,
    roles: ROLES.filter((role) => allowed.includes('*') || allowed.includes(role)),
    publicPaths: settings['authentication.skip.paths'],
    check: (request) => checkAccess(request, routeContext),
  }
}
