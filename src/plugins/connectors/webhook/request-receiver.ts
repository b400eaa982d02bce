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
  readonly authenticator: Authenticator
  /** Maximum size of one body, and of all bodies in memory. */
  readonly bodyBytesMax: number
  readonly pendingBytesMax: number
  /** Maximum number of concurrent requests. */
  readonly pendingMax: number
  /** Time limit for receiving a request, and for the response after that. */
  readonly responseTimeoutMs: number
  /** Throws an `Error` whose message tells the sender what is wrong with a body. */
  readonly check: (body: Buffer) => void
}

/** A request that has not been responded to yet. */
export type PendingRequest = {
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly receivedMs: number
  readonly respond: (status: number) => void
}

/** Value of `Retry-After` in seconds for requests that are rejected with 503. */
const RETRY_AFTER_S = 1
/** Maximum interval at which slow requests are checked for timeouts. */
const TIMEOUT_CHECK_MS = 5_000
/** How long closing waits for requests whose records are being written. Less than a worker waits for the end of a task. */
const DRAIN_MS = 3_000

/** An HTTP endpoint whose requests are responded to later by the task. Rejects requests beyond its limits. */
export class Receiver implements AsyncDisposable {
  readonly #options: ReceiverOptions
  readonly #server: Server
  readonly #queue: PendingRequest[] = []
  readonly #pending = new Set<PendingRequest>()
  #open = 0
  #bytes = 0
  #isClosing = false
  #wake: () => void = () => undefined
  /** The requests whose bodies are being received. */
  readonly #receiving = new Set<IncomingMessage>()
  /** Called when no request is open any more. */
  #onDrained: () => void = () => undefined

  private constructor(options: ReceiverOptions) {
    this.#options = options
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      this.#receive(request, response).catch(() => response.destroy())
    }
    // A slow sender would otherwise occupy one of the limited slots.
    const timeouts = {
      requestTimeout: options.responseTimeoutMs,
      headersTimeout: options.responseTimeoutMs,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, options.responseTimeoutMs),
    }
    this.#server = options.tls
      ? createSecure({ ...timeouts, ...options.tls }, onRequest)
      : createPlain(timeouts, onRequest)
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
      const wakeUp = Promise.withResolvers<void>()
      const timer = setTimeout(wakeUp.resolve, waitMs)
      this.#wake = wakeUp.resolve
      // The listener is removed below, because the signal lives as long as the task.
      signal.addEventListener('abort', this.#wake)
      await wakeUp.promise
      signal.removeEventListener('abort', this.#wake)
      clearTimeout(timer)
    }
    return this.#queue.splice(0, countMax)
  }

  /**
   * Rejects new and queued requests with 503, and waits up to `DRAIN_MS` for responses to the others. Connections of which no
   * request has been received completely are closed at once: a slow sender would delay the end of the task.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    for (const pending of this.#queue.splice(0)) pending.respond(503)
    const closed = new Promise((resolve) => this.#server.close(resolve))
    const drained = new Promise<void>((resolve) => {
      this.#onDrained = resolve
    })
    for (const request of this.#receiving) request.destroy()
    const timer = setTimeout(() => {
      for (const pending of this.#pending) pending.respond(503)
      this.#onDrained()
    }, DRAIN_MS)
    if (this.#open > 0) await drained
    clearTimeout(timer)
    this.#server.closeAllConnections()
    await closed
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = this.#refusal(request)
    if (refusal !== undefined) return this.#refuse(request, response, ...refusal)
    this.#open += 1
    let bytes = 0
    response.once('close', () => {
      this.#open -= 1
      this.#bytes -= bytes
      if (this.#isClosing && this.#open === 0) this.#onDrained()
    })
    this.#receiving.add(request)
    request.once('close', () => this.#receiving.delete(request)).once('end', () => this.#receiving.delete(request))
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      this.#bytes += chunk.length
      if (bytes > this.#options.bodyBytesMax) return this.#refuse(request, response, 413, this.#bounds())
      if (this.#bytes > this.#options.pendingBytesMax) return this.#refuse(request, response, 503, BUSY)
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks)
    if (!this.#options.authenticator.withBody(request.headers, body))
      return this.#refuse(request, response, 401, UNAUTHORIZED)
    try {
      this.#options.check(body)
    } catch (error) {
      return this.#refuse(request, response, 400, (error as Error).message)
    }
    this.#enqueue(request, response, body)
  }

  /** Returns the reasons to reject a request that are known before its body is received. */
  #refusal({ method, url = '', headers }: IncomingMessage): [status: number, reason: string] | undefined {
    const { path, authenticator, bodyBytesMax, pendingMax } = this.#options
    if (url.split('?')[0] !== path) return [404, `records are accepted at ${path}`]
    if (method !== 'POST' && method !== 'PUT') return [405, 'records are accepted by POST and PUT']
    if (!authenticator.beforeBody(headers)) return [401, UNAUTHORIZED]
    if (Number(headers['content-length'] ?? 0) > bodyBytesMax) return [413, this.#bounds()]
    return this.#isClosing || this.#open >= pendingMax ? [503, BUSY] : undefined
  }

  #bounds(): string {
    return `the body must not have more than ${this.#options.bodyBytesMax} bytes`
  }

  #enqueue(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const respond = (status: number) => {
      clearTimeout(timer)
      this.#pending.delete(pending)
      if (response.headersSent) return
      if (status >= 500) return this.#refuse(request, response, status, BUSY)
      if (this.#isClosing) response.setHeader('connection', 'close')
      response.writeHead(status).end()
    }
    const pending = { headers: request.headers, body, receivedMs: Date.now(), respond }
    const timer = setTimeout(() => {
      // A request that is still queued is dropped.
      const index = this.#queue.indexOf(pending)
      if (index >= 0) this.#queue.splice(index, 1)
      respond(503)
    }, this.#options.responseTimeoutMs)
    this.#pending.add(pending)
    if (this.#isClosing) respond(503)
    else this.#queue.push(pending)
    this.#wake()
  }

  #refuse(request: IncomingMessage, response: ServerResponse, status: number, reason: string): void {
    const { scheme } = this.#options.authenticator
    if (status === 503) response.setHeader('retry-after', RETRY_AFTER_S)
    if (status === 405) response.setHeader('allow', 'POST, PUT')
    if (status === 401 && scheme !== undefined) response.setHeader('www-authenticate', scheme)
    // An unread body would remain on a connection that is reused.
    if (!request.complete || this.#isClosing) response.setHeader('connection', 'close')
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message: reason }))
  }
}

const BUSY = 'no more records can be accepted now: retry later'
const UNAUTHORIZED = 'the credentials or the signature are missing or wrong'
