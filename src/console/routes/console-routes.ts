import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { packageVersion } from '../../common/package-version.ts'
import { HttpError } from '../../http/http-error.ts'
import { ACL_OPERATIONS, type ObjectKind, type Rights } from '../../http/permissions.ts'
import { openPageAssets } from '../assets.ts'
import type { ChangeFeed, ObjectChange } from '../change-feed.ts'
import { EventStreams } from '../event-streams.ts'
import { createPageDocument } from '../page-document.ts'

/** A runtime that the page shows. */
export type ConsoleRuntime = {
  readonly kind: 'worker' | 'registry'
  readonly name: string
  /** Path of its REST API on this server, without a slash at the end; empty for the runtime that serves the page. */
  readonly basePath: string
  /** The user may not change it, whatever the runtime itself permits. */
  readonly isReadOnly?: boolean
}

export type ConsoleOptions = {
  readonly program: 'worker' | 'registry' | 'operator'
  /** The runtimes that the user of the request may reach. */
  readonly runtimes: (request: FastifyRequest) => readonly ConsoleRuntime[] | Promise<readonly ConsoleRuntime[]>
  readonly changes: ChangeFeed
  /** Whether the program serves the resources that declare connectors and subjects, at `/ui/api/resources`. */
  readonly hasResources?: boolean
  /** The state of the program that its REST API does not have, at `/ui/api/status`. */
  readonly status?: (rights: Rights) => object
}

/** The page itself has no data, so it is public: it asks for credentials when the REST API responds with 401. */
export const PUBLIC_CONSOLE_PATHS: readonly string[] = ['/ui', '/ui/', '/ui/assets/*']

/** The routes of the console, which disclose nothing about objects that the user may not read. */
export const CONSOLE_ROUTES: ReadonlySet<string> = new Set([
  '/ui',
  '/ui/assets/*',
  '/ui/api/session',
  '/ui/api/rights',
  '/ui/api/status',
  '/ui/api/events',
])

/**
 * The console: the page at `/ui`, its files, and what it needs besides the REST API of the program: who the user is and
 * may do (`/ui/api/session`, `/ui/api/rights`), and which objects have changed (`/ui/api/events`, server-sent events).
 */
export function consoleRoutes(app: FastifyInstance, options: ConsoleOptions): void {
  const { program, runtimes, changes, hasResources = false } = options
  const assets = openPageAssets()
  const { html, contentSecurityPolicy } = createPageDocument(assets)
  const streams = new EventStreams(changes)

  app.get('/ui', async (request, reply) => {
    // Relative URLs of the page would be wrong.
    if (request.url.split('?', 1)[0]?.endsWith('/')) return reply.redirect('../ui')
    return secured(reply).header('content-security-policy', contentSecurityPolicy).type('text/html').send(html)
  })

  app.get<{ Params: { '*': string } }>('/ui/assets/*', async ({ params, headers }, reply) => {
    const asset = await assets.read(params['*'])
    if (asset === undefined) throw new HttpError(404)
    secured(reply).header('etag', asset.etag).header('vary', 'accept-encoding').type(asset.type)
    if (headers['if-none-match'] === asset.etag) return reply.code(304).send()
    if (!/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.send(asset.body)
    return reply.header('content-encoding', 'gzip').send(asset.zipped)
  })

  app.get('/ui/api/session', async (request, reply) => {
    const { principal } = request
    const user = principal ? { name: principal.name, role: principal.role } : null
    return reply.header('cache-control', 'no-store').send({
      program,
      version: packageVersion(),
      user,
      runtimes: await runtimes(request),
      hasResources,
    })
  })

  app.get<{ Querystring: { kind?: string; name?: string } }>('/ui/api/rights', async ({ query, rights }, reply) => {
    const { kind = '', name = '' } = query
    if (!isObjectKind(kind)) {
      throw new HttpError(400, `kind '${kind}' is unknown: expected ${Object.keys(ACL_OPERATIONS).join(', ')}`)
    }
    const ofKind = rights.forKind(kind)
    const operations = ACL_OPERATIONS[kind].filter((operation) => ofKind.allows(operation, name))
    return reply.header('cache-control', 'no-store').send({ operations })
  })

  const { status } = options
  if (status)
    app.get('/ui/api/status', async ({ rights }, reply) =>
      reply.header('cache-control', 'no-store').send(status(rights)),
    )

  app.get('/ui/api/events', (request, reply) => {
    const { reauthorize } = request
    const reader = {
      mayRead: (change: ObjectChange) => mayRead(request.rights, change),
      ...(reauthorize && { reauthorize: () => reauthorize(request, reply) }),
    }
    if (!streams.open(reply.raw, reader))
      throw new HttpError(503, 'too many pages are open: this one reads periodically')
    reply.hijack()
  })
}

/** A change without a name says only that something of its kind has changed. */
function mayRead(rights: Rights, { kind, name }: ObjectChange): boolean {
  if (kind === 'resource' || name === null) return true
  return rights.forKind(kind === 'subject' ? 'subjects' : 'connectors').allows('read', name)
}

function isObjectKind(kind: string): kind is ObjectKind {
  return Object.hasOwn(ACL_OPERATIONS, kind)
}

function secured(reply: FastifyReply): FastifyReply {
  return reply
    .header('cache-control', 'no-cache')
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
}
