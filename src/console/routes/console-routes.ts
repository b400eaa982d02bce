import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { packageVersion } from '../../common/package-version.ts'
import { addEndpoint, textResponse } from '../../http/endpoint.ts'
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

/**
 * The console: the page at `/ui`, its files, and what it needs besides the REST API of the program: who the user is and
 * may do (`/ui/api/session`, `/ui/api/rights`), and which objects have changed (`/ui/api/events`, server-sent events).
 * The page itself has no data, so it is public: it asks for credentials when the REST API responds with 401. The other routes
 * disclose nothing about objects that the user may not read.
 */
export function consoleRoutes(app: FastifyInstance, options: ConsoleOptions): void {
  const { program, runtimes, changes, hasResources = false } = options
  const assets = openPageAssets()
  const { html, contentSecurityPolicy } = createPageDocument(assets)
  const streams = new EventStreams(changes)

  const json = { 200: z.record(z.string(), z.unknown()) }

  addEndpoint(app, {
    method: 'GET',
    url: '/ui',
    permission: 'public',
    response: { 200: textResponse('The page.', 'text/html') },
    handler: async (request, reply) => {
      // Relative URLs of the page would be wrong.
      if (request.url.split('?', 1)[0]?.endsWith('/')) return reply.redirect('../ui')
      return secured(reply).header('content-security-policy', contentSecurityPolicy).type('text/html').send(html)
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/assets/*',
    permission: 'public',
    params: z.object({ '*': z.string() }),
    response: { 200: z.unknown() },
    handler: async ({ params, headers }, reply) => {
      const asset = await assets.read(params['*'])
      if (asset === undefined) throw new HttpError(404)
      secured(reply).header('etag', asset.etag).header('vary', 'accept-encoding').type(asset.type)
      if (headers['if-none-match'] === asset.etag) return reply.code(304).send()
      if (!/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.send(asset.body)
      return reply.header('content-encoding', 'gzip').send(asset.zipped)
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/session',
    permission: 'authenticated',
    response: json,
    handler: async (request, reply) => {
      const { principal } = request
      const user = principal ? { name: principal.name, role: principal.role } : null
      return reply.header('cache-control', 'no-store').send({
        program,
        version: packageVersion(),
        user,
        runtimes: await runtimes(request),
        hasResources,
      })
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/rights',
    permission: 'authenticated',
    querystring: z.object({ kind: z.string().default(''), name: z.string().default('') }),
    response: { 200: z.object({ operations: z.array(z.string()) }) },
    handler: async ({ query: { kind, name }, rights }, reply) => {
      if (!isObjectKind(kind)) {
        throw new HttpError(400, `kind '${kind}' is unknown: expected ${Object.keys(ACL_OPERATIONS).join(', ')}`)
      }
      const ofKind = rights.forKind(kind)
      void reply.header('cache-control', 'no-store')
      return { operations: ACL_OPERATIONS[kind].filter((operation) => ofKind.allows(operation, name)) }
    },
  })

  const { status } = options
  if (status)
    addEndpoint(app, {
      method: 'GET',
      url: '/ui/api/status',
      permission: 'authenticated',
      response: json,
      handler: async ({ rights }, reply) => reply.header('cache-control', 'no-store').send(status(rights)),
    })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/events',
    permission: 'authenticated',
    response: { 200: z.unknown() },
    handler: async (request, reply) => {
      const { reauthorize } = request
      const reader = {
        mayRead: (change: ObjectChange) => mayRead(request.rights, change),
        ...(reauthorize && { reauthorize: () => reauthorize(request, reply) }),
      }
      if (!streams.open(reply.raw, reader))
        throw new HttpError(503, 'too many pages are open: this one reads periodically')
      return reply.hijack()
    },
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
