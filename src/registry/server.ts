import type { SecureContextOptions } from 'node:tls'
import { watchFiles } from '../config/file-watcher.ts'
import type { Logger } from '../config/logger.ts'
import type { Metrics } from '../config/metrics.ts'
import type { CertificateExpiry } from '../config/tls.ts'
import type { AccessControl } from '../http/access-control.ts'
import { openAuthentication } from '../http/access-control-settings.ts'
import type { CompletedRequest } from '../http/access-log.ts'
import { openAuditLog } from '../http/audit-log-settings.ts'
import type { Authentication } from '../http/authentication.ts'
import { DEFAULT_LIMITS, toHttpLimits } from '../http/limits.ts'
import type { PermissionPolicy } from '../http/permissions.ts'
import { openPermissions } from '../http/permissions-file.ts'
import { type ConnectionChange, type HttpServer, type HttpServerOptions, startHttpServer } from '../http/server.ts'
import { ROLES } from '../http/users.ts'
import type { CompatibilityWorker } from './compatibility-worker/compatibility-worker.ts'
import type { DekRegistry } from './dek/dek-registry.ts'
import { Forwarder } from './leadership/forwarding.ts'
import { RegistryError } from './model/registry-error.ts'
import type { Registry } from './registry.ts'
import { checkAccess } from './routes/access.ts'
import { Api } from './routes/api.ts'
import { toWire } from './routes/errors.ts'
import { registryRoutes } from './routes/main.ts'
import { auditedAction } from './routes/operations.ts'
import type { ServerIdentity } from './routes/server.ts'
import { instanceTls, listenerExpiry, listenerTls } from './security.ts'
import { MEDIA_TYPES } from './setting-keys.ts'
import type { RegistryValues } from './settings.ts'

export type ServeOptions = {
  readonly settings: RegistryValues
  readonly identity: ServerIdentity
  readonly logger: Logger
  readonly metrics?: Metrics
  /** Called after every response. */
  readonly answered: (request: CompletedRequest) => void
  /** Called when a connection is opened or closed. */
  readonly connected: (change: ConnectionChange) => void
  /** Called with the expiry of the listener certificates, at the start and after every renewal. */
  readonly certified: (expiry: CertificateExpiry) => void
  readonly ready: () => boolean
  /** Absent: `/dek-registry` is not served. */
  readonly dekRegistry?: DekRegistry | undefined
}

/** Starts the HTTP server of a registry. */
export async function serveRegistry(registry: Registry, options: ServeOptions): Promise<HttpServer> {
  const { settings, identity, logger, metrics, answered, connected, certified, ready, dekRegistry } = options
  const auditing = await openAuditLog(settings, { program: 'registry', logger, metrics, describe: auditedAction })
  const [toLeader, listening] = [instanceTls(settings), listenerTls(settings)]
  const forwarder = new Forwarder({
    headers: settings['inter.instance.headers.whitelist'].map((name) => name.toLowerCase()),
    connectTimeoutMs: settings['leader.connect.timeout.ms'],
    readTimeoutMs: settings['leader.read.timeout.ms'],
    tls: toLeader.read(),
  })
  const api = new Api(registry, settings, forwarder)
  const logIn = openAuthentication(settings, logger)
  const permissions = openPermissions(settings, logger)
  const held: { close(): void }[] = [
    forwarder,
    watchFiles({ ...toLeader, use: (renewed) => forwarder.trust(renewed), logger }),
    ...(logIn ? [logIn] : []),
    permissions,
  ]
  const close = () => {
    for (const one of held) one.close()
  }
  try {
    const server = await startHttpServer({
      listeners: settings.listeners,
      logger,
      routes: (app) => registryRoutes(app, api, identity, dekRegistry),
      requestIds: true,
      onResponse: answered,
      onConnection: connected,
      stateRevision: () => api.view.revision,
      mapError: (error) => toWire(error, api.profile),
      ...mediaTypes(settings),
      // Browsers send cross-site requests without a content type without a CORS preflight, and with the user's
      // credentials.
      requiresContentType: logIn !== undefined,
      ...(metrics ? { metrics } : {}),
      isReady: ready,
      compress: settings['compression.enable'],
      parseLarge: (bytes) => parseLarge(registry.compatibilityWorker, bytes),
      ...limits(settings),
      ...(listening ? { tls: listening.read() } : {}),
      ...(auditing ? { audit: auditing.audit } : {}),
      ...security(settings, logIn?.authentication, permissions.current, api),
    })
    if (listening) {
      certified(listenerExpiry(settings))
      const use = (renewed: SecureContextOptions) => {
        server.setCertificates(renewed)
        certified(listenerExpiry(settings))
      }
      held.push(watchFiles({ ...listening, use, logger }))
    }
    return {
      urls: server.urls,
      stop: async (graceMs = settings['shutdown.graceful.ms']) => {
        await server.stop(graceMs)
        close()
        await auditing?.close()
      },
    }
  } catch (error) {
    close()
    await auditing?.close()
    throw error
  }
}

/** Parses a large body in the compatibility worker. Rejects with `invalid_body` or `too_many_checks`. */
async function parseLarge(examiner: CompatibilityWorker, bytes: Buffer): Promise<unknown> {
  const outcome = await examiner.run({ op: 'body', bytes })
  if ('wrong' in outcome) throw new RegistryError('invalid_body', `the request body can't be used: ${outcome.wrong}`)
  return outcome.result
}

function mediaTypes(settings: RegistryValues): Pick<HttpServerOptions, 'consumes' | 'produces'> {
  const first = settings['response.mediatype.default']
  return {
    // A missing content type and `application/octet-stream` are handled as JSON.
    consumes: [...MEDIA_TYPES, 'application/octet-stream'],
    produces: [first, ...MEDIA_TYPES.filter((type) => type !== first)],
  }
}

function limits(settings: RegistryValues): Pick<HttpServerOptions, 'limits'> {
  const bounded = settings['size.limit.filter.enabled']
  const bodyBytesMax = bounded ? settings['size.limit.filter.max.request.body.size'] : DEFAULT_LIMITS.bodyBytesMax
  return { limits: toHttpLimits(settings, bodyBytesMax) }
}

function security(
  settings: RegistryValues,
  authentication: Authentication | undefined,
  policy: () => PermissionPolicy,
  api: Api,
): Pick<HttpServerOptions, 'access' | 'crossOrigin'> {
  const origins = settings['access.control.allow.origin']
  const methods = settings['access.control.allow.methods']
  const headers = settings['access.control.allow.headers']
  return {
    ...(authentication ? { access: access(settings, authentication, policy, api) } : {}),
    ...(origins === '' ? {} : { crossOrigin: { origins, methods, headers } }),
  }
}

function access(
  settings: RegistryValues,
  authentication: Authentication,
  policy: () => PermissionPolicy,
  api: Api,
): AccessControl {
  const named = settings['authentication.roles']
  return {
    authentication,
    kind: 'subjects',
    policy,
    roles: ROLES.filter((role) => named.includes('*') || named.includes(role)),
    publicPaths: settings['authentication.skip.paths'],
    check: (request) => checkAccess(request, api),
  }
}
