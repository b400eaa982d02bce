import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { allowedOrigins, type CorsOptions } from './cors.ts'
import { HttpError } from './http-error.ts'
import type { Listener } from './listener-address.ts'

/** Whether a request comes from a page that uses DNS rebinding. */
export type RebindingCheck = (request: IncomingMessage) => boolean

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

const LOCALHOST = /^(?:.+\.)?localhost\.?$/i

/**
 * Protects against DNS rebinding: an attacker makes the host name of a web page resolve to 127.0.0.1, so that the browser
 * treats a server on the user's machine as the origin of that page. A server that has no authentication and listens only on
 * loopback addresses must be reachable by local programs only. It therefore accepts requests of browsers only if the `Host`
 * header is `localhost`, an IP address, or the host of an origin in `access.control.allow.origin`. Returns undefined for a
 * server that needs no such check.
 */
export function createRebindingCheck(
  listeners: readonly Listener[],
  crossOrigin: CorsOptions | undefined,
): RebindingCheck | undefined {
  const origins = allowedOrigins(crossOrigin)
  if (origins.has('*') || !listeners.every(({ host }) => isLoopback(host))) return undefined
  const allowed = new Set([...origins].flatMap((origin) => hostnameOf(origin) ?? []))
  let lastAccepted = ''
  return ({ headers, socket }) => {
    const { host = '' } = headers
    // Over TLS, the browser has already rejected the certificate, which does not contain the name of the attacker.
    if (host === lastAccepted || !isFromBrowser(headers) || socket instanceof TLSSocket) return false
    const name = hostnameOf(`http://${host}`)
    if (name === undefined || !(isLocalName(name) || allowed.has(name))) return true
    lastAccepted = host
    return false
  }
}

export function rejectReboundRequests(app: FastifyInstance, isRebound: RebindingCheck): void {
  app.addHook('onRequest', ({ raw, headers: { host = '' } }, _reply, done) => {
    if (!isRebound(raw)) return done()
    const reason = `pages of the host '${host}' may not call this server, which has no authentication and only local clients`
    const remedy = `use localhost as the host, or add http://${host} to access.control.allow.origin`
    done(new HttpError(403, `${reason}: ${remedy}`))
  })
}

/** Browsers send at least one of these headers with each request, and scripts cannot remove it. Most other clients send none of them. */
function isFromBrowser(headers: IncomingMessage['headers']): boolean {
  return (
    headers['accept-language'] !== undefined || headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
  )
}

function isLoopback(host: string): boolean {
  return LOCALHOST.test(host) || (isIP(host) !== 0 && LOOPBACK.check(host, isIPv6(host) ? 'ipv6' : 'ipv4'))
}

function isLocalName(name: string): boolean {
  return LOCALHOST.test(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined
}
