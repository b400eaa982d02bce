import { EventEmitter } from 'node:events'
import type { RequestListener } from 'node:http'
import type { SimulatedHttp } from './simulated-http.ts'

/** What `src/http/server.ts`, and Fastify for the server that it creates and Weir does not use, use of a server of `node:http`. */
export class SimulatedHttpServer extends EventEmitter {
  readonly #http: SimulatedHttp
  readonly #listener: RequestListener
  #host = ''
  #port = 0

  constructor(http: SimulatedHttp, listener: RequestListener) {
    super()
    this.#http = http
    this.#listener = listener
  }

  listen({ host, port }: { readonly host: string; readonly port: number }, onListening: () => void): void {
    this.#host = `${host}:${port}`
    this.#port = port
    this.#http.listen(this.#host, this.#listener)
    setImmediate(onListening)
  }

  address(): { readonly port: number } {
    return { port: this.#port }
  }

  close(onClosed: () => void): void {
    this.#http.close(this.#host)
    setImmediate(onClosed)
  }

  setTimeout(): void {}

  closeIdleConnections(): void {}

  closeAllConnections(): void {}
}
