import { connect, createServer, type Server, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export type Endpoint = { readonly host: string; readonly port: number }
type Connection = { readonly near: Socket; readonly far: Socket; isDead: boolean }

/**
 * Forwards TCP connections from a port to a server, with the faults of a network as TCP shows them: delay and lost
 * connections. A lost packet is one of these to a program, because TCP sends it again or gives up.
 */
export class UnreliableLink {
  readonly #connections = new Set<Connection>()
  readonly #server: Server
  #delayMs = 0
  #isHalfOpen = false
  #resets: NodeJS.Timeout | undefined

  private constructor(to: Endpoint) {
    this.#server = createServer((near) => this.#accept(near, connect(to)))
  }

  static async open(from: Endpoint, to: Endpoint): Promise<UnreliableLink> {
    const link = new UnreliableLink(to)
    await new Promise<void>((resolve, reject) => {
      link.#server.once('error', reject).listen(from, resolve)
    })
    return link
  }

  /** Each piece of data takes so long, in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  /** Resets all connections, now and periodically, until `heal`. */
  reset(everyMs: number): void {
    const resetAll = () => {
      for (const connection of this.#connections) end(connection)
    }
    resetAll()
    this.#resets = setInterval(resetAll, everyMs)
  }

  /**
   * Loses everything that is sent on the connections that exist, and on those that are opened before `heal`, as if the
   * other end had lost power. They do not work after `heal`, either: the client has to notice.
   */
  halfOpen(): void {
    this.#isHalfOpen = true
    for (const connection of this.#connections) connection.isDead = true
  }

  heal(): void {
    this.#delayMs = 0
    this.#isHalfOpen = false
    clearInterval(this.#resets)
  }

  close(): void {
    this.heal()
    this.#server.close()
    for (const connection of this.#connections) end(connection)
  }

  #accept(near: Socket, far: Socket): void {
    const connection: Connection = { near, far, isDead: this.#isHalfOpen }
    this.#connections.add(connection)
    const directions = [pipeline(near, this.#wire(connection), far), pipeline(far, this.#wire(connection), near)]
    void Promise.allSettled(directions).then(() => this.#connections.delete(connection))
  }

  #wire(connection: Connection): Transform {
    return new Transform({
      transform: (chunk, _encoding, done) => {
        if (connection.isDead) done()
        else if (this.#delayMs === 0) done(null, chunk)
        else setTimeout(() => done(null, connection.isDead ? undefined : chunk), this.#delayMs)
      },
    })
  }
}

function end({ near, far }: Connection): void {
  for (const socket of [near, far]) {
    // libuv cannot reset a connection whose end is being sent, and Node.js would keep its handle for ever.
    if (socket.connecting || socket.writableEnded) socket.destroy()
    else socket.resetAndDestroy()
  }
}
