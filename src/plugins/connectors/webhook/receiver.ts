import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import type { Authenticator } from './authenticator.ts'

export type ReceiverOptions = {
  readonly host: string
  readonly port: number
  readonly tls: SecureContextOptions | undefined
  readonly path: string
  readonly gate: Authenticator
  /** Maximum size of one body, and of all bodies in memory. */
  readonly bodyBytesMax: number
  readonly waitingBytesMax: number
  /** Maximum number of concurrent requests. */
  readonly waitingMax: number
  /** Time limit for receiving a request, and for the response after that. */
  readonly answerTimeoutMs: number
  /** Throws an `Error` whose message tells the sender what is wrong with a body. */
  readonly check: (body: Buffer) => void
}

/** A request that has not been responded to yet. */
export type PendingRequest = {
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly receivedMs: number
  readonly answer: (status: number) => void
}

/** Value of `Retry-After` in seconds for requests that are rejected with 503. */
const RETRY_AFTER_S = 1
/** Maximum interval at which slow requests are checked for timeouts. */
const LOOK_MS = 5_000
/** How long closing waits for requests whose records are being written. */
const DRAIN_MS = 5_000

/** An HTTP endpoint whose requests are responded to later by the task. Rejects requests beyond its limits. */
export class Receiver implements AsyncDisposable {
  readonly #options: ReceiverOptions
  readonly #server: Server
  readonly #queue: PendingRequest[] = []
  readonly #waiting = new Set<PendingRequest>()
  #admitted = 0
  #bytes = 0
  #isClosing = false
  #wake: () => void = () => undefined

  private constructor(options: ReceiverOptions) {
    this.#options = options
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      this.#receive(request, response).catch(() => response.destroy())
    }
    // A slow sender would otherwise occupy one of the limited slots.
    const inTime = {
      requestTimeout: options.answerTimeoutMs,
      headersTimeout: options.answerTimeoutMs,
      connectionsCheckingInterval: Math.min(LOOK_MS, options.answerTimeoutMs),
    }
    this.#server = options.tls ? createSecure({ ...inTime, ...options.tls }, onRequest) : createPlain(inTime, onRequest)
  }

  /** Rejects with the system's error if it cannot listen on the address. */
  static async open(options: ReceiverOptions): Promise<Receiver> {
    const receiver = new Receiver(options)
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', reject).listen(options.port, options.host, resolve)
    })
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Returns at most `countMax` received requests. Waits up to `waitMs` if there are none. */
  async take(countMax: number, waitMs: number, signal: AbortSignal): Promise<readonly PendingRequest[]> {
    if (this.#queue.length === 0 && !signal.aborted) {
      const woken = Promise.withResolvers<void>()
      const timer = setTimeout(woken.resolve, waitMs)
      this.#wake = woken.resolve
      // The listener is removed below, because the signal lives as long as the task.
      signal.addEventListener('abort', this.#wake)
      await woken.promise
      signal.removeEventListener('abort', this.#wake)
      clearTimeout(timer)
    }
    return this.#queue.splice(0, countMax)
  }

  /** Rejects new and queued requests with 503, and waits up to `DRAIN_MS` for responses to the others. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    for (const waiting of this.#queue.splice(0)) waiting.answer(503)
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeIdleConnections()
    const timer = setTimeout(() => {
      for (const waiting of this.#waiting) waiting.answer(503)
      this.#server.closeAllConnections()
    }, DRAIN_MS)
    await closed
    clearTimeout(timer)
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = this.#refusal(request)
    if (refused !== undefined) return this.#refuse(request, response, ...refused)
    this.#admitted += 1
    let held = 0
    response.once('close', () => {
      this.#admitted -= 1
      this.#bytes -= held
    })
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) {
      held += chunk.length
      this.#bytes += chunk.length
      if (held > this.#options.bodyBytesMax) return this.#refuse(request, response, 413, this.#bounds())
      if (this.#bytes > this.#options.waitingBytesMax) return this.#refuse(request, response, 503, BUSY)
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks)
    if (!this.#options.gate.withBody(request.headers, body)) return this.#refuse(request, response, 401, UNKNOWN)
    try {
      this.#options.check(body)
    } catch (error) {
      return this.#refuse(request, response, 400, (error as Error).message)
    }
    this.#hold(request, response, body)
  }

  /** Returns the reasons to reject a request that are known before its body is received. */
  #refusal({ method, url = '', headers }: IncomingMessage): [status: number, reason: string] | undefined {
    const { path, gate, bodyBytesMax, waitingMax } = this.#options
    if (url.split('?')[0] !== path) return [404, `records are taken at ${path}`]
    if (method !== 'POST' && method !== 'PUT') return [405, 'records are taken by POST and PUT']
    if (!gate.beforeBody(headers)) return [401, UNKNOWN]
    if (Number(headers['content-length'] ?? 0) > bodyBytesMax) return [413, this.#bounds()]
    return this.#isClosing || this.#admitted >= waitingMax ? [503, BUSY] : undefined
  }

  #bounds(): string {
    return `a body has at most ${this.#options.bodyBytesMax} bytes`
  }

  #hold(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const answer = (status: number) => {
      clearTimeout(timer)
      this.#waiting.delete(waiting)
      if (response.headersSent) return
      if (status >= 500) return this.#refuse(request, response, status, BUSY)
      if (this.#isClosing) response.setHeader('connection', 'close')
      response.writeHead(status).end()
    }
    const waiting = { headers: request.headers, body, receivedMs: Date.now(), answer }
    const timer = setTimeout(() => {
      // A request that is still queued is dropped.
      const index = this.#queue.indexOf(waiting)
      if (index >= 0) this.#queue.splice(index, 1)
      answer(503)
    }, this.#options.answerTimeoutMs)
    this.#waiting.add(waiting)
    if (this.#isClosing) answer(503)
    else this.#queue.push(waiting)
    this.#wake()
  }

  #refuse(request: IncomingMessage, response: ServerResponse, status: number, reason: string): void {
    const { scheme } = this.#options.gate
    if (status === 503) response.setHeader('retry-after', RETRY_AFTER_S)
    if (status === 405) response.setHeader('allow', 'POST, PUT')
    if (status === 401 && scheme !== undefined) response.setHeader('www-authenticate', scheme)
    // An unread body would remain on a connection that is reused.
    if (!request.complete || this.#isClosing) response.setHeader('connection', 'close')
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message: reason }))
  }
}

const BUSY = 'no more records can be taken now: come again'
const UNKNOWN = 'the credentials or the signature are not those that are expected here'
