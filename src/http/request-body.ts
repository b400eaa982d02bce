import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ByteBudget } from './byte-budget.ts'
import { HttpError } from './http-error.ts'
import { JsonStructure } from './json-structure.ts'
import type { CountLimit, LimitReason } from './limit-metrics.ts'
import type { HttpLimits } from './limits.ts'

export type RequestBodyOptions = {
  readonly limits: HttpLimits
  readonly limited: CountLimit
  /** JSON media types that are taken. */
  readonly consumes: readonly string[]
  /** A body that does not say its media type is refused; otherwise it is taken for JSON. */
  readonly requiresContentType: boolean
  /** Reads bodies of more than 64 KiB off this thread. */
  readonly parseLarge: ((bytes: Buffer) => Promise<unknown>) | undefined
  /** A request has arrived in whole. */
  readonly onBodyRead: (request: IncomingMessage) => void
}

/** Bodies up to this size are read without asking: connections times this size is their bound. */
const SMALL_BYTES_MAX = 64 * 1024
/** What is slower, after the time for headers, would keep its share of the budget from others. */
const BYTES_PER_MS_MIN = (128 * 1024) / 1_000
const PACE_CHECK_MS = 1_000
/** Names and values that are parsed on this thread: some 40 ms. */
const PARTS_MAX = 100_000
const RETRY_AFTER_S = '5'
/** How long a client may take to send the rest of a body that was refused. */
const DRAIN_MS_MAX = 5_000

declare module 'fastify' {
  interface FastifyRequest {
    /** Gives back this request's share of the budget of bodies. */
    releaseBody: (() => void) | undefined
    /** The rest of the body is read and thrown away, so that the client comes to read its answer. */
    isBodyDrained: boolean
  }
}

/** Takes request bodies within a server's limits, and parses them as JSON. */
export function registerBodyParser(app: FastifyInstance, options: RequestBodyOptions): void {
  const bodies = new RequestBodies(options)
  app.decorateRequest('releaseBody', undefined)
  app.decorateRequest('isBodyDrained', false)
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    // Until the answer is sent or given up: what is made of a body takes memory, too.
    if (encoding !== undefined || Number(length) > SMALL_BYTES_MAX) {
      reply.raw.once('close', () => request.releaseBody?.())
    }
    done(null, payload)
  })
  // To an answer before the end of a body, Fastify adds the end of the connection, which may reach the client first.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.isBodyDrained) {
      reply.removeHeader('connection')
      if (reply.statusCode === 503) reply.header('retry-after', RETRY_AFTER_S)
    }
    done()
  })
  app.removeAllContentTypeParsers()
  const read = (request: FastifyRequest, payload: IncomingMessage) => bodies.read(request, payload)
  app.addContentTypeParser([...options.consumes], read)
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { 'content-type': type, 'content-length': length } = request.headers
    if (type !== undefined || (options.requiresContentType && length !== '0')) throw new HttpError(415)
    return read(request, payload)
  })
}

class RequestBodies {
  readonly #options: RequestBodyOptions
  readonly #budget: ByteBudget
  readonly #arriving = new Set<ArrivingBody>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: RequestBodyOptions) {
    this.#options = options
    this.#budget = new ByteBudget(options.limits.bodiesBytesMax)
  }

  async read(request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
    const { parseLarge, onBodyRead: arrived } = this.#options
    const body = new ArrivingBody(request, payload, this.#options, this.#budget)
    this.#arriving.add(body)
    this.#timer ??= setInterval(() => this.#checkPace(), PACE_CHECK_MS).unref()
    let bytes: Buffer
    try {
      bytes = await body.whole
    } finally {
      this.#arriving.delete(body)
    }
    arrived(request.raw)
    return parseLarge && bytes.length > SMALL_BYTES_MAX ? parseLarge(bytes) : parseJson(bytes)
  }

  #checkPace(): void {
    const nowMs = performance.now()
    for (const body of this.#arriving) body.checkPace(nowMs)
    if (this.#arriving.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** One body on its way in. It is not read while it waits for its share of the budget. */
class ArrivingBody {
  readonly whole: Promise<Buffer>
  readonly #request: FastifyRequest
  readonly #payload: IncomingMessage
  readonly #options: RequestBodyOptions
  readonly #budget: ByteBudget
  /** None where large bodies are parsed off this thread. */
  readonly #structure: JsonStructure | undefined
  /** What it may grow to: what it announced, or what is allowed. */
  readonly #bytesMax: number
  readonly #settled = Promise.withResolvers<Buffer>()
  #bytes: Buffer
  #used = 0
  #startMs = performance.now()
  #isWaiting = false
  #isEnded = false

  constructor(request: FastifyRequest, payload: IncomingMessage, options: RequestBodyOptions, budget: ByteBudget) {
    const { 'content-length': announced } = request.headers
    const { bodyBytesMax } = options.limits
    this.#request = request
    this.#payload = payload
    this.#options = options
    this.#budget = budget
    this.#structure = options.parseLarge ? undefined : new JsonStructure(PARTS_MAX)
    this.#bytesMax = announced === undefined ? bodyBytesMax : Number(announced)
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(this.#bytesMax, SMALL_BYTES_MAX))
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
      this.#refuse('body_structure', new HttpError(400, `the request body can't be used: ${wrong}`))
    } else if (total <= this.#bytes.length) this.#append(chunk)
    else void this.#enlarge(chunk)
  }

  #append(chunk: Buffer): void {
    chunk.copy(this.#bytes, this.#used)
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
      const message = `too many large requests at once: try again in ${RETRY_AFTER_S} s`
      this.#refuse('bodies_bytes', new HttpError(503, message))
      return
    }
    this.#request.releaseBody = release
    if (this.#payload.destroyed && !this.#payload.complete) {
      // Its connection was closed meanwhile, and with it what would give the share back.
      release()
      return
    }
    const bytes = Buffer.allocUnsafeSlow(this.#bytesMax)
    this.#bytes.copy(bytes, 0, 0, this.#used)
    this.#bytes = bytes
    this.#append(chunk)
    if (this.#isEnded) this.#finish()
    else this.#payload.resume()
  }

  /** Also while the last chunk waits for its share. */
  readonly #end = (): void => {
    this.#isEnded = true
    this.#detach()
    if (!this.#isWaiting) this.#finish()
  }

  #finish(): void {
    this.#settled.resolve(this.#bytes.subarray(0, this.#used))
  }

  readonly #abort = (): void => {
    this.#detach()
    this.#settled.reject(new HttpError(400, 'the request was aborted'))
  }

  #refuse(reason: LimitReason, refusal: HttpError): void {
    this.#detach()
    this.#options.limited(reason)
    // What is announced as longer than allowed, or does not come, is not worth reading to its end.
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

const TOO_LARGE = 'Request body is too large'

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw new HttpError(400, `the request body is not JSON: ${(error as Error).message}`)
  }
}
