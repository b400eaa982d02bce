import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions as TlsOptions, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { UserError } from '../config/errors.ts'
import { type Logger, secretMaskerOf } from '../config/logger.ts'
import type { Metrics } from '../config/metrics.ts'
import { maskCredentials } from '../config/secret-keys.ts'
import { listenerProtocols } from '../config/tls-protocols.ts'
import { type AccessControl, authorize } from './access-control.ts'
import { type CompletedRequest, logResponses, observeResponses } from './access-log.ts'
import { type AuditLog, auditRequests } from './audit-log.ts'
import { compressResponses } from './compression.ts'
import { Connections } from './connections.ts'
import { addCorsHeaders, type CorsOptions, rejectCrossSiteRequests } from './cors.ts'
import { type ErrorResponse, HttpError, toErrorResponse } from './http-error.ts'
import { type CountLimit, limitCounter } from './limit-metrics.ts'
import { DEFAULT_LIMITS, type HttpLimits } from './limits.ts'
import { bindError, type Listener, listenerUrl, parseListener } from './listener.ts'
import { negotiateMediaType } from './media-type.ts'
import { type Principal, Rights } from './permissions.ts'
import { registerBodyParser } from './request-body.ts'
import { addRequestIds } from './request-id.ts'
import { cacheResponses } from './response-cache.ts'
import { limitResponseBytes } from './response-limit.ts'

export type HttpServerOptions = {
  /** `http://host:port`; port 0 takes a free one. */
  readonly listeners: readonly string[]
  readonly logger: Logger
  readonly routes: (app: FastifyInstance) => void | Promise<void>
  /** Errors with a code of the program's own; undefined leaves them to the edge. */
  readonly mapError?: (error: unknown) => ErrorResponse | undefined
  /** JSON media types: those taken as request bodies, and those answered, best first. */
  readonly consumes: readonly string[]
  readonly produces: readonly string[]
  /** A body that does not say its media type is refused; otherwise it is taken for JSON. */
  readonly requiresContentType?: boolean
  readonly metrics?: Metrics
  /** Whether the process lives in more than answering: `/healthz`. Default: it does. */
  readonly isHealthy?: () => boolean
  /** Whether this server can do its work now: `/readyz`. */
  readonly isReady?: () => boolean
  /** Needed by https listeners: certificates, and `requestCert` for mutual TLS. */
  readonly tls?: TlsOptions
  /** BASIC authentication; absent: everybody may do everything. `/healthz` and `/readyz` are always open. */
  readonly access?: AccessControl
  /** Who did what is recorded. */
  readonly audit?: AuditLog
  /** Whether long answers go in gzip to those who take it. */
  readonly compress?: boolean
  /** Absent: no page of another origin may call this server. */
  readonly crossOrigin?: CorsOptions
  /** Reads bodies of more than 64 KiB where nobody waits for it; a refusal says why one can't be used. */
  readonly parseLarge?: (bytes: Buffer) => Promise<unknown>
  /** Default: those of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<HttpLimits>
  /** Whether each answer has an `x-request-id`: that of its request, or a new one. */
  readonly requestIds?: boolean
  /** Hears of every answer. */
  readonly onResponse?: (request: CompletedRequest) => void
  /** Hears of every connection. */
  readonly onConnection?: (change: ConnectionChange) => void
  /**
   * Another number after every change of what routes tell of. A route that sets `request.revision` to the one it read is
   * not asked again by the same words until it changes. Without effect with `access` or `crossOrigin`.
   */
  readonly stateRevision?: () => number
}

export type ConnectionChange = 'opened' | 'closed'

export type HttpServer = {
  /** One a listener, with the port that was really taken. */
  readonly urls: readonly string[]
  /** Ends idle connections at once and busy ones after `graceMs` (default 2,000). */
  stop(graceMs?: number): Promise<void>
}

export type TlsReloadableServer = HttpServer & {
  /** Serves new connections with another certificate. */
  setCertificates(tls: SecureContextOptions): void
}

/**
 * The HTTP server of every program: listeners, media types, error envelope, `/metrics`, `/healthz`, `/readyz`.
 * A port that can't be taken is a `UserError`, and nothing is left listening.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<TlsReloadableServer> {
  const listeners = options.listeners.map(parseListener)
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const limited = limitCounter(options.metrics)
  const connections = new Connections(limits, limited)
  const app = createApp(options, { limits, limited, connections })
  const answer = createAnswerer(app, options)
  await options.routes(app)
  await app.ready()
  const bound: { server: Server; url: string }[] = []
  try {
    for (const listener of listeners) bound.push(await bind(answer, listener, connections, options))
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

type Bounds = { readonly limits: HttpLimits; readonly limited: CountLimit; readonly connections: Connections }

function createApp(options: HttpServerOptions, { limits, limited, connections }: Bounds): FastifyInstance {
  const app = Fastify({
    loggerInstance: options.logger,
    // A logger of its own for each request would cost a fifth of a small answer, and nothing is logged with it.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    // Checked where bodies are read.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2_048 },
    schemaController: { compilersFactory: { buildValidator: withoutSchema, buildSerializer: withoutSchema } },
    frameworkErrors: (error, _request, reply) => answerUnrouted(error, reply as FastifyReply, options.produces[0]),
    // The originals ignore what they don't know; a key named __proto__ is only data.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
  }) as unknown as FastifyInstance
  registerBodyParser(app, {
    limits,
    limited,
    consumes: options.consumes,
    requiresContentType: options.requiresContentType ?? false,
    parseLarge: options.parseLarge,
    onBodyRead: (request) => connections.arrived(request),
  })
  if (options.requestIds || options.audit) addRequestIds(app)
  if (options.audit) auditRequests(app, options.audit)
  if (options.onResponse) observeResponses(app, options.onResponse)
  logResponses(app, options.logger)
  if (options.crossOrigin) addCorsHeaders(app, options.crossOrigin)
  rejectCrossSiteRequests(app, options.crossOrigin)
  answerAs(app, options.produces)
  if (options.compress) compressResponses(app)
  limitResponseBytes(app, limits.responsesBytesMax, limited)
  guard(app, options.access)
  const methodsOf = rememberRoutes(app)
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(request.url)
    if (methods.length === 0) throw new HttpError(404)
    if (request.method !== 'OPTIONS') throw new HttpError(405)
    const allowed = METHODS.filter((method) => method === 'OPTIONS' || methods.includes(method))
    return reply.type('text/plain').header('allow', allowed.join(',')).send(allowed.join(', '))
  })
  app.setErrorHandler((error, request, reply) => answerError(options, error, request, reply))
  addOwnRoutes(app, options)
  return app
}

/** Our routes have no schemas of Fastify's; to be ready for them it would load Ajv and another compiler at every start. */
function withoutSchema(): never {
  throw new Error('a route has a schema, and nothing that compiles it')
}

/** The app, before which, where nobody has to be let in first, stand the answers that it has given. */
function createAnswerer(app: FastifyInstance, options: HttpServerOptions): RequestListener {
  const ask: RequestListener = (request, response) => app.routing(request, response)
  const {
    stateRevision: revision,
    requestIds = false,
    onResponse: answered,
    access,
    audit,
    crossOrigin,
    logger,
  } = options
  if (!revision || access || audit || crossOrigin || logger.isLevelEnabled('debug')) return ask
  return cacheResponses(app, ask, { revision, requestIds, answered })
}

/** In the order in which both originals list them. */
const METHODS = ['HEAD', 'POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

function answerAs(app: FastifyInstance, produces: readonly string[]): void {
  app.decorateRequest('answerType', produces[0] ?? 'application/json')
  app.addHook('onRequest', (request, _reply, done) => {
    const type = negotiateMediaType(request.headers.accept, produces)
    request.answerType = type ?? produces[0] ?? 'application/json'
    done(type === undefined && !isOwnPath(request.url) ? new HttpError(406) : undefined)
  })
  // Fastify names a charset; the originals don't, and old clients compare the whole header.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const type = reply.getHeader('content-type')
    if (type === undefined || String(type).startsWith('application/json'))
      reply.header('content-type', request.answerType)
    if (reply.statusCode === 204) reply.removeHeader('content-type')
    done()
  })
}

function guard(app: FastifyInstance, access: AccessControl | undefined): void {
  // Where there is a log-in, a request that did not pass it may do nothing.
  const otherwise = access ? Rights.nothing(access.kind) : Rights.everything('subjects')
  app.decorateRequest('principal', undefined)
  app.decorateRequest('claimedName', undefined)
  app.decorateRequest('granted', undefined)
  app.decorateRequest('rights', {
    getter(this: FastifyRequest) {
      return this.granted ?? otherwise
    },
  })
  if (!access) return
  app.addHook('onRequest', async (request, reply) => {
    if (!OPEN_PATHS.has(pathOf(request.url))) await authorize(access, request, reply)
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What this request is answered with. */
    answerType: string
    /** Who makes this request; undefined where nobody has to log in. */
    principal: Principal | undefined
    /** The name that a log-in was tried with. */
    claimedName: string | undefined
    /** Set by the log-in. */
    granted: Rights | undefined
    /** What this request may do; everything where nobody has to log in. */
    readonly rights: Rights
  }
}

/** Knows which methods a path has, so that a wrong one is a 405 and not a 404. */
function rememberRoutes(app: FastifyInstance): (url: string) => readonly string[] {
  const routes: { readonly url: string; readonly method: string }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    for (const one of [method].flat()) routes.push({ url, method: one })
  })
  return (url) => {
    const path = pathOf(url)
    return routes.filter((route) => isRouteOf(route.url, path)).map(({ method }) => method)
  }
}

/** The one constraint that a parameter of our routes has. */
const WHOLE_NUMBER = '(^-?\\d+$)'

/** `:name` stands for one segment that is not empty, `:name(^-?\d+$)` for a whole number, `*` at the end for the rest. */
function isRouteOf(route: string, path: string): boolean {
  if (route.endsWith('*')) return path.startsWith(route.slice(0, -1))
  const wanted = route.split('/')
  const segments = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  return segments.length === wanted.length && wanted.every((one, at) => isSegmentOf(one, segments[at] ?? ''))
}

function isSegmentOf(wanted: string, segment: string): boolean {
  if (!wanted.startsWith(':')) return wanted === segment
  return wanted.endsWith(WHOLE_NUMBER) ? /^-?\d+$/.test(segment) : segment !== ''
}

function answerError(options: HttpServerOptions, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const wire = options.mapError?.(error) ?? toErrorResponse(error)
  if (wire.status >= 500)
    options.logger.error({ err: error, method: request.method, path: maskCredentials(request.url) }, 'request failed')
  // A request's own words are not masked: whoever made it could find out secrets by guessing what is.
  const body = wire.status >= 500 ? secretMaskerOf(options.logger).maskData(wire.body) : wire.body
  void reply.code(wire.status).type('application/json').send(body)
}

/** A path that is no URL reaches no hook and no handler. */
function answerUnrouted(error: Error, reply: FastifyReply, type = 'application/json'): void {
  const { status, body } = toErrorResponse(error)
  // Bytes: to a text fastify adds a charset.
  void reply
    .code(status)
    .header('content-type', type)
    .send(Buffer.from(JSON.stringify(body)))
}

/** Probes carry no password. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

function isOwnPath(url: string): boolean {
  return OPEN_PATHS.has(pathOf(url)) || pathOf(url) === '/metrics'
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url
}

function addOwnRoutes(app: FastifyInstance, { metrics, isHealthy, isReady }: HttpServerOptions): void {
  const probe = (path: string, isSo: () => boolean, not: string): void => {
    app.get(path, async (_, reply) => {
      const [code, text] = isSo() ? [200, 'ok'] : [503, not]
      return reply.code(code).type('text/plain').send(`${text}\n`)
    })
  }
  probe('/healthz', isHealthy ?? (() => true), 'stuck')
  probe('/readyz', isReady ?? (() => true), 'not ready')
  if (metrics) app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.metrics()))
}

async function bind(
  answer: RequestListener,
  listener: Listener,
  connections: Connections,
  { tls, onConnection }: Pick<HttpServerOptions, 'tls' | 'onConnection'>,
): Promise<{ server: Server; url: string }> {
  const bounded: RequestListener = (request, response) => {
    connections.serve(request, response, () => answer(request, response))
  }
  const server = createListener(bounded, listener, connections.serverOptions, tls)
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
  answer: RequestListener,
  listener: Listener,
  options: Connections['serverOptions'],
  tls: TlsOptions | undefined,
): Server {
  if (listener.scheme === 'http') return createServer(options, answer)
  if (!tls) {
    throw new UserError(
      'invalid_listener',
      'an https listener needs a certificate: set ssl.keystore.location to a PEM or PKCS#12 file',
    )
  }
  return createTlsServer(
    { ...options, handshakeTimeout: options.headersTimeout, ...listenerProtocols({}), ...tls },
    answer,
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
