import { addAbortListener } from 'node:events'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type mysql from 'mysql2'
import type { HostAccess, TaskLog } from '../../../sdk/index.ts'
import { type ConnectionKeyNames, combineDatabaseErrors, type DatabaseError } from '../jdbc/database-error.ts'
import { pause } from '../jdbc/pause.ts'
import { RowCursor } from '../jdbc/row-cursor.ts'
import type { RowTexts } from '../jdbc/row-texts.ts'
import { type ClientLogin, clientOptions, sslAttempts } from './client-options.ts'
import { toMysqlError } from './mysql-error.ts'
import { type MysqlField, toMysqlField } from './mysql-field.ts'
import { addressText, openSocket, type ServerAddress } from './open-socket.ts'
import { ReceivedRows } from './received-rows.ts'

// The only module that uses the client library. Values are exchanged as texts, in the form in which the server prints them;
// callers convert them. The text of binary data has one character for each byte (Latin-1).

export type MysqlSessionOptions = ClientLogin & {
  /** SQL statements to execute when the session is opened. */
  readonly setup?: readonly string[] | undefined
  /** The keys that remedies in error messages name. Default: those of a JDBC URL. */
  readonly keyNames?: ConnectionKeyNames | undefined
  readonly log: TaskLog
  readonly access: HostAccess
  /** Cancels the running query and closes the session when aborted. */
  readonly signal: AbortSignal
}

/** Retry policy for opening a connection. */
type ConnectRetry = { readonly attempts: number; readonly backoffMs: number }

/** What a server reports about itself. */
export type MysqlServer = {
  readonly version: string
  readonly isMariadb: boolean
  readonly maxAllowedPacket: number
}

const load = createRequire(import.meta.url)

/**
 * The conversion of values depends on the zone. While a task waits for Kafka it does not read, and the server must not close the
 * connection.
 */
const SETTINGS = "SET SESSION time_zone = '+00:00', autocommit = 1, net_write_timeout = 3600"
/** What is reported for a query that was running when the connection ended. */
const CLOSED = 'the connection was closed'

const SERVER_SQL = 'SELECT version(), @@max_allowed_packet'

/** One connection to a server of MySQL or MariaDB. Methods throw a `DatabaseError`. */
export class MysqlSession {
  readonly #connection: mysql.Connection
  readonly #socket: Socket
  readonly #abortListener: Disposable
  readonly #keyNames: ConnectionKeyNames | undefined
  readonly #queryTimeoutMs: number
  /** Rejects the running queries, of which the client library forgets some when a connection ends. */
  readonly #running = new Set<(error: Error) => void>()
  #server: MysqlServer = { version: '', isMariadb: false, maxAllowedPacket: 0 }
  #closed = false

  private constructor(connection: mysql.Connection, socket: Socket, { url, signal, keyNames }: MysqlSessionOptions) {
    this.#connection = connection
    this.#socket = socket
    this.#keyNames = keyNames
    this.#queryTimeoutMs = url.queryTimeoutMs
    // A connection that is lost between two queries is reported here. The next query then fails.
    connection.on('error', () => {
      this.#closed = true
    })
    socket.once('close', () => {
      this.#closed = true
      for (const reject of this.#running) reject(new Error(CLOSED))
    })
    this.#abortListener = addAbortListener(signal, () => void this.close())
  }

  /** Connects to the first host that accepts the connection. Retries up to `attempts` times while the error is transient. */
  static async open(options: MysqlSessionOptions, { attempts, backoffMs }: ConnectRetry): Promise<MysqlSession> {
    const { ignored } = options.url
    if (ignored.length > 0) options.log.warn({ options: ignored }, 'these options of connection.url have no effect')
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await MysqlSession.#openOnce(options)
      } catch (error) {
        const failure = error as DatabaseError
        if (!failure.isTransient || attempt >= attempts || options.signal.aborted) throw failure
        options.log.warn({ err: failure, attempt, waitMs: backoffMs }, 'cannot connect to the database; retrying')
        await pause(backoffMs, options.signal)
      }
    }
  }

  static async #openOnce(options: MysqlSessionOptions): Promise<MysqlSession> {
    const { socketPath, hosts } = options.url
    const places: readonly ServerAddress[] = socketPath === undefined ? hosts : [{ path: socketPath }]
    const failures: DatabaseError[] = []
    for (const place of places) {
      try {
        return await MysqlSession.#openAt(place, sslAttempts(options.url, options.access), options)
      } catch (error) {
        failures.push(toMysqlError(error, `connect to the database at ${addressText(place)}`, options.keyNames))
      }
    }
    throw combineDatabaseErrors(failures)
  }

  static async #openAt(
    place: ServerAddress,
    [ssl, ...others]: readonly (false | mysql.SslOptions)[],
    options: MysqlSessionOptions,
  ): Promise<MysqlSession> {
    // A socket of this machine needs no TLS.
    const isLocal = 'path' in place
    const { createConnection } = load('mysql2') as typeof mysql
    const socket = openSocket(place, options.access)
    const connection = createConnection({
      ...clientOptions(options, isLocal || ssl !== false),
      ...(!isLocal && { host: place.host, port: place.port }),
      ...(ssl !== false && !isLocal && { ssl }),
      stream: () => socket,
    })
    const session = new MysqlSession(connection, socket, options)
    try {
      await session.#connect()
      await session.#setUp(options)
      return session
    } catch (error) {
      await session.close()
      if (others.length === 0 || !isAboutTls(error)) throw error
      return MysqlSession.#openAt(place, others, options)
    }
  }

  async #connect(): Promise<void> {
    try {
      await this.#untilAnswer((settle) => this.#connection.connect((error) => settle(error, undefined)))
    } catch (error) {
      if ((error as Error).message !== CLOSED) throw error
      throw new Error('the connection was closed while it was being established')
    }
  }

  async #setUp({ url: { sessionVariables }, setup = [] }: MysqlSessionOptions): Promise<void> {
    await this.#run(SETTINGS)
    if (sessionVariables !== '') await this.#run(`SET SESSION ${sessionVariables}`)
    for (const sql of setup) await this.#run(sql)
    const [[version, maxAllowedPacket]] = (await this.#run(SERVER_SQL)) as [RowTexts]
    this.#server = {
      version: version!,
      isMariadb: version!.includes('MariaDB'),
      maxAllowedPacket: Number(maxAllowedPacket),
    }
  }

  /** Whether the session can still be used. */
  get isOpen(): boolean {
    return !this.#closed
  }

  get server(): MysqlServer {
    return this.#server
  }

  /** Runs a query and returns its rows. `operation` completes "could not …" in error messages. */
  async query(operation: string, text: string, timeoutMs = this.#queryTimeoutMs): Promise<readonly RowTexts[]> {
    return (await this.#execute(operation, text, timeoutMs)) as readonly RowTexts[]
  }

  /** Runs a statement and returns the number of rows that it found, whether or not their values changed. */
  async execute(operation: string, text: string): Promise<number> {
    const result = (await this.#execute(operation, text, this.#queryTimeoutMs)) as mysql.ResultSetHeader
    return result.affectedRows ?? 0
  }

  async #execute(operation: string, text: string, timeoutMs: number): Promise<unknown> {
    using timer = this.#closeAfter(timeoutMs)
    try {
      return await this.#run(text)
    } catch (error) {
      throw toMysqlError(timer.hasClosed ? noAnswer(timeoutMs) : error, operation, this.#keyNames)
    }
  }

  #run(sql: string): Promise<unknown> {
    return this.#untilAnswer((settle) => this.#connection.query({ sql, rowsAsArray: true }, settle))
  }

  /** Resolves with what a callback of the client library receives. Rejects when the connection ends before. */
  async #untilAnswer<Answer>(send: (settle: (error: Error | null, answer: Answer) => void) => void): Promise<Answer> {
    if (this.#closed) throw new Error(CLOSED)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#running.add(reject)
    try {
      send((error, answer) => (error ? reject(error) : resolve(answer)))
      return await promise
    } finally {
      this.#running.delete(reject)
    }
  }

  /** Closes the session unless the timer is disposed before. A network that is cut lets a query wait for a quarter of an hour. */
  #closeAfter(timeoutMs: number): Disposable & { readonly hasClosed: boolean } {
    let hasClosed = false
    const expire = () => {
      hasClosed = true
      void this.close()
    }
    const timer = timeoutMs > 0 ? setTimeout(expire, timeoutMs) : undefined
    return {
      get hasClosed() {
        return hasClosed
      },
      [Symbol.dispose]: () => clearTimeout(timer),
    }
  }

  /** Returns the columns of a query's result. */
  async describe(operation: string, text: string): Promise<readonly MysqlField[]> {
    try {
      const fields = await this.#untilAnswer<readonly mysql.FieldPacket[]>((settle) =>
        this.#connection.query({ sql: text, rowsAsArray: true }, (error, _rows, described) =>
          settle(error, described ?? []),
        ),
      )
      return fields.map(toMysqlField)
    } catch (error) {
      throw toMysqlError(error, operation, this.#keyNames)
    }
  }

  /** Runs a query whose rows are read `rowsMax` at a time. Read them to the end before the next query. */
  openRows(operation: string, text: string, rowsMax: number): RowCursor {
    const connection = this.#connection
    const rows = new ReceivedRows({ pause: () => connection.pause(), resume: () => connection.resume() })
    const query = connection.query({ sql: text, rowsAsArray: true })
    query.on('fields', (fields: readonly mysql.FieldPacket[]) => rows.setFields(fields.map(toMysqlField)))
    query.on('result', (row: RowTexts) => rows.add(row))
    const fail = (error: Error) => rows.fail(error)
    this.#running.add(fail)
    query.on('error', fail)
    query.on('end', () => {
      this.#running.delete(fail)
      rows.end()
    })
    return new RowCursor(async (count) => {
      try {
        return await rows.read(count)
      } catch (error) {
        throw toMysqlError(error, operation, this.#keyNames)
      }
    }, rowsMax)
  }

  /** Closes the session without waiting for running queries. */
  async close(): Promise<void> {
    this.#closed = true
    this.#abortListener[Symbol.dispose]()
    this.#connection.destroy()
    this.#socket.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function noAnswer(timeoutMs: number): Error {
  const message = `the server has not answered for ${timeoutMs} ms`
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' })
}

/** A server without TLS, or whose TLS failed before the password was sent. */
function isAboutTls(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string }
  return code === 'HANDSHAKE_NO_SSL_SUPPORT' || /SSL|TLS|EPROTO/.test(`${code} ${message}`)
}
