import type { IncomingMessage, RequestListener } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type CompletedRequest, parseContentLength } from './access-log.ts'
import { REQUEST_ID, requestIdOf } from './request-id.ts'

/** A response as it was sent, without the headers that are specific to one request. */
export type CachedResponse = {
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  readonly payload: string | Buffer
  readonly endpoint: string | undefined
}

/** Maximum total size of keys and payloads, in characters. When it is exceeded, the cache is cleared. */
const CHARS_MAX = 8 * 1024 * 1024
/** Maximum size of a request body, in bytes. Looking up a larger request would cost more than it saves. */
const BODY_MAX = 8 * 1024

/**
 * Caches responses until the state changes. Useful where the state is read far more often than written and many clients
 * send identical requests.
 */
export class ResponseCache {
  readonly #revision: () => number
  readonly #responses = new Map<string, CachedResponse>()
  #keptRevision = -1
  #chars = 0

  /** `revision` returns a different number after each change of the state. */
  constructor(revision: () => number) {
    this.#revision = revision
  }

  get(cacheKey: string): CachedResponse | undefined {
    return this.#keptRevision === this.#revision() ? this.#responses.get(cacheKey) : undefined
  }

  /** `revision`: the revision of the state that the response was built from. */
  store(cacheKey: string, revision: number, response: CachedResponse): void {
    const chars = cacheKey.length + response.payload.length
    if (chars > CHARS_MAX) return
    if (revision !== this.#keptRevision || this.#chars + chars > CHARS_MAX) {
      this.#responses.clear()
      this.#keptRevision = revision
      this.#chars = 0
    }
    if (this.#responses.has(cacheKey)) return
    this.#responses.set(cacheKey, response)
    this.#chars += chars
  }
}

/**
 * Calls `onCacheKey` with the cache key of a request: everything that determines its response. Excludes credentials: the
 * cache is used only when responses do not depend on the caller. The key is undefined for a request that is not looked
 * up: a method other than GET and POST, a body longer than `BODY_MAX`, or one that did not arrive completely in the first
 * read. The body remains readable.
 */
function readCacheKey(request: IncomingMessage, onCacheKey: (cacheKey: string | undefined) => void): void {
  const length = Number(request.headers['content-length'] ?? 0)
  if (request.method === 'GET' && length === 0) onCacheKey(cacheKeyOf(request, ''))
  else if (request.method !== 'POST' || !(length > 0 && length <= BODY_MAX)) onCacheKey(undefined)
  else readBodyCacheKey(request, length, onCacheKey)
}

function readBodyCacheKey(
  request: IncomingMessage,
  length: number,
  onCacheKey: (cacheKey: string | undefined) => void,
): void {
  request.once('readable', () => {
    const body = request.read() as Buffer | null
    if (body) request.unshift(body)
    onCacheKey(body?.length === length ? cacheKeyOf(request, body.toString('latin1')) : undefined)
  })
}

function cacheKeyOf({ method, url, headers }: IncomingMessage, body: string): string {
  const { accept = '', 'accept-encoding': encoding = '', 'content-type': type = '' } = headers
  return `${method} ${url}\n${accept}\n${encoding}\n${type}\n${body}`
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Revision of the state that the response was built from. Undefined: the response is not cacheable. */
    revision: number | undefined
  }
}

export type ResponseCacheOptions = {
  readonly revision: () => number
  readonly addsRequestId: boolean
  readonly onResponse: ((request: CompletedRequest) => void) | undefined
}

/**
 * Wraps `handle`, the request listener of `app`: serves cached responses without running the app, and caches its cacheable
 * 200 responses.
 */
export function cacheResponses(
  app: FastifyInstance,
  handle: RequestListener,
  { revision, addsRequestId, onResponse }: ResponseCacheOptions,
): RequestListener {
  const cache = new ResponseCache(revision)
  const cacheKeys = new WeakMap<IncomingMessage, string>()
  app.addHook('onSend', (request, reply, payload, done) => {
    const cacheKey = cacheKeys.get(request.raw)
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (cacheKey !== undefined && request.revision !== undefined && reply.statusCode === 200 && isText) {
      const all: CachedResponse['headers'] = { ...reply.getHeaders(), 'content-length': Buffer.byteLength(payload) }
      const { [REQUEST_ID]: _, ...headers } = all
      cache.store(cacheKey, request.revision, { headers, payload, endpoint: request.routeOptions.config?.metric })
    }
    done(null, payload)
  })
  return (request, response) => {
    const startMs = performance.now()
    readCacheKey(request, (cacheKey) => {
      const known = cacheKey === undefined ? undefined : cache.get(cacheKey)
      if (!known) {
        if (cacheKey !== undefined) cacheKeys.set(request, cacheKey)
        return handle(request, response)
      }
      const { headers, payload, endpoint } = known
      response.writeHead(200, addsRequestId ? { ...headers, [REQUEST_ID]: requestIdOf(request) } : headers).end(payload)
      onResponse?.({
        endpoint,
        status: 200,
        ms: performance.now() - startMs,
        receivedBytes: parseContentLength(request.headers['content-length']),
        sentBytes: parseContentLength(headers['content-length']),
      })
    })
  }
}
