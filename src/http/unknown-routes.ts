import type { FastifyInstance } from 'fastify'
import { HttpError } from './http-error.ts'
import { pathOf } from './url-path.ts'

/** In the order of the `Allow` header of both originals. */
const METHODS = ['HEAD', 'POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Answers requests without a route: 405 if the path has routes with other methods, else 404; `OPTIONS` lists them. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const methodsOf = trackRouteMethods(app)
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(request.url)
    // The router takes a path with a slash at the end for the path without it, which may have no route.
    if (methods.length === 0 || methods.includes(request.method)) throw new HttpError(404)
    if (request.method !== 'OPTIONS') throw new HttpError(405)
    const allowed = METHODS.filter((method) => method === 'OPTIONS' || methods.includes(method))
    return reply.type('text/plain').header('allow', allowed.join(',')).send(allowed.join(', '))
  })
}

/** Returns the methods of a path, so that an unsupported method is answered with 405 instead of 404. */
function trackRouteMethods(app: FastifyInstance): (url: string) => readonly string[] {
  const routes: { readonly url: string; readonly method: string }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    for (const one of [method].flat()) routes.push({ url, method: one })
  })
  return (url) => {
    const path = pathOf(url)
    return routes.filter((route) => isRouteOf(route.url, path)).map(({ method }) => method)
  }
}

/** The only parameter constraint that routes use. */
const WHOLE_NUMBER = '(^-?\\d+$)'

/** `:name` matches one non-empty segment, `:name(^-?\d+$)` an integer, a trailing `*` the rest of the path. */
function isRouteOf(route: string, path: string): boolean {
  if (route.endsWith('*')) return path.startsWith(route.slice(0, -1))
  const expected = route.split('/')
  const segments = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  return segments.length === expected.length && expected.every((one, at) => isSegmentOf(one, segments[at] ?? ''))
}

function isSegmentOf(expected: string, segment: string): boolean {
  if (!expected.startsWith(':')) return expected === segment
  return expected.endsWith(WHOLE_NUMBER) ? /^-?\d+$/.test(segment) : segment !== ''
}
