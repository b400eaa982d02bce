import type { ServerOptions as TlsOptions } from 'node:https'
import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { Metrics } from '../config/metrics.ts'
import { below } from '../config/settings.ts'
import { tlsMaterial } from '../config/tls.ts'
import { addHeaders, parseHeaderRules } from '../http/response-headers.ts'
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../http/server.ts'
import { ROLES, Users } from '../http/users.ts'
import type { PeerTls } from './peers.ts'
import { roleFor } from './routes/access.ts'
import { toWire } from './routes/errors.ts'
import { type LoggerRoutes, loggerRoutes } from './routes/loggers.ts'
import { type WorkerRoutes, workerRoutes } from './routes/main.ts'
import type { WorkerSettings } from './settings.ts'

export type ServeParts = {
  readonly settings: WorkerSettings
  readonly logger: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  readonly routes: WorkerRoutes
  readonly loggers: LoggerRoutes
}

/** Puts a worker behind its listeners, and what `admin.listeners` name behind those. */
export async function serveWorker(parts: ServeParts): Promise<HttpServer> {
  const { settings, logger, metrics, clock, routes, loggers } = parts
  const { listeners, 'admin.listeners': adminListeners } = settings.values
  const users = usersOf(settings, logger)
  const common = {
    logger,
    toWire,
    consumes: ['application/json'],
    produces: ['application/json'],
    typedBodiesOnly: true,
    ...secured(settings, [...listeners, ...(adminListeners ?? [])], users),
  }
  const rules = parseHeaderRules(settings.values['response.http.headers.config'])
  const publicRoutes: HttpServerOptions['routes'] = (app) => {
    addHeaders(app, rules, clock.nowMs)
    workerRoutes(app, routes)
    if (adminListeners === undefined) loggerRoutes(app, loggers)
  }
  const started: HttpServer[] = []
  const stop = async (graceMs?: number) => {
    await Promise.all(started.map((server) => server.stop(graceMs)))
    users?.close()
  }
  try {
    const server = await startHttpServer({
      ...common,
      ...crossOrigin(settings),
      listeners,
      routes: publicRoutes,
      metrics,
      ready: routes.isReady,
    })
    started.push(server)
    if (adminListeners !== undefined && adminListeners.length > 0) {
      const admin: HttpServerOptions['routes'] = (app) => loggerRoutes(app, loggers)
      started.push(await startHttpServer({ ...common, listeners: adminListeners, routes: admin }))
    }
    return { urls: server.urls, stop }
  } catch (error) {
    await stop(0)
    throw error
  }
}

/** Undefined when everybody may come in. */
function usersOf({ values }: WorkerSettings, logger: Logger): Users | undefined {
  if (values['authentication.method'] === 'NONE') return undefined
  const file = values['weir.authentication.users.file']
  return file === ''
    ? Users.fromText(values['weir.authentication.users'], 'weir.authentication.users')
    : Users.fromFile(file, logger)
}

function secured(
  { values, rest }: WorkerSettings,
  listeners: readonly string[],
  users: Users | undefined,
): Pick<HttpServerOptions, 'tls' | 'access'> {
  const isHttps = listeners.some((listener) => listener.toLowerCase().startsWith('https:'))
  const tls = isHttps ? listenerTls(rest) : undefined
  const realm = values['authentication.realm']
  return { ...(tls ? { tls } : {}), ...(users ? { access: { realm, users, roles: ROLES, roleFor } } : {}) }
}

/**
 * How other workers are reached on https: with this worker's certificate, trusting what its truststore says. On http the
 * settings may mean something else.
 */
export function peerTls({ values, rest }: WorkerSettings): PeerTls {
  const own = [...values.listeners, values['rest.advertised.listener'] ?? '']
  if (!own.some((listener) => listener.toLowerCase().startsWith('https'))) return {}
  const ssl = sslOf(rest)
  const anyHost = ssl['ssl.endpoint.identification.algorithm'] === ''
  return { ...tlsMaterial(ssl), ...(anyHost ? { checkServerIdentity: () => undefined } : {}) }
}

/** Either all from `listeners.https.ssl.*`, or all from `ssl.*`, as in Kafka Connect. */
function sslOf(rest: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const own = below('listeners.https.', rest)
  return Object.keys(own).length > 0 ? own : rest
}

function listenerTls(rest: Readonly<Record<string, string>>): TlsOptions | undefined {
  const ssl = sslOf(rest)
  if (!(ssl['ssl.keystore.location'] || ssl['ssl.keystore.certificate.chain'])) return undefined
  const client = ssl['ssl.client.auth'] ?? 'none'
  return { ...tlsMaterial(ssl), requestCert: client !== 'none', rejectUnauthorized: client === 'required' }
}

function crossOrigin({ values }: WorkerSettings): Pick<HttpServerOptions, 'crossOrigin'> {
  const origins = values['access.control.allow.origin']
  const methods = values['access.control.allow.methods'] || 'GET,POST,HEAD'
  return origins === '' ? {} : { crossOrigin: { origins, methods, headers: '' } }
}
