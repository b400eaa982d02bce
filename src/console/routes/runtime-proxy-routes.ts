import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { messageOf } from '../../common/errors.ts'
import { type ClientTls, sharedHttpAgent } from '../../common/http-agent.ts'
import { HttpError } from '../../http/http-error.ts'
import { onceClosed } from '../../http/response-close.ts'

/** How to reach the REST API of a runtime. There are no credentials in it: those of the user are passed on. */
export type ProxiedRuntime = {
  readonly url: string
  readonly tls?: Pick<ClientTls, 'ca' | 'checkServerIdentity'>
}

/** What a request needs besides reaching the runtime. To read records of topics is a permission of its own. */
export type ProxyUse = { readonly changes: boolean; readonly readsRecords: boolean }

/** Undefined for a runtime that does not exist. Throws an `HttpError` if the user may not send the request. */
export type FindRuntime = (
  kind: string,
  name: string,
  access: { readonly request: FastifyRequest; readonly use: ProxyUse },
) => ProxiedRuntime | undefined | Promise<ProxiedRuntime | undefined>

/** The path below which a runtime is available. */
export function proxyPath(kind: string, name: string): string {
  return `/ui/runtimes/${kind}/${encodeURIComponent(name)}`
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const PASSED_ON = ['accept', 'authorization', 'content-type', 'if-none-match']
const PASSED_BACK = ['content-type', 'etag', 'retry-after', 'cache-control']
/** Keep a browser from running a response of a runtime as a page of the console's origin, whatever its content type. */
const NO_PAGE = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' }
const TIMEOUT_MS = 90_000
const PATH = /^\/ui\/runtimes\/[^/]+\/[^/]+(\/.*)?$/s

/**
 * Passes requests on to the REST APIs of runtimes, with the credentials of the user and never with those of this program, so
 * that a page cannot do more than its user.
 */
export function runtimeProxyRoutes(app: FastifyInstance, find: FindRuntime): void {
  void app.register((within, _options, done) => {
    // Bodies are passed on as they are.
    within.removeAllContentTypeParsers()
    within.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
      app.readBody(request, payload),
    )
    within.route<{ Params: { kind: string; name: string } }>({
      method: [...METHODS],
      url: '/ui/runtimes/:kind/:name/*',
      config: { permission: 'authenticated' },
      handler: async (request, reply) => {
        const { kind, name } = request.params
        const path = PATH.exec(request.raw.url ?? '')?.[1] ?? '/'
        const runtime = await find(kind, name, { request, use: useOf(request.method, path) })
        if (runtime === undefined) throw new HttpError(404, `there is no ${kind} ${name} in the configuration`)
        return passOn(request, reply, runtime, { name, path })
      },
    })
    done()
  })
}

/** Requests of these methods and paths ask about what their body contains, and change nothing. */
const QUESTIONS: Readonly<Record<string, RegExp>> = {
  PUT: /^\/connector-plugins\/(?:(?!%2f)[^/])+\/config\/validate$/i,
  POST: /^(?:\/subjects\/(?:(?!%2f)[^/])+|\/compatibility\/.*)$/i,
}

/** Paths of a worker whose responses contain records of topics. */
const RECORDS: Readonly<Record<string, RegExp>> = {
  GET: /^\/+ui\/+api\/+(?:topics\/.+\/records|connectors\/.+\/dead-letters)(?:\/|$)/is,
  // It also resolves placeholders, so it needs the permission to change connectors as well.
  POST: /^\/+ui\/+api\/+connectors\/.+\/preview\/*$/is,
}
const DECODINGS_MAX = 5

function useOf(method: string, path: string): ProxyUse {
  const [asked = ''] = path.split('?', 1)
  const records = RECORDS[method]
  return {
    changes: method !== 'GET' && QUESTIONS[method]?.test(asked) !== true,
    readsRecords: records !== undefined && matchesDecoded(records, asked),
  }
}

/** The runtime decodes the path, and so may a proxy in front of it. */
function matchesDecoded(pattern: RegExp, path: string): boolean {
  let decoded = path
  for (let times = 0; times < DECODINGS_MAX; times++) {
    if (pattern.test(decoded)) return true
    const next = decoded.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
    if (next === decoded) return false
    decoded = next
  }
  return true
}

async function passOn(
  request: FastifyRequest,
  reply: FastifyReply,
  runtime: ProxiedRuntime,
  { name, path }: { readonly name: string; readonly path: string },
) {
  // A proxy in front of the runtime might leave the path of its URL, also after it has decoded the path.
  if (path.split(/[/?\\]|%2f|%5c/i).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw new HttpError(400, 'the path must not contain . or .. as a segment')
  const url = new URL(runtime.url)
  const body = request.body as Buffer | undefined
  const headers = Object.fromEntries(
    PASSED_ON.flatMap((key) => (request.headers[key] ? [[key, request.headers[key]] as const] : [])),
  )
  const stopped = AbortSignal.timeout(TIMEOUT_MS)
  const left = new AbortController()
  onceClosed(reply.raw, () => left.abort())
  const sent = sharedHttpAgent(runtime).send({
    method: request.method,
    url,
    path: `${url.pathname.replace(/\/$/, '')}${path}`,
    headers,
    body,
    isForwarded: true,
    signal: AbortSignal.any([stopped, left.signal]),
  })
  const response = await sent.catch((error: unknown) => {
    throw new HttpError(502, `${name} does not respond: ${stopped.aborted ? 'timeout' : messageOf(error)}`)
  })
  reply.hijack()
  const passedBack = PASSED_BACK.flatMap((key) =>
    response.headers[key] ? [[key, response.headers[key]] as const] : [],
  )
  reply.raw.writeHead(response.status, { ...Object.fromEntries(passedBack), ...NO_PAGE })
  // The client or the runtime went away; there is nobody to report it to.
  await pipeline(response.body, reply.raw).catch(() => undefined)
}
