import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type CompletedRequest, parseContentLength } from './access-log.ts'
import { REQUEST_ID, requestIdOf } from './request-id.ts'

/** A response as it was sent, without the headers that are specific to one request. */
export type CachedResponse = {
  /** Names and values in turn. The last value is the ID of the request, if the server adds it. */
  readonly headers: (string | string[])[]
  readonly payload: string | Buffer
  /** Encoding of a payload that is a string. ASCII is sent as `latin1`, which copies the characters. */
  readonly encoding: 'latin1' | 'utf8'
  readonly bytes: number
  readonly endpoint: string | undefined
}

/** Everything that determines the response to a request. Two texts, because many requests have the same first one. */
export type CacheKey = {
  /** The headers that determine the form of the response. */
  readonly form: string
  /** The URL of a GET request; the URL, a line break, and the body of a POST request. */
  readonly request: string
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
  readonly #responses = new Map<CacheKey['form'], Map<CacheKey['request'], CachedResponse>>()
  #keptRevision = -1
  #chars = 0

  /** `revision` returns a different number after each change of the state. */
  constructor(revision: () => number) {
    this.#revision = revision
  }

  get({ form, request }: CacheKey): CachedResponse | undefined {
    return this.#keptRevision === this.#revision() ? this.#responses.get(form)?.get(request) : undefined
  }

  /** `revision`: the revision of the state that the response was built from. */
  store({ form, request }: CacheKey, revision: number, response: CachedResponse): void {
    const chars = form.length + request.length + response.payload.length
    if (chars > CHARS_MAX) return
    if (revision !== this.#keptRevision || this.#chars + chars > CHARS_MAX) {
      this.#responses.clear()
      this.#keptRevision = revision
      this.#chars = 0
    }
    const responses = this.#responses.get(form) ?? new Map<CacheKey['request'], CachedResponse>()
    if (responses.has(request)) return
    this.#responses.set(form, responses.set(request, response))
    this.#chars += chars
  }
}

/**
 * Builds cache keys. They exclude credentials: the cache is used only when responses do not depend on the caller. Clients
 * of one kind send the same headers, so the last text of them is kept: a text that is built again has to be hashed again.
 */
class CacheKeys {
  #accept = ''
  #encoding = ''
  #type = ''
  #form = '\n\n'

  of({ url = '', headers }: IncomingMessage, body: string | undefined): CacheKey {
    const { accept = '', 'accept-encoding': encoding = '', 'content-type': type = '' } = headers
    if (accept !== this.#accept || encoding !== this.#encoding || type !== this.#type) {
      this.#accept = accept
      this.#encoding = String(encoding)
      this.#type = type
      this.#form = `${accept}\n${encoding}\n${type}`
    }
    return { form: this.#form, request: body === undefined ? url : `${url}\n${body}` }
  }
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
  /** Called when a request was answered from the cache. */
  readonly onCached: (request: IncomingMessage, response: ServerResponse, cached: CachedResponse) => void
}

/**
 * Wraps `handle`, the request listener of `app`: serves cached responses without running the app, and caches its cacheable
 * 200 responses.
 */
export function cacheResponses(
  app: FastifyInstance,
  handle: RequestListener,
  { revision, addsRequestId, onResponse, onCached }: ResponseCacheOptions,
): RequestListener {
  const cache = new ResponseCache(revision)
  const keys = new CacheKeys()
  const cacheKeys = new WeakMap<IncomingMessage, CacheKey>()
  app.addHook('onSend', (request, reply, payload, done) => {
    const cacheKey = cacheKeys.get(request.raw)
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (cacheKey !== undefined && request.revision !== undefined && reply.statusCode === 200 && isText) {
      const bytes = Buffer.byteLength(payload)
      cache.store(cacheKey, request.revision, {
        headers: rawHeaders({ ...reply.getHeaders(), 'content-length': bytes }, addsRequestId),
        payload,
        encoding: bytes === payload.length ? 'latin1' : 'utf8',
        bytes,
        endpoint: request.routeOptions.config?.metric,
      })
    }
    done(null, payload)
  })
  const respond = (request: IncomingMessage, response: ServerResponse, cacheKey: CacheKey, startMs: number) => {
    const known = cache.get(cacheKey)
    if (!known) {
      cacheKeys.set(request, cacheKey)
      return handle(request, response)
    }
    const { headers, payload, encoding, bytes, endpoint } = known
    // The array can be reused, because `writeHead` copies its values.
    if (addsRequestId) headers[headers.length - 1] = requestIdOf(request)
    response.writeHead(200, headers).end(payload, encoding)
    onCached(request, response, known)
    onResponse?.({
      endpoint,
      status: 200,
      ms: performance.now() - startMs,
      receivedBytes: parseContentLength(request.headers['content-length']),
      sentBytes: bytes,
    })
  }
  return (request, response) => {
    const { method, headers } = request
    const startMs = performance.now()
    const length = Number(headers['content-length'] ?? 0)
    if (method === 'GET' && length === 0) return respond(request, response, keys.of(request, undefined), startMs)
    if (method !== 'POST' || !(length > 0 && length <= BODY_MAX)) return handle(request, response)
    // A body that did not arrive completely in the first read is not looked up. It remains readable.
    request.once('readable', () => {
      const body = request.read() as Buffer | null
      if (body) request.unshift(body)
      if (body?.length !== length) return handle(request, response)
      respond(request, response, keys.of(request, body.toString('latin1')), startMs)
    })
  }
}

function rawHeaders(headers: Readonly<Record<string, unknown>>, addsRequestId: boolean): CachedResponse['headers'] {
  const { [REQUEST_ID]: _, ...shared } = headers
  const present = Object.entries(addsRequestId ? { ...shared, [REQUEST_ID]: '' } : shared)
  return present.flatMap(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)])
}
