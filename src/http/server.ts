import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions as TlsOptions, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { UserError } from '../common/errors.ts'
import { type Logger, secretMaskerOf } from '../common/logging/logger.ts'
import { maskCredentials } from '../common/secrets/secret-keys.ts'
import { listenerProtocols } from '../tls/tls-protocols.ts'
import { type AccessControl, authorize } from './access-control.ts'
import { type CompletedRequest, logResponses, observeResponses } from './access-log.ts'
import { type AuditLog, auditRequests } from './audit-log.ts'
import { ConnectionLimits } from './connection-limits.ts'
import { addCorsHeaders, type CorsOptions, rejectCrossSiteRequests } from './cors.ts'
import { zodCompilers } from './endpoint.ts'
import { type ErrorResponse, HttpError, toErrorResponse } from './http-error.ts'
import { type CountLimit, limitCounter } from './limit-metrics.ts'
import { DEFAULT_LIMITS, type HttpLimits } from './limit-settings.ts'
import { bindError, type Listener, listenerUrl, parseListener } from './listener-address.ts'
import { negotiateMediaType } from './media-type.ts'
import { addOpenApi, type OpenApiOptions } from './open-api.ts'
import {
  addOperationalRoutes,
  isOperationalPath,
  isProbe,
  type OperationalRoutesOptions,
} from './operational-routes.ts'
import { Rights } from './permissions.ts'
import { createRebindingCheck, type RebindingCheck, rejectReboundRequests } from './rebinding-check.ts'
import { registerLimitedBodyParser } from './request-body-limits.ts'
import { addRequestIds } from './request-id.ts'
import { traceRequests } from './request-tracing.ts'
import { compressResponses } from './response-compression.ts'
import { limitResponseBytes } from './response-limit.ts'
import { answerUnknownRoutes } from './unknown-routes.ts'
import type { Principal } from './users.ts'

export type HttpServerOptions = OperationalRoutesOptions & {
  /** `http://host:port`; port 0 takes a free one. */
  readonly listeners: readonly string[]
  readonly logger: Logger
  readonly routes: (app: FastifyInstance) => void | Promise<void>
  /** Maps the errors of the program to responses; undefined for errors that it does not know. */
  readonly mapError?: (error: unknown) => ErrorResponse | undefined
  /** JSON media types of request bodies, and of responses in order of preference. */
  readonly consumes: readonly string[]
  readonly produces: readonly string[]
  /** Rejects bodies without a content type; otherwise they are parsed as JSON. */
  readonly requiresContentType?: boolean
  /** Required by https listeners: certificates, and `requestCert` for mutual TLS. */
  readonly tls?: TlsOptions
  /**
   * Authentication and authorization. Absent: every request may do everything. `/healthz` and `/readyz` are always
   * public.
   */
  readonly access?: AccessControl
  /** Records requests in the audit log. */
  readonly audit?: AuditLog
  /** Compresses responses with gzip for clients that accept it. */
  readonly compress?: boolean
  /** CORS. Absent: pages of other origins may not call this server. */
  readonly crossOrigin?: CorsOptions
  /** Parses the JSON of request bodies. Default: `JSON.parse`, with which numbers lose digits and notation. */
  readonly parseBody?: (text: string) => unknown
  /** Parses bodies larger than 64 KiB off the main thread; rejects with an `HttpError` if a body is invalid. */
  readonly parseLarge?: (bytes: Buffer) => Promise<unknown>
  /** Default: `DEFAULT_LIMITS`. */
  readonly limits?: Partial<HttpLimits>
  /** Adds `/openapi.json`. */
  readonly openApi?: OpenApiOptions
  /** Adds an `x-request-id` to each response: that of the request, or a new one. */
  readonly addsRequestId?: boolean
  /** Called for every response. */
  readonly onResponse?: (request: CompletedRequest) => void
  /** Called for every connection. */
  readonly onConnection?: (change: ConnectionChange) => void
}

export type ConnectionChange = 'opened' | 'closed'

export type HttpServer = {
  /** One URL per listener, with the bound port. */
  readonly urls: readonly string[]
  /** Closes idle connections immediately and busy ones after `graceMs` (default 2,000). */
  stop(graceMs?: number): Promise<void>
}

export type TlsReloadableServer = HttpServer & {
  /** Uses other certificates for new connections. */
  setCertificates(tls: SecureContextOptions): void
}

/**
 * The HTTP server of every program: listeners, media types, error responses, `/metrics`, `/healthz`, `/readyz`. Throws
 * a `UserError` if a port cannot be bound; then no listener stays open.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<TlsReloadableServer> {
  const listeners = options.listeners.map(parseListener)
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const limited = limitCounter(options.metrics)
  const connections = new ConnectionLimits(limits, limited)
  const isRebound = options.access ? undefined : createRebindingCheck(listeners, options.crossOrigin)
  const app = await createApp(options, { limits, limited, connections, isRebound })
  await options.routes(app)
  await app.ready()
  const bound: { server: Server; url: string }[] = []
  try {
    for (const listener of listeners) bound.push(await bind(app, listener, connections, options))
  } catch (error) {
    connections.close()
    await stopAll(app, bound, 0)
    throw error
  }
  return {
    urls: bound.map(({ url }) => url),
    setCertificates: (tls) => {
      for (const { server } of bound) {
        if (server instanceof TlsServer) server.setSecureContext({ ...listenerProtocols({}), ...tls })
      }
    },
    stop: async (graceMs = 2_000) => {
      connections.close()
      await stopAll(app, bound, graceMs)
    },
  }
}

type AppParts = {
  readonly limits: HttpLimits
  readonly limited: CountLimit
  readonly connections: ConnectionLimits
  readonly isRebound: RebindingCheck | undefined
}

async function createApp(options: HttpServerOptions, parts: AppParts): Promise<FastifyInstance> {
  const { limits, limited, connections, isRebound } = parts
  const app = Fastify({
    loggerInstance: options.logger,
    // A child logger per request costs a fifth of a small response, and nothing logs with it.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    // Enforced by the body parser.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2_048 },
    schemaController: { compilersFactory: zodCompilers },
    frameworkErrors: (error, _request, reply) => sendFrameworkError(error, reply as FastifyReply, options.produces[0]),
    // The originals ignore unknown members; a key named __proto__ is data.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
  }) as unknown as FastifyInstance
  app.decorateRequest('receivedBody', undefined)
  registerLimitedBodyParser(app, {
    limits,
    limited,
    consumes: options.consumes,
    requiresContentType: options.requiresContentType ?? false,
    parse: options.parseBody ?? JSON.parse,
    parseLarge: options.parseLarge,
    onBodyRead: (request) => connections.onBodyRead(request),
  })
  traceRequests(app)
  if (options.addsRequestId || options.audit) addRequestIds(app)
  if (options.audit) auditRequests(app, options.audit)
  if (options.onResponse) observeResponses(app, options.onResponse)
  logResponses(app, options.logger)
  if (options.crossOrigin) addCorsHeaders(app, options.crossOrigin)
  rejectCrossSiteRequests(app, options.crossOrigin)
  if (isRebound) rejectReboundRequests(app, isRebound)
  negotiateResponses(app, options.produces)
  if (options.compress) compressResponses(app)
  limitResponseBytes(app, limits.responsesBytesMax, limited)
  registerAccessControl(app, options.access)
  answerUnknownRoutes(app)
  app.setErrorHandler((error, request, reply) => sendError(options, error, request, reply))
  if (options.openApi) await addOpenApi(app, options.openApi)
  addOperationalRoutes(app, options)
  return app
}

function negotiateResponses(app: FastifyInstance, produces: readonly string[]): void {
  const preferred = produces[0] ?? 'application/json'
  // Also the type of a response to a request that an earlier hook rejects.
  app.decorateRequest('responseType', preferred)
  app.addHook('onRequest', (request, _reply, done) => {
    const type = negotiateMediaType(request.headers.accept, produces)
    request.responseType = type ?? preferred
    done(type === undefined && !isOperationalPath(request.url) ? new HttpError(406) : undefined)
  })
  // Fastify adds a charset. The originals do not, and old clients compare the whole header.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const type = reply.getHeader('content-type')
    if (type === undefined || String(type).startsWith('application/json'))
      reply.header('content-type', request.responseType)
    if (reply.statusCode === 204) reply.removeHeader('content-type')
    done()
  })
}

function registerAccessControl(app: FastifyInstance, access: AccessControl | undefined): void {
  // With authentication, an unauthenticated request has no permissions.
  const defaultRights = access ? Rights.nothing(access.kind) : Rights.everything('subjects')
  app.decorateRequest('principal', undefined)
  app.decorateRequest('claimedName', undefined)
  app.decorateRequest('granted', undefined)
  app.decorateRequest('rights', {
    getter(this: FastifyRequest) {
      return this.granted ?? defaultRights
    },
  })
  app.decorateRequest('reauthorize', access && (async (request, reply) => authorize(access, request, reply)))
  if (!access) return
  app.addHook('onRequest', (request, reply, done) => {
    // The credentials of most requests are cached, and a promise for each of them takes longer than the check.
    const pending = isProbe(request.url) ? undefined : authorize(access, request, reply)
    if (pending instanceof Promise) pending.then(() => done(), done)
    else done()
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Content type of the response. */
    responseType: string
    /** The authenticated principal. Undefined without authentication. */
    principal: Principal | undefined
    /** User name of a failed authentication, for the audit log. */
    claimedName: string | undefined
    /** Set by `authorize`. */
    granted: Rights | undefined
    /** Permissions of this request; all of them without authentication. */
    readonly rights: Rights
    /** Authorizes a request again whose response takes long. Throws as `authorize` does. Absent without authentication. */
    reauthorize: ((request: FastifyRequest, reply: FastifyReply) => Promise<void>) | undefined
  }
}

function sendError(options: HttpServerOptions, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const errorResponse = options.mapError?.(error) ?? toErrorResponse(error)
  if (errorResponse.status >= 500)
    options.logger.error({ err: error, method: request.method, path: maskCredentials(request.url) }, 'request failed')
  // Responses below 500 are not masked: a client could find out secrets by observing which of its own values are
  // masked.
  const body =
    errorResponse.status >= 500 ? secretMaskerOf(options.logger).maskData(errorResponse.body) : errorResponse.body
  void reply.code(errorResponse.status).type('application/json').send(body)
}

/** Answers a request that Fastify rejects before any hook, such as an invalid URL. */
function sendFrameworkError(error: Error, reply: FastifyReply, type = 'application/json'): void {
  const { status, body } = toErrorResponse(error)
  // Sent as bytes, because Fastify adds a charset to strings.
  void reply
    .code(status)
    .header('content-type', type)
    .send(Buffer.from(JSON.stringify(body)))
}

async function bind(
  app: FastifyInstance,
  listener: Listener,
  connections: ConnectionLimits,
  { tls, onConnection }: Pick<HttpServerOptions, 'tls' | 'onConnection'>,
): Promise<{ server: Server; url: string }> {
  const listen: RequestListener = (request, response) => {
    connections.serve(request, response, app.routing)
  }
  const server = createListener(listen, listener, connections.serverOptions, tls)
  connections.watch(server)
  if (onConnection) reportConnections(server, onConnection)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(bindError(listener, error)))
    server.listen({ port: listener.port, ...(listener.host === '' ? {} : { host: listener.host }) }, resolve)
  })
  return { server, url: listenerUrl(listener, (server.address() as AddressInfo).port) }
}

function reportConnections(server: Server, onConnection: (change: ConnectionChange) => void): void {
  server.on('connection', (socket) => {
    onConnection('opened')
    socket.once('close', () => onConnection('closed'))
  })
}

function createListener(
  requestListener: RequestListener,
  listener: Listener,
  options: ConnectionLimits['serverOptions'],
  tls: TlsOptions | undefined,
): Server {
  if (listener.scheme === 'http') return createServer(options, requestListener)
  if (!tls) {
    throw new UserError(
      'invalid_listener',
      'an https listener needs a certificate: set ssl.keystore.location to a PEM or PKCS#12 file',
    )
  }
  return createTlsServer(
    { ...options, handshakeTimeout: options.headersTimeout, ...listenerProtocols({}), ...tls },
    requestListener,
  )
}

async function stopAll(app: FastifyInstance, bound: readonly { server: Server }[], graceMs: number): Promise<void> {
  await Promise.all(bound.map(({ server }) => stopOne(server, graceMs)))
  await app.close()
}

async function stopOne(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeIdleConnections()
  const force = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(force)
}
