import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { FrameReader } from './frame-reader.ts'
import { FRAME, FRAME_HEADER_BYTES, FrameSplitter, frameHeader, type HostFrame } from './frame-splitter.ts'
import { FrameWriter } from './frame-writer.ts'
import { HostLostError, JavaPluginError } from './host-error.ts'
import { ProtocolError } from './host-protocol.ts'
import { ReceivedSchemas, SentSchemas } from './schema-exchange.ts'

/** Version of the protocol; the first frame of each side carries it. */
export const HOST_PROTOCOL_VERSION = 1

/** Where a Java host listens, and the token that a connection must present. */
export type HostAddress = { readonly socketPath: string; readonly token: string }

export type HostConnectionOptions = {
  /** How long the host may take to greet, in ms. Default: until it ends, because a busy machine may not run it for long. */
  readonly timeoutMs?: number
  /** Gives up the connection while it is opened. */
  readonly signal?: AbortSignal
  /** Limit of one frame from the host. Default: 256 MiB, as on the other side. */
  readonly frameBytesMax?: number
}

type Fill = (body: FrameWriter) => void
type Listener = (body: FrameReader, frameBytes: number) => void
/** Answers a request of the host. */
type Responder = (body: FrameReader) => unknown

const FRAME_BYTES_MAX = 256 * 1024 * 1024
/** The length of a frame includes its type and id. */
const BODY_BYTES_MAX = FRAME_BYTES_MAX - 5
const NO_BODY = Buffer.alloc(0)
const NO_ARGUMENT: Fill = (body) => body.uint8(0)

/**
 * One connection to a Java host. Serves one task, one connector or single calls: the host executes the requests of a
 * connection one after the other in a thread of its own.
 */
export class HostConnection {
  readonly #socket: Socket
  readonly #splitter: FrameSplitter
  readonly #received = new ReceivedSchemas()
  readonly #sent: SentSchemas
  readonly #pending = new Map<number, PromiseWithResolvers<FrameReader>>()
  readonly #listeners = new Map<string, Listener>()
  readonly #responders = new Map<string, Responder>()
  readonly #greeted = Promise.withResolvers<void>()
  readonly #lost = Promise.withResolvers<Error>()
  #lastRequest = 0
  #isClosed = false
  #hasGreeted = false

  private constructor(socket: Socket, { frameBytesMax = FRAME_BYTES_MAX }: HostConnectionOptions) {
    this.#socket = socket
    this.#splitter = new FrameSplitter(frameBytesMax)
    this.#sent = new SentSchemas({
      define: (id, definition) => this.#write(FRAME.schema, id, definition),
      forgetAll: () => this.#write(FRAME.forgetSchemas, 0, NO_BODY),
    })
    this.#greeted.promise.catch(() => undefined)
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('error', (error) => this.#end(new HostLostError(`: ${error.message}`)))
    socket.on('close', () => this.#end(new HostLostError()))
  }

  /** Rejects with a `ProtocolError` if the host speaks another version, and with a `HostLostError` if it is gone. */
  static async open(address: HostAddress, options: HostConnectionOptions = {}): Promise<HostConnection> {
    const socket = connect(address.socketPath)
    const connection = new HostConnection(socket, options)
    const { timeoutMs, signal } = options
    const late = () => connection.#end(new HostLostError(`: no response within ${timeoutMs} ms`))
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
    const onAbort = () => connection.close()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      const hello = connection.#body((body) => {
        body.varint(HOST_PROTOCOL_VERSION)
        body.string(address.token)
      })
      connection.#write(FRAME.hello, 0, hello)
      await connection.#greeted.promise
      return connection
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Resolves when the connection has ended, with the reason. */
  get lost(): Promise<Error> {
    return this.#lost.promise
  }

  /** Registers the listener of an event of the host. */
  on(event: string, listener: Listener): void {
    this.#listeners.set(event, listener)
  }

  /** Registers the function that answers a request of the host. */
  answer(operation: string, responder: Responder): void {
    this.#responders.set(operation, responder)
  }

  /** Resolves to the body of the response. Rejects with a `JavaPluginError` when plugin code throws. */
  request(operation: string, fill: Fill = NO_ARGUMENT): Promise<FrameReader> {
    if (this.#isClosed) return Promise.reject(new HostLostError())
    const id = ++this.#lastRequest
    const response = Promise.withResolvers<FrameReader>()
    const body = this.#body((writer) => {
      writer.string(operation)
      fill(writer)
    })
    this.#pending.set(id, response)
    this.#write(FRAME.request, id, body)
    return response.promise
  }

  /** A request whose argument and response are plain values. */
  async call(operation: string, argument: object): Promise<unknown> {
    const body = await this.request(operation, (writer) => writer.value(null, argument))
    return body.value()
  }

  event(name: string, fill: Fill = NO_ARGUMENT): void {
    if (this.#isClosed) return
    const body = this.#body((writer) => {
      writer.string(name)
      fill(writer)
    })
    this.#write(FRAME.event, 0, body)
  }

  /** Resolves when the kernel has accepted enough of what was sent. Rejects when the connection has ended. */
  async drained(): Promise<void> {
    if (this.#isClosed) throw new HostLostError()
    if (!this.#socket.writableNeedDrain) return
    await Promise.race([once(this.#socket, 'drain'), this.#lost.promise.then((reason) => Promise.reject(reason))])
  }

  close(): void {
    this.#end(new HostLostError(': it was closed'))
  }

  #body(fill: Fill): Buffer {
    this.#sent.trim()
    const writer = new FrameWriter((schema) => this.#sent.idOf(schema))
    fill(writer)
    const body = writer.bytes
    if (body.length > BODY_BYTES_MAX) {
      throw new Error(`${body.length} bytes cannot be sent to the Java host at once: at most ${BODY_BYTES_MAX} can`)
    }
    return body
  }

  #write(type: number, id: number, body: Buffer): void {
    if (this.#isClosed) return
    this.#socket.cork()
    this.#socket.write(frameHeader(type, id, body.length))
    if (body.length > 0) this.#socket.write(body)
    this.#socket.uncork()
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#splitter.push(chunk)) this.#handle(frame)
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #handle({ type, id, body }: HostFrame): void {
    if (!this.#hasGreeted && type !== FRAME.hello) throw new ProtocolError('the Java host did not greet')
    const reader = new FrameReader(body, this.#received.get)
    switch (type) {
      case FRAME.hello:
        this.#onHello(reader)
        break
      case FRAME.request:
        void this.#respond(id, reader)
        break
      case FRAME.response:
        this.#settle(id)?.resolve(reader)
        break
      case FRAME.failure:
        this.#settle(id)?.reject(readFailure(reader))
        break
      case FRAME.event:
        this.#listeners.get(reader.string())?.(reader, FRAME_HEADER_BYTES + body.length)
        break
      case FRAME.schema:
        this.#received.define(id, body)
        break
      case FRAME.forgetSchemas:
        this.#received.forgetAll()
        break
      default:
        throw new ProtocolError(`no frame has type ${type}`)
    }
  }

  #onHello(reader: FrameReader): void {
    const version = reader.varint()
    if (version !== HOST_PROTOCOL_VERSION) {
      throw new ProtocolError(
        `the Java host speaks version ${version} of the protocol, and this worker version ${HOST_PROTOCOL_VERSION}: ` +
          'java.host.directory must name the host of the same release',
      )
    }
    this.#hasGreeted = true
    this.#greeted.resolve()
  }

  async #respond(id: number, reader: FrameReader): Promise<void> {
    const operation = reader.string()
    try {
      const responder = this.#responders.get(operation)
      if (responder === undefined) throw new ProtocolError(`no operation is called '${operation}'`)
      const value = await responder(reader)
      const body = this.#body((writer) => writer.value(null, value))
      this.#write(FRAME.response, id, body)
    } catch (error) {
      const failure = { class: 'weir', message: error instanceof Error ? error.message : String(error) }
      const body = this.#body((writer) => writer.value(null, failure))
      this.#write(FRAME.failure, id, body)
    }
  }

  #settle(id: number): PromiseWithResolvers<FrameReader> | undefined {
    const response = this.#pending.get(id)
    this.#pending.delete(id)
    return response
  }

  #end(reason: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.destroy()
    this.#greeted.reject(reason)
    this.#lost.resolve(reason)
    for (const response of this.#pending.values()) response.reject(reason)
    this.#pending.clear()
  }
}

/** Converts the body of a FAILURE frame to an error. */
export function readFailure(reader: FrameReader): JavaPluginError {
  const failure = reader.value() as Readonly<Record<string, unknown>>
  return new JavaPluginError({
    className: String(failure['class']),
    message: String(failure['message']),
    trace: String(failure['trace']),
    isRetriable: failure['retriable'] === true,
  })
}
