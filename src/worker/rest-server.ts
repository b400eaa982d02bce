import type { ServerOptions } from 'node:https'
import type { Clock } from '../common/clock.ts'
import { parseExactJson } from '../common/exact-json.ts'
import type { ClientTls } from '../common/http-agent.ts'
import type { Logger } from '../common/logging/logger.ts'
import type { Metrics } from '../common/metrics-registry.ts'
import { settingsWithPrefix } from '../config/settings.ts'
import type { ChangeFeed } from '../console/change-feed.ts'
import { consoleRoutes } from '../console/routes/console-routes.ts'
import type { AccessControl } from '../http/access-control.ts'
import { openAuthentication } from '../http/access-control-settings.ts'
import { openAuditLog } from '../http/audit-log-settings.ts'
import type { Authentication } from '../http/authentication.ts'
import { reloadCertificates } from '../http/certificate-reload.ts'
import { toHttpLimits } from '../http/limit-settings.ts'
import type { PermissionPolicy, Rights } from '../http/permissions.ts'
import { registerReadiness } from '../http/readiness-metrics.ts'
import { addResponseHeaders, parseHeaderRules } from '../http/response-headers.ts'
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../http/server.ts'
import type { PluginFault } from '../plugins/conflict-resolution.ts'
import { type TlsSource, tlsSource } from '../tls/tls-material.ts'
import { listenerProtocols } from '../tls/tls-protocols.ts'
import { type ConnectorActivityRoutes, connectorActivityRoutes } from './routes/connector-activity.ts'
import { connectorPreviewRoutes } from './routes/connector-preview.ts'
import { connectorTopicRoutes } from './routes/connector-topics.ts'
import { deadLetterRoutes } from './routes/dead-letters.ts'
import { workerErrorResponse } from './routes/error-response.ts'
import { type LoggerRoutes, loggerRoutes } from './routes/loggers.ts'
import { auditedWorkerAction, checkWorkerAccess, isInternal } from './routes/request-authorization.ts'
import { topicRoutes } from './routes/topics.ts'
import { type WorkerRoutes, workerOpenApi, workerRoutes } from './routes/worker-routes.ts'
import type { WorkerSettings } from './settings.ts'
import { converterDefaults } from './startup/derived-settings.ts'
import type { RecordAccess } from './startup/open-record-access.ts'

/** How many the console shows; the log has all. */
const PLUGIN_FAULTS_MAX = 20

export type RestServerOptions = {
  readonly settings: WorkerSettings
  readonly logger: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  readonly routes: WorkerRoutes
  readonly loggers: LoggerRoutes
  /** What the pages of the console learn of. */
  readonly changes: ChangeFeed
  /** What the console shows of running connectors; undefined without a console. */
  readonly activity: ConnectorActivityRoutes | undefined
  /** What the console shows of records. */
  readonly records: RecordAccess
  readonly permissions: () => PermissionPolicy
  /** Why plugins could not be loaded, or classes of them are not used. The console shows them. */
  readonly pluginFaults: readonly PluginFault[]
}

/** Starts the REST API on `listeners`, and the logger routes on `admin.listeners` if they are set. */
export async function startRestServer(parts: RestServerOptions): Promise<HttpServer> {
  const { settings, logger, metrics, clock, routes, loggers, changes, activity, records, pluginFaults } = parts
  const { listeners, 'admin.listeners': adminListeners } = settings.values
  const auditing = await openAuditLog(settings.values, {
    program: 'worker',
    logger,
    metrics,
    describe: auditedWorkerAction,
  })
  const logIn = openAuthentication(settings.values, logger)
  const tls = listenerTls(settings.rest, [...listeners, ...(adminListeners ?? [])])
  const common: Omit<HttpServerOptions, 'listeners' | 'routes'> = {
    logger,
    mapError: workerErrorResponse,
    consumes: ['application/json'],
    produces: ['application/json'],
    requiresContentType: true,
    parseBody: parseExactJson,
    limits: toHttpLimits(settings.values, settings.values['http.body.bytes.max']),
    ...(tls ? { tls: tls.read() } : {}),
    ...(auditing ? { audit: auditing.audit } : {}),
    ...(logIn ? { access: access(logIn.authentication, parts.permissions) } : {}),
  }
  const rules = parseHeaderRules(settings.values['response.http.headers.config'])
  const [failed, unused] = [false, true].map((wanted) =>
    pluginFaults
      .filter(({ isWarning = false }) => isWarning === wanted)
      .slice(0, PLUGIN_FAULTS_MAX)
      .map(({ file, reason }) => ({ file, reason })),
  )
  const status = (rights: Rights) =>
    rights.allowsAny('read') ? { pluginFaults: failed, unusedClasses: unused } : { pluginFaults: [], unusedClasses: [] }
  const publicRoutes: HttpServerOptions['routes'] = (app) => {
    addResponseHeaders(app, rules, clock.nowMs)
    workerRoutes(app, routes)
    if (adminListeners === undefined) loggerRoutes(app, loggers)
    if (activity) connectorActivityRoutes(app, activity)
    if (settings.values['ui.enabled']) {
      consoleRoutes(app, { program: 'worker', runtimes: ownRuntime, changes, status })
      deadLetterRoutes(app, records.deadLetters)
      topicRoutes(app, records.topics)
      connectorPreviewRoutes(app, records.preview)
      connectorTopicRoutes(app, routes.herder, converterDefaults(settings))
    }
  }
  const started: HttpServer[] = []
  const followed: { close(): void }[] = []
  const stop = async (graceMs?: number) => {
    await Promise.all(started.map((server) => server.stop(graceMs)))
    logIn?.close()
    await auditing?.close()
    for (const one of followed) one.close()
  }
  const serve = async (options: Pick<HttpServerOptions, 'listeners' | 'routes'> & Partial<HttpServerOptions>) => {
    const server = await startHttpServer({ ...common, ...options })
    started.push(server)
    if (tls) followed.push(reloadCertificates(server, tls, logger))
    return server
  }
  registerReadiness(metrics, 'worker', routes.isReady)
  try {
    const server = await serve({
      ...crossOrigin(settings),
      listeners,
      routes: publicRoutes,
      openApi: workerOpenApi(routes.info().version),
      metrics,
      isReady: routes.isReady,
    })
    if (adminListeners !== undefined && adminListeners.length > 0) {
      const admin: HttpServerOptions['routes'] = (app) => loggerRoutes(app, loggers)
      await serve({ listeners: adminListeners, routes: admin })
    }
    return { urls: server.urls, stop }
  } catch (error) {
    await stop(0)
    throw error
  }
}

/**
 * TLS of requests to other workers: this worker's certificate as the client certificate, and its truststore. Undefined
 * if the worker has no https listener, because the `ssl.*` settings may then be meant for other clients.
 */
export function peerTls({ values, rest }: WorkerSettings): TlsSource<ClientTls> | undefined {
  const own = [...values.listeners, values['rest.advertised.listener'] ?? '']
  if (!own.some((listener) => listener.toLowerCase().startsWith('https'))) return undefined
  const ssl = sslOf(rest)
  const anyHost = ssl['ssl.endpoint.identification.algorithm'] === ''
  return tlsSource(ssl, anyHost ? { checkServerIdentity: () => undefined } : {})
}

/** The settings are taken either all from `listeners.https.ssl.*` or all from `ssl.*`, as in Kafka Connect. */
function sslOf(rest: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const own = settingsWithPrefix('listeners.https.', rest)
  return Object.keys(own).length > 0 ? own : rest
}

function listenerTls(
  rest: Readonly<Record<string, string>>,
  listeners: readonly string[],
): TlsSource<ServerOptions> | undefined {
  if (!listeners.some((listener) => listener.toLowerCase().startsWith('https:'))) return undefined
  const ssl = sslOf(rest)
  if (!(ssl['ssl.keystore.location'] || ssl['ssl.keystore.certificate.chain'])) return undefined
  const client = ssl['ssl.client.auth'] ?? 'none'
  return tlsSource(ssl, {
    ...listenerProtocols(ssl),
    requestCert: client !== 'none',
    rejectUnauthorized: client === 'required',
  })
}

const ownRuntime = () => [{ kind: 'worker', name: 'worker', basePath: '' }] as const

function access(authentication: Authentication, policy: () => PermissionPolicy): AccessControl {
  return {
    authentication,
    kind: 'connectors',
    policy,
    allowsAnonymous: isInternal,
    check: checkWorkerAccess,
  }
}

function crossOrigin({ values }: WorkerSettings): Pick<HttpServerOptions, 'crossOrigin'> {
  const origins = values['access.control.allow.origin']
  const methods = values['access.control.allow.methods'] || 'GET,POST,HEAD'
  return origins === '' ? {} : { crossOrigin: { origins, methods, headers: '' } }
}
