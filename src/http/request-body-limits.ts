import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { JsonStructure } from '../common/json-structure.ts'
import { Semaphore } from '../common/semaphore.ts'
import { jsonTextOf, parseWrittenJson } from '../common/written-json.ts'
import { HttpError } from './http-error.ts'
import type { CountLimit, LimitReason } from './limit-metrics.ts'
import type { HttpLimits } from './limit-settings.ts'
import { onceClosed } from './response-close.ts'

export type RequestBodyOptions = {
  readonly limits: HttpLimits
  readonly limited: CountLimit
  /** Accepted JSON media types. */
  readonly consumes: readonly string[]
  /** True: a body without a content type is rejected. False: it is parsed as JSON. */
  readonly requiresContentType: boolean
  /** Whether integers beyond 2^53 in bodies become bigints. */
  readonly parse: (text: string) => unknown
  /** Parses bodies of more than 64 KiB in another thread. Undefined: they are parsed in this thread. */
  readonly parseLarge: ((bytes: Buffer) => Promise<unknown>) | undefined
  /** Called when a request was received completely. */
  readonly onBodyRead: (request: IncomingMessage) => void
}

/** Bodies up to this size do not use the byte budget; the number of connections bounds their memory. */
const SMALL_BYTES_MAX = 64 * 1024
/** A body that is slower after `headerTimeoutMs` is rejected, because it would occupy the byte budget for too long. */
const BYTES_PER_MS_MIN = (128 * 1024) / 1_000
const PACE_CHECK_MS = 1_000
/** Maximum number of names and values in a body that is parsed in this thread, which takes about 40 ms. */
const PARTS_MAX = 100_000
const RETRY_AFTER_S = '5'
/** Maximum time to receive the rest of a rejected body. */
const DRAIN_MS_MAX = 5_000

declare module 'fastify' {
  interface FastifyRequest {
    /** Releases the bytes that this request has acquired from the byte budget. */
    releaseBody: (() => void) | undefined
    /** Whether the response to a request with a large body is closed, so that nothing would release further bytes. */
    isResponseClosed: boolean
    /** True: the rest of a rejected body is read and discarded, so that the client reads the response. */
    isBodyDrained: boolean
  }
  interface FastifyInstance {
    /** For the parser of a route that passes bodies on as they are: receives a body, with the limits of all bodies. */
    readBody(request: FastifyRequest, payload: IncomingMessage): Promise<Buffer>
  }
}

/** Registers a parser that enforces the limits of request bodies and parses them as JSON. */
export function registerLimitedBodyParser(app: FastifyInstance, options: RequestBodyOptions): void {
  const bodies = new LimitedBodyReader(options)
  app.decorateRequest('releaseBody', undefined)
  app.decorateRequest('isResponseClosed', false)
  app.decorateRequest('isBodyDrained', false)
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': type } = request.headers
    // The budget is held until the response is sent or aborted, because the parsed body uses memory, too.
    if (encoding !== undefined || Number(length) > SMALL_BYTES_MAX) {
      onceClosed(reply.raw, () => {
        request.isResponseClosed = true
        request.releaseBody?.()
      })
    }
    // The stream of a request without a body has ended before (`optimizeEmptyRequests`); a parser would wait for its end.
    done(null, payload.readableEnded && type !== undefined ? Readable.from([]) : payload)
  })
  // Fastify adds `connection: close` to a response before the end of the body; the client might see the close first.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.isBodyDrained) {
      reply.removeHeader('connection')
      if (reply.statusCode === 503) reply.header('retry-after', RETRY_AFTER_S)
    }
    done()
  })
  app.removeAllContentTypeParsers()
  app.decorate('readBody', (request: FastifyRequest, payload: IncomingMessage) => bodies.readBytes(request, payload))
  const read = (request: FastifyRequest, payload: IncomingMessage) => bodies.read(request, payload)
  app.addContentTypeParser([...options.consumes], read)
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { 'content-type': type, 'content-length': length } = request.headers
    if (type !== undefined || (options.requiresContentType && length !== '0')) throw new HttpError(415)
    return read(request, payload)
  })
}

class LimitedBodyReader {
  readonly #options: RequestBodyOptions
  readonly #budget: Semaphore
  readonly #arriving = new Set<ArrivingBody>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: RequestBodyOptions) {
    this.#options = options
    this.#budget = new Semaphore(options.limits.bodiesBytesMax)
  }

  async read(request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
    const { parseLarge, parse } = this.#options
    const structure = parseLarge ? undefined : new JsonStructure(PARTS_MAX)
    const bytes = await this.readBytes(request, payload, structure)
    if (parseLarge && bytes.length > SMALL_BYTES_MAX) return parseLarge(bytes)
    if (bytes.length === 0) return undefined
    return parseJson(bytes, request.routeOptions.config.hasWrittenNumbers ? parseWrittenJson : parse)
  }

  /** Without `structure`, the body is not checked for structures that are slow to parse. */
  async readBytes(request: FastifyRequest, payload: IncomingMessage, structure?: JsonStructure): Promise<Buffer> {
    const { limits, limited, onBodyRead } = this.#options
    const body = new ArrivingBody({ request, payload, limits, limited, budget: this.#budget, structure })
    this.#arriving.add(body)
    this.#timer ??= setInterval(() => this.#checkPace(), PACE_CHECK_MS).unref()
    let bytes: Buffer
    try {
      bytes = await body.whole
    } finally {
      this.#arriving.delete(body)
    }
    onBodyRead(request.raw)
    return bytes
  }

  #checkPace(): void {
    const nowMs = performance.now()
    for (const body of this.#arriving) body.checkPace(nowMs)
    if (this.#arriving.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

type ArrivingBodyOptions = Pick<RequestBodyOptions, 'limits' | 'limited'> & {
  readonly request: FastifyRequest
  readonly payload: IncomingMessage
  readonly budget: Semaphore
  /** Undefined if this thread does not parse the body. */
  readonly structure: JsonStructure | undefined
}

/** A body that is being received. Reading is paused while it waits for the byte budget. */
class ArrivingBody {
  readonly whole: Promise<Buffer>
  readonly #request: FastifyRequest
  readonly #payload: IncomingMessage
  readonly #options: Pick<RequestBodyOptions, 'limits' | 'limited'>
  readonly #budget: Semaphore
  readonly #structure: JsonStructure | undefined
  /** The content length, or the limit if there is none. */
  readonly #bytesMax: number
  readonly #settled = Promise.withResolvers<Buffer>()
  /** Allocated for the first of several chunks. */
  #bytes: Buffer | undefined
  #capacity: number
  #used = 0
  #startMs = performance.now()
  #isWaiting = false
  #isEnded = false

  constructor({ request, payload, limits, limited, budget, structure }: ArrivingBodyOptions) {
    const { 'content-length': announced } = request.headers
    const { bodyBytesMax } = limits
    this.#request = request
    this.#payload = payload
    this.#options = { limits, limited }
    this.#budget = budget
    this.#structure = structure
    this.#bytesMax = announced === undefined ? bodyBytesMax : Number(announced)
    this.#capacity = Math.min(this.#bytesMax, SMALL_BYTES_MAX)
    this.whole = this.#settled.promise
    if (this.#bytesMax > bodyBytesMax) this.#refuse('body_too_large', new HttpError(413, TOO_LARGE))
    else payload.on('data', this.#add).once('end', this.#end).once('error', this.#abort).once('close', this.#abort)
  }

  checkPace(nowMs: number): void {
    if (this.#isWaiting) return
    const allowedMs = this.#options.limits.headerTimeoutMs + this.#used / BYTES_PER_MS_MIN
    if (nowMs - this.#startMs > allowedMs) this.#refuse('body_too_slow', new HttpError(408))
  }

  readonly #add = (chunk: Buffer): void => {
    const total = this.#used + chunk.length
    const wrong = this.#structure?.add(chunk)
    if (total > this.#options.limits.bodyBytesMax) this.#refuse('body_too_large', new HttpError(413, TOO_LARGE))
    else if (wrong !== undefined) {
      this.#refuse('body_structure', new HttpError(400, `the request body is invalid: ${wrong}`))
    } else if (total <= this.#capacity) this.#append(chunk)
    else void this.#enlarge(chunk)
  }

  #append(chunk: Buffer): void {
    // Most small bodies arrive in one piece.
    if (this.#bytes === undefined && chunk.length === this.#bytesMax) this.#bytes = chunk
    else {
      this.#bytes ??= Buffer.allocUnsafe(this.#capacity)
      chunk.copy(this.#bytes, this.#used)
    }
    this.#used += chunk.length
  }

  async #enlarge(chunk: Buffer): Promise<void> {
    this.#payload.pause()
    this.#isWaiting = true
    const waitedFromMs = performance.now()
    const release = await this.#budget.acquire(this.#bytesMax, this.#options.limits.bodiesWaitTimeoutMs)
    this.#isWaiting = false
    this.#startMs += performance.now() - waitedFromMs
    if (!release) {
      const message = `too many large requests are in progress: try again in ${RETRY_AFTER_S} s`
      this.#refuse('bodies_bytes', new HttpError(503, message))
      return
    }
    // The client has disconnected during the wait, perhaps after it had sent the whole body.
    if (this.#request.isResponseClosed || (this.#payload.destroyed && !this.#payload.complete)) {
      release()
      this.#abort()
      return
    }
    this.#request.releaseBody = release
    const bytes = Buffer.allocUnsafeSlow(this.#bytesMax)
    this.#bytes?.copy(bytes, 0, 0, this.#used)
    this.#bytes = bytes
    this.#capacity = this.#bytesMax
    this.#append(chunk)
    if (this.#isEnded) this.#finish()
    else this.#payload.resume()
  }

  /** May be called while the last chunk waits for the byte budget. */
  readonly #end = (): void => {
    this.#isEnded = true
    this.#detach()
    if (!this.#isWaiting) this.#finish()
  }

  #finish(): void {
    const { length } = this.#bytes ?? NONE
    this.#settled.resolve(length === this.#used ? (this.#bytes ?? NONE) : this.#bytes!.subarray(0, this.#used))
  }

  readonly #abort = (): void => {
    this.#detach()
    this.#settled.reject(new HttpError(400, 'the request was aborted'))
  }

  #refuse(reason: LimitReason, refusal: HttpError): void {
    this.#detach()
    this.#options.limited(reason)
    // A body that is announced as too large, or is too slow, is not drained.
    this.#request.isBodyDrained = refusal.status !== 408 && this.#bytesMax <= this.#options.limits.bodyBytesMax
    if (this.#request.isBodyDrained) this.#drain()
    this.#settled.reject(refusal)
  }

  #drain(): void {
    const timer = setTimeout(() => this.#payload.destroy(), DRAIN_MS_MAX)
    this.#payload.once('close', () => clearTimeout(timer)).resume()
  }

  #detach(): void {
    this.#payload.off('data', this.#add).off('end', this.#end).off('close', this.#abort)
  }
}

const NONE = Buffer.alloc(0)
const TOO_LARGE = 'Request body is too large'

function parseJson(body: Buffer, parse: (text: string) => unknown): unknown {
  try {
    return parse(jsonTextOf(body))
  } catch (error) {
    throw new HttpError(400, `the request body is not JSON: ${(error as Error).message}`)
  }
}
