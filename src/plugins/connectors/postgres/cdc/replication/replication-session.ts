import type { Socket } from 'node:net'
import { DatabaseError, toDatabaseError } from '../../database-error.ts'
import { Session, type SessionOptions } from '../../session.ts'
import type { Lsn } from '../changes/change.ts'
import { printLsn } from './lsn.ts'
import { MessageReader } from './message-reader.ts'
import { decodePgoutput, type PgoutputMessage } from './pgoutput.ts'
import { parseServerError } from './server-error.ts'
import { type ServerMessage, ServerMessageSplitter } from './server-message-splitter.ts'
import { standbyStatus, terminate, toQuery } from './standby-messages.ts'
import { startReplicationSql } from './start-replication.ts'

/** A message of the stream; `keepalive` reports that the server has sent everything before `lsn`. */
export type StreamMessage = PgoutputMessage | { readonly kind: 'keepalive'; readonly lsn: Lsn }

export type ReplicationOptions = {
  readonly session: SessionOptions
  readonly slot: string
  readonly publication: string
  /** Where to start. The server starts at the confirmed position of the slot if that is later. */
  readonly startLsn: Lsn
  /** Whether the server sends logical messages, as since version 14. */
  readonly hasLogicalMessages: boolean
  /** Further options of the output plugin. */
  readonly parameters: Readonly<Record<string, string>>
  /** Interval at which the confirmed position is reported to the server, in ms. */
  readonly statusIntervalMs: number
}

/** A message contains at most one row. A larger one cannot become a record, and its values not a string. */
const MESSAGE_BYTES_MAX = 512 * 1024 * 1024
/** Time without an answer to the status after which the connection counts as lost. */
const SILENCE_MAX_MS = 60_000

/**
 * Receives the changes of a slot. At most the bytes of one read of the socket and one incomplete message are in memory: the
 * server waits while the caller does not request more.
 */
export class ReplicationSession implements AsyncDisposable {
  readonly #session: Session
  readonly #socket: Socket
  readonly #chunks: AsyncIterator<Buffer>
  readonly #splitter = new ServerMessageSplitter(MESSAGE_BYTES_MAX)
  readonly #options: ReplicationOptions
  readonly #statusTimer: NodeJS.Timeout
  /** Messages that arrived together with the answer to the start. */
  #early: readonly ServerMessage[] = []
  #received: Lsn = 0n
  #server: Lsn = 0n
  #acknowledged: Lsn = 0n
  /** When the pending read began, or received its last bytes; undefined while the caller processes messages. */
  #waitingSinceMs: number | undefined

  private constructor(session: Session, options: ReplicationOptions) {
    this.#session = session
    this.#options = options
    this.#socket = session.detach()
    this.#chunks = this.#socket[Symbol.asyncIterator]()
    // The server ends a session that it does not hear from, also while the caller processes messages.
    this.#statusTimer = setInterval(() => this.#reportPeriodically(), options.statusIntervalMs)
  }

  /** Starts replication. Throws a `DatabaseError` if the server refuses it. */
  static async open(options: ReplicationOptions): Promise<ReplicationSession> {
    const session = await Session.open({ ...options.session, replication: true }, { attempts: 1, backoffMs: 0 })
    const replication = new ReplicationSession(session, options)
    try {
      await replication.#start()
      return replication
    } catch (error) {
      await replication.close()
      throw error
    }
  }

  /** The last position of the server's log that it reported. */
  get serverLsn(): Lsn {
    return this.#server
  }

  /** Confirms that no changes before this position are needed again. A position before the last one has no effect. */
  acknowledge(lsn: Lsn): void {
    if (lsn <= this.#acknowledged) return
    this.#acknowledged = lsn
    this.#sendStatus(false)
  }

  /** Asks the server for a `keepalive` with its position, which it otherwise sends from time to time. */
  requestPosition(): void {
    this.#sendStatus(true)
  }

  /**
   * Yields the messages in their order, in arrays as they arrive. Ends when the signal of the session is aborted. Throws a
   * transient `DatabaseError` when the connection is lost, and a `ReplicationProtocolError` for damaged messages.
   */
  async *read(): AsyncGenerator<readonly StreamMessage[]> {
    for (let frames: readonly ServerMessage[] | undefined = this.#early; ; frames = await this.#nextFrames()) {
      if (frames === undefined) return
      const messages: StreamMessage[] = []
      for (const frame of frames) this.#receive(frame, messages)
      if (messages.length > 0) yield messages
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#statusTimer)
    if (this.#socket.writable) {
      this.#sendStatus(false)
      this.#socket.write(terminate())
    }
    // The end of a connection that nobody reads is never noticed.
    this.#socket.destroySoon()
    await this.#session.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  get #operation(): string {
    return `read changes from the replication slot ${this.#options.slot}`
  }

  async #start(): Promise<void> {
    this.#socket.write(toQuery(startReplicationSql(this.#options)))
    const operation = `start replication from the slot ${this.#options.slot} at ${printLsn(this.#options.startLsn)}`
    for (;;) {
      const frames = await this.#nextFrames()
      if (frames === undefined) throw closed(operation)
      const refusal = frames.find(({ type }) => type === 'E')
      if (refusal !== undefined) throw parseServerError(refusal.body, operation)
      const started = frames.findIndex(({ type }) => type === 'W')
      if (started >= 0) {
        this.#early = frames.slice(started + 1)
        return
      }
    }
  }

  /** Returns undefined when the session was ended by its signal. */
  async #nextFrames(): Promise<readonly ServerMessage[] | undefined> {
    const { signal } = this.#options.session
    try {
      this.#waitingSinceMs = performance.now()
      const { done, value } = await this.#chunks.next()
      if (signal.aborted) return undefined
      if (done) throw closed(this.#operation)
      return this.#splitter.push(value)
    } catch (error) {
      if (signal.aborted) return undefined
      if (isNetworkError(error)) throw toDatabaseError(error, this.#operation)
      throw error
    } finally {
      this.#waitingSinceMs = undefined
    }
  }

  #receive({ type, body }: ServerMessage, messages: StreamMessage[]): void {
    if (type === 'd') this.#receiveCopyData(body, messages)
    else if (type === 'E') throw parseServerError(body, this.#operation)
    else if (type === 'c') throw closed(this.#operation)
    // Notices and changed settings have no effect here.
  }

  #receiveCopyData(body: Buffer, messages: StreamMessage[]): void {
    const reader = new MessageReader(body, 'message of the replication stream')
    const type = reader.character()
    if (type === 'w') {
      const lsn = reader.uint64()
      const serverLsn = reader.uint64()
      // The time at which the server sent the message.
      reader.int64()
      if (serverLsn > this.#server) this.#server = serverLsn
      if (lsn > this.#received) this.#received = lsn
      messages.push(decodePgoutput(body.subarray(DATA_HEADER_BYTES), lsn))
    } else if (type === 'k') {
      const lsn = reader.uint64()
      reader.int64()
      if (lsn > this.#server) this.#server = lsn
      if (lsn > this.#received) this.#received = lsn
      if (reader.uint8() === 1) this.#sendStatus(false)
      messages.push({ kind: 'keepalive', lsn })
    }
  }

  #reportPeriodically(): void {
    const waitedMs = this.#waitingSinceMs === undefined ? 0 : performance.now() - this.#waitingSinceMs
    if (waitedMs > SILENCE_MAX_MS + this.#options.statusIntervalMs) {
      const message = `could not ${this.#operation}: the server has not answered for ${Math.round(waitedMs / 1000)} s; check that it is reachable`
      this.#socket.destroy(new DatabaseError(message, { isTransient: true }))
      return
    }
    // The answer shows that the connection still exists.
    this.#sendStatus(true)
  }

  #sendStatus(isAnswerRequested: boolean): void {
    if (!this.#socket.writable) return
    const position = { received: this.#received, acknowledged: this.#acknowledged }
    this.#socket.write(standbyStatus(position, Date.now(), isAnswerRequested))
  }
}

/** Bytes before the message of the output plugin: type, two positions and a time. */
const DATA_HEADER_BYTES = 25

function closed(operation: string): DatabaseError {
  return new DatabaseError(`could not ${operation}: the server closed the connection`, { isTransient: true })
}

/** Errors of the socket. Others are a `DatabaseError` or a `ReplicationProtocolError`. */
function isNetworkError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string'
}
