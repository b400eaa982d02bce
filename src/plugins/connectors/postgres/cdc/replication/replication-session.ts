import type { Duplex } from 'node:stream'
import { BinaryReader } from '../../../../../common/binary-reader.ts'
import { DatabaseError } from '../../../jdbc/database-error.ts'
import { toPostgresError } from '../../postgres-error.ts'
import { Session, type SessionOptions } from '../../session.ts'
import type { Lsn } from '../changes/change.ts'
import { DATABASE_KEY_NAMES } from '../config/database-keys.ts'
import { printLsn } from './lsn.ts'
import { decodePgoutput, type PgoutputMessage } from './pgoutput.ts'
import { ReplicationProtocolError, replicationFault } from './protocol-error.ts'
import { standbyStatus } from './standby-status.ts'
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
  readonly #stream: Duplex
  readonly #frames: AsyncIterator<Buffer>
  readonly #options: ReplicationOptions
  readonly #statusTimer: NodeJS.Timeout
  #isOver = false
  #received: Lsn = 0n
  #server: Lsn = 0n
  #acknowledged: Lsn = 0n
  /** When the pending read began, or received its last bytes; undefined while the caller processes messages. */
  #waitingSinceMs: number | undefined

  private constructor(session: Session, options: ReplicationOptions) {
    this.#session = session
    this.#options = options
    this.#stream = session.copyBoth(startReplicationSql(options))
    this.#stream.once('close', () => this.#end())
    this.#stream.on('error', () => this.#end())
    this.#frames = this.#stream[Symbol.asyncIterator]()
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
    for (;;) {
      const frames = await this.#nextFrames()
      if (frames === undefined) return
      const messages: StreamMessage[] = []
      for (const frame of frames) this.#receive(frame, messages)
      if (messages.length > 0) yield messages
    }
  }

  async close(): Promise<void> {
    this.#sendStatus(false)
    this.#end()
    await this.#session.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  get #operation(): string {
    return `read changes from the replication slot ${this.#options.slot}`
  }

  /** The first status is sent when the server has accepted the command. */
  async #start(): Promise<void> {
    const { promise: started, resolve, reject } = Promise.withResolvers<void>()
    this.#stream.once('error', reject)
    this.#stream.once('close', () => reject(new Error('the server closed the connection')))
    // The stream receives the answer to the command only when it is read.
    this.#stream.read(0)
    this.#stream.write(this.#status(false), (error) => (error ? reject(error) : resolve()))
    try {
      await started
    } catch (error) {
      const { slot, startLsn } = this.#options
      const operation = `start replication from the slot ${slot} at ${printLsn(startLsn)}`
      throw toPostgresError(error, operation, DATABASE_KEY_NAMES)
    } finally {
      this.#stream.off('error', reject)
    }
  }

  /** Returns undefined when the session was ended by its signal. */
  async #nextFrames(): Promise<readonly Buffer[] | undefined> {
    const { signal } = this.#options.session
    try {
      this.#waitingSinceMs = performance.now()
      const { done, value } = await this.#frames.next()
      if (signal.aborted) return undefined
      if (done) throw closed(this.#operation)
      const frames: Buffer[] = [value]
      for (let next = this.#stream.read(); next !== null; next = this.#stream.read()) frames.push(next)
      return frames
    } catch (error) {
      if (signal.aborted) return undefined
      throw error instanceof DatabaseError ? error : toPostgresError(error, this.#operation, DATABASE_KEY_NAMES)
    } finally {
      this.#waitingSinceMs = undefined
    }
  }

  #receive(body: Buffer, messages: StreamMessage[]): void {
    if (body.length > MESSAGE_BYTES_MAX) throw tooLarge(body.length)
    const reader = new BinaryReader(body, replicationFault('message of the replication stream'))
    const type = String.fromCharCode(reader.uint8())
    if (type === 'w') {
      const lsn = reader.bigUint64()
      const serverLsn = reader.bigUint64()
      // The time at which the server sent the message.
      reader.bigInt64()
      if (serverLsn > this.#server) this.#server = serverLsn
      if (lsn > this.#received) this.#received = lsn
      messages.push(decodePgoutput(body.subarray(DATA_HEADER_BYTES), lsn))
    } else if (type === 'k') {
      const lsn = reader.bigUint64()
      reader.bigInt64()
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
      this.#stream.destroy(new DatabaseError(message, { isTransient: true }))
      return
    }
    // The answer shows that the connection still exists.
    this.#sendStatus(true)
  }

  #sendStatus(isAnswerRequested: boolean): void {
    if (!this.#isOver) this.#stream.write(this.#status(isAnswerRequested))
  }

  #status(isAnswerRequested: boolean): Buffer {
    return standbyStatus({ received: this.#received, acknowledged: this.#acknowledged }, Date.now(), isAnswerRequested)
  }

  #end(): void {
    this.#isOver = true
    clearInterval(this.#statusTimer)
  }
}

/** Bytes before the message of the output plugin: type, two positions and a time. */
const DATA_HEADER_BYTES = 25

function closed(operation: string): DatabaseError {
  return new DatabaseError(`could not ${operation}: the server closed the connection`, { isTransient: true })
}

function tooLarge(bytes: number): ReplicationProtocolError {
  return new ReplicationProtocolError(
    `the server sent a message with ${bytes} bytes; at most ${MESSAGE_BYTES_MAX} bytes can be read. ` +
      'Exclude the table or column with such large values from the publication',
  )
}
