import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import inject from 'light-my-request'
import { type IncomingResponse, isRepeatable, type OutgoingRequest } from '../../src/common/http-agent.ts'
import { currentProcess } from './current-process.ts'
import { ConnectionBrokenError, ConnectionRefusedError, type Network } from './network.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Simulation } from './simulation.ts'

/** A request as a simulated server receives it. */
export type ReceivedRequest = {
  readonly method: string
  readonly url: URL
  readonly headers: OutgoingRequest['headers']
  readonly body: string
  readonly from: SimulatedProcess
  /** Its sender has given it up. */
  readonly isLate: boolean
}

/** `stream` is called with the connection on which the body follows. */
export type SimulatedResponse = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly stream?: (connection: ResponseStream) => void
}

/** A server of the simulated machine room that is no program of Weir. */
export type RequestHandler = (request: ReceivedRequest) => SimulatedResponse | Promise<SimulatedResponse>

/** How many of 1,000 requests are answered with an error by the server, or by a proxy before it. */
export type ServerErrors = { readonly unavailable: number; readonly afterEffect: number }

/** Answers some requests with 503 without executing them, and some with 504 after their execution. */
export function withErrors(simulation: Simulation, name: string, respond: RequestHandler): RequestHandler {
  const random = simulation.randomOf(`errors of ${name}`)
  return async (request) => {
    const { unavailable, afterEffect } = simulation.http.errors
    if (unavailable > 0 && random.below(1_000) < unavailable) return { status: 503, body: '' }
    const response = await respond(request)
    const isLost = afterEffect > 0 && response.stream === undefined && random.below(1_000) < afterEffect
    return isLost ? { status: 504, body: '' } : response
  }
}

type Listening = { readonly process: SimulatedProcess; readonly respond: RequestHandler }

/** Who listens at which `host:port` of a simulated network. */
export class SimulatedHttp {
  readonly #network: Network
  readonly #listening = new Map<string, Listening>()
  /** Of all servers that use `withErrors`. */
  errors: ServerErrors = { unavailable: 0, afterEffect: 0 }

  constructor(network: Network) {
    this.#network = network
  }

  /** The current process listens with the listener of a `node:http` server. */
  listen(host: string, listener: RequestListener): void {
    this.serve(host, async ({ method, url, headers, body }) => {
      const {
        statusCode,
        headers: sent,
        rawPayload,
      } = await inject(listener, {
        method: method as 'GET',
        url: `${url.pathname}${url.search}`,
        headers: { ...headers },
        ...(body !== '' && { payload: body }),
      })
      return { status: statusCode, headers: sent as Record<string, string>, body: rawPayload.toString() }
    })
  }

  /** The current process listens with this function. */
  serve(host: string, respond: RequestHandler): void {
    this.#listening.set(host, { process: currentProcess()!, respond })
  }

  close(host: string): void {
    if (this.#listening.get(host)?.process === currentProcess()) this.#listening.delete(host)
  }

  /** Rejects as `HttpAgent.send` does. */
  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    try {
      return await this.#send(request)
    } catch (error) {
      const isRepeated = error instanceof ConnectionBrokenError && isRepeatable(request)
      if (!isRepeated || request.signal.aborted) throw error
      return this.#send(request)
    }
  }

  async #send({ method, url, path, headers, body, signal }: OutgoingRequest): Promise<IncomingResponse> {
    signal.throwIfAborted()
    const from = currentProcess()!
    const target = this.#listening.get(url.host)
    const requested = new URL(path ?? `${url.pathname}${url.search}`, url)
    if (target === undefined) throw new ConnectionRefusedError(url.host)
    const called = this.#network.call(target.process, {
      label: `${method} ${requested.pathname}`,
      execute: async (isLate) =>
        target.respond({ method, url: requested, headers, body: body === undefined ? '' : String(body), from, isLate }),
    })
    const response = await untilAborted(called, signal)
    const { status, headers: received = {}, stream } = response
    if (stream === undefined) return { status, headers: received, body: Readable.from([Buffer.from(response.body)]) }
    const connection = new ResponseStream(this.#network, target.process, from)
    signal.addEventListener('abort', () => connection.body.destroy(signal.reason as Error), { once: true })
    target.process.run(() => stream(connection))
    return { status, headers: received, body: connection.body }
  }
}

/** A response whose body a server sends piece by piece. */
export class ResponseStream {
  readonly body: Readable
  readonly #network: Network
  readonly #server: SimulatedProcess
  readonly #client: SimulatedProcess
  #isOpen = true
  /** A connection of which neither side notices that it is interrupted. */
  #isSilent = false
  #onClose: () => void = () => undefined

  constructor(network: Network, server: SimulatedProcess, client: SimulatedProcess) {
    this.#network = network
    this.#server = server
    this.#client = client
    this.body = new Readable({
      read: () => undefined,
      destroy: (error, callback) => {
        this.#close()
        callback(error)
      },
    })
    // As HttpAgent does: whoever reads the body receives its error, too.
    this.body.on('error', () => undefined)
    client.onCrash(this, () => this.#close())
  }

  get client(): SimulatedProcess {
    return this.#client
  }

  /** Called once, when the connection is closed. */
  set onClose(run: () => void) {
    this.#onClose = run
  }

  /** Sends a piece, which is on its way for `lateMs` longer than usual; those after it wait for it. */
  write(text: string, lateMs = 0): void {
    this.#push(() => this.body.push(Buffer.from(text)), lateMs)
  }

  /** Ends the response. */
  end(): void {
    this.#push(() => this.body.push(null))
    this.#close()
  }

  /** Nothing more arrives, and nobody is told. */
  silence(): void {
    this.#isSilent = true
  }

  /** The connection breaks, which the client notices. */
  breakOff(): void {
    this.#network.push(this.#server, this.#client, { connection: this, lateMs: 0 }, () =>
      this.body.destroy(new ConnectionBrokenError()),
    )
    this.#close()
  }

  #push(run: () => void, lateMs = 0): void {
    if (!this.#isOpen || this.#isSilent) return
    const isSent = this.#network.push(this.#server, this.#client, { connection: this, lateMs }, run)
    if (!isSent) this.silence()
  }

  #close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#client.forget(this)
    this.#onClose()
  }
}

function untilAborted<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
