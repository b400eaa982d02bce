import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'

/** CORS: which web pages may call a server from a browser. All values are comma-separated lists. */
export type CorsOptions = {
  /** `*` or origins. */
  readonly origins: string
  readonly methods: string
  /** Empty: the headers that a preflight request asks for. */
  readonly headers: string
}

/**
 * Answers preflight requests and adds the CORS headers to responses. `@fastify/cors` adds a route `OPTIONS *`, with which no
 * path would be unknown and `OPTIONS` could not list the methods of a path.
 */
export function addCorsHeaders(app: FastifyInstance, crossOrigin: CorsOptions): void {
  const { methods, headers } = crossOrigin
  const allowed = allowedOrigins(crossOrigin)
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (origin === undefined || !(allowed.has('*') || allowed.has(origin))) return done()
    void reply.header('access-control-allow-origin', allowed.has('*') ? '*' : origin).header('vary', 'Origin')
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return done()
    const asked = request.headers['access-control-request-headers'] ?? ''
    void reply
      .code(204)
      .header('access-control-allow-methods', methods)
      .header('access-control-allow-headers', headers === '' ? asked : headers)
      .send()
  })
}

/**
 * Rejects state-changing requests from pages of other origins, unless CORS permits the origin. A browser sends
 * form-like requests without a preflight request and with the credentials of the user (CSRF).
 */
export function rejectCrossSiteRequests(app: FastifyInstance, crossOrigin: CorsOptions | undefined): void {
  const allowed = allowedOrigins(crossOrigin)
  app.addHook('onRequest', (request, _reply, done) => {
    const { origin = '' } = request.headers
    const isRead = request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS'
    if (isRead || allowed.has('*') || allowed.has(origin) || !isCrossSite(request)) return done()
    done(
      new HttpError(
        403,
        'pages of this origin may not call this server: add the origin to access.control.allow.origin',
      ),
    )
  })
}

/** `*` or the origins whose pages may call a server. */
export function allowedOrigins(crossOrigin: CorsOptions | undefined): ReadonlySet<string> {
  return new Set((crossOrigin?.origins ?? '').split(',').flatMap((origin) => origin.trim() || []))
}

/** Only browsers send these headers, and pages cannot change them. Other clients are never rejected. */
function isCrossSite({ headers }: FastifyRequest): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  // Behind a proxy, the host of this request may differ from the one of the page.
  const own = [host, headers['x-forwarded-host']].map((name) => String(name).toLowerCase())
  return !URL.canParse(origin) || !own.includes(new URL(origin).host)
}
