import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'

/** Which web pages may call a server, from a browser (CORS). Every text is a comma-separated list. */
export type CorsOptions = {
  /** `*` or origins. */
  readonly origins: string
  readonly methods: string
  /** Empty: whatever is asked for. */
  readonly headers: string
}

/** Answers the question a browser asks before a request, and says in each answer whether its page may read it. */
export function addCorsHeaders(app: FastifyInstance, { origins, methods, headers }: CorsOptions): void {
  const allowed = originsOf(origins)
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
 * Refuses requests that change something and come from a page of another origin, unless the page may call this server. A
 * browser sends such a request without asking first when it looks like a form, and with the user's password.
 */
export function rejectCrossSiteRequests(app: FastifyInstance, crossOrigin: CorsOptions | undefined): void {
  const allowed = originsOf(crossOrigin?.origins ?? '')
  app.addHook('onRequest', (request, _reply, done) => {
    const { origin = '' } = request.headers
    const isRead = request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS'
    if (isRead || allowed.has('*') || allowed.has(origin) || !isFromOtherSite(request)) return done()
    done(
      new HttpError(403, `a page of another origin may not call this server: name it in access.control.allow.origin`),
    )
  })
}

function originsOf(list: string): ReadonlySet<string> {
  return new Set(list.split(',').flatMap((origin) => origin.trim() || []))
}

/** Only browsers send these headers, and no page can choose them: programs are never of another site. */
function isFromOtherSite({ headers }: FastifyRequest): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  // A proxy that serves the page and this server may name another host to this server.
  const own = [host, headers['x-forwarded-host']].map((name) => String(name).toLowerCase())
  return !URL.canParse(origin) || !own.includes(new URL(origin).host)
}
