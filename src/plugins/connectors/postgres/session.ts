import { addAbortListener } from 'node:events'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type { Duplex, DuplexOptions, Readable } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import type pg from 'pg'
import type Cursor from 'pg-cursor'
import type { FileAccess, HostAccess, TaskLog } from '../../../sdk/index.ts'
import { type ConnectionKeyNames, combineDatabaseErrors, DatabaseError } from '../jdbc/database-error.ts'
import { pause, TIMER_MS_MAX } from '../jdbc/pause.ts'
import { type RowBatch, RowCursor } from '../jdbc/row-cursor.ts'
import type { RowTexts } from '../jdbc/row-texts.ts'
import type { ConnectionUrl, SslMode } from './connection-url.ts'
import { readCopyRows } from './copy-rows.ts'
import { toPostgresError } from './postgres-error.ts'
import type { PostgresField } from './postgres-field.ts'

// The only module that communicates with the server. Values are exchanged in PostgreSQL's text format; callers convert
// them.

export type SessionOptions = {
  readonly url: ConnectionUrl
  readonly user: string | undefined
  readonly password: string | undefined
  /** Shown in `pg_stat_activity` unless the connection URL sets an application name. */
  readonly applicationName: string
  /** SQL to execute when the session is opened. */
  readonly setup?: string | undefined
  /** Whether queries are sent without waiting for the results of earlier ones. Then there are neither cursors nor `COPY`. */
  readonly pipeline?: boolean | undefined
  /** Whether the session accepts replication commands in addition to SQL. */
  readonly replication?: boolean | undefined
  /** Time after which a query without an answer ends the session, in ms; 0 or undefined: none. */
  readonly queryTimeoutMs?: number | undefined
  /** The keys that remedies in error messages name. Default: those of a JDBC URL. */
  readonly keyNames?: ConnectionKeyNames | undefined
  readonly log: TaskLog
  readonly access: HostAccess
  /** Cancels the running query and closes the session when aborted. */
  readonly signal: AbortSignal
}

/** Retry policy for opening a connection. */
export type ConnectRetry = { readonly attempts: number; readonly backoffMs: number }

/**
 * Loads modules with the first session instead of at import: most tasks do not use PostgreSQL, and each process would
 * otherwise load the client before its first task.
 */
const load = createRequire(import.meta.url)

/** The part of `pg-copy-streams` that is used here. Its published types lack `both`. */
type CopyStreams = {
  to(text: string): Readable & pg.Submittable
  both(text: string, options: DuplexOptions & { readonly alignOnCopyDataFrame: boolean }): Duplex & pg.Submittable
}

const AS_TEXT = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig
/** Maximum number of named prepared statements. Each occupies memory on the server until the session ends. */
const NAMES_MAX = 200
const KEEP_ALIVE_MS = 30_000
/** Session settings that the parsers of text values depend on. */
const SETTINGS =
  "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex'; SET lc_monetary = 'C'; SET extra_float_digits = 3"

/** One connection to a database. Methods throw a `DatabaseError`. */
export class Session {
  readonly #client: pg.Client
  readonly #socket: Socket
  readonly #ended: Promise<void>
  readonly #abortListener: Disposable
  readonly #keyNames: ConnectionKeyNames | undefined
  readonly #queryTimeoutMs: number
  /** Names of prepared statements, by statement text. */
  readonly #names = new Map<string, string>()
  readonly #isPipeline: boolean
  #runningQueries = 0
  #isConnected = false
  #closed = false

  private constructor(
    client: pg.Client,
    socket: Socket,
    { signal, keyNames, queryTimeoutMs = 0, pipeline = false }: SessionOptions,
  ) {
    this.#client = client
    this.#socket = socket
    this.#isPipeline = pipeline
    this.#keyNames = keyNames
    this.#queryTimeoutMs = queryTimeoutMs
    this.#ended = new Promise((resolve) => client.once('end', () => resolve()))
    // A connection that is lost between two queries is reported here. The next query then fails.
    client.on('error', () => {
      this.#closed = true
    })
    this.#abortListener = addAbortListener(signal, () => void this.close())
  }

  /**
   * Connects to the first host that accepts the connection. Retries up to `attempts` times while the error is
   * transient.
   */
  static async open(options: SessionOptions, { attempts, backoffMs }: ConnectRetry): Promise<Session> {
    const { ignored } = options.url
    if (ignored.length > 0) options.log.warn({ options: ignored }, 'these options of connection.url have no effect')
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await Session.#openOnce(options)
      } catch (error) {
        const failure = error as DatabaseError
        if (!failure.isTransient || attempt >= attempts || options.signal.aborted) throw failure
        options.log.warn({ err: failure, attempt, waitMs: backoffMs }, 'cannot connect to the database; retrying')
        await pause(backoffMs, options.signal)
      }
    }
  }

  static async #openOnce(options: SessionOptions): Promise<Session> {
    const attempts = sslAttempts(options.url, options.access)
    const failures: DatabaseError[] = []
    for (const at of options.url.hosts) {
      try {
        return await Session.#openAt(at, attempts, options)
      } catch (error) {
        failures.push(toPostgresError(error, `connect to the database at ${at.host}:${at.port}`, options.keyNames))
      }
    }
    throw combineDatabaseErrors(failures)
  }

  static async #openAt(
    at: ConnectionUrl['hosts'][number],
    [ssl, ...others]: readonly (false | ConnectionOptions)[],
    options: SessionOptions,
  ): Promise<Session> {
    const { Client } = load('pg') as typeof pg
    const socket = guardedSocket(options.access)
    const client = new Client({ ...clientConfig(options), ...at, ssl: ssl!, stream: () => socket })
    const session = new Session(client, socket, options)
    try {
      await session.#connect()
      await client.query(settingsOf(options))
      return session
    } catch (error) {
      await session.close()
      if (others.length === 0) throw error
      return Session.#openAt(at, others, options)
    }
  }

  /** The client library never settles `connect` if the connection is closed in the meantime. */
  async #connect(): Promise<void> {
    const closed = this.#ended.then(() => {
      throw new Error('the connection was closed while it was being established')
    })
    await Promise.race([this.#client.connect(), closed])
    this.#isConnected = true
  }

  /** Whether the session can still be used. */
  get isOpen(): boolean {
    return !this.#closed
  }

  /** Runs a query and returns its rows. `operation` completes "could not …" in error messages. */
  async query(
    operation: string,
    text: string,
    values: readonly (string | null)[] = [],
    timeoutMs = this.#queryTimeoutMs,
  ): Promise<readonly RowTexts[]> {
    using timer = this.#closeAfter(timeoutMs)
    try {
      const config = { text, values: [...values], rowMode: 'array' as const, types: AS_TEXT }
      return (await this.#count(this.#client.query<(string | null)[]>(config))).rows
    } catch (error) {
      throw toPostgresError(timer.hasClosed ? noAnswer(timeoutMs) : error, operation, this.#keyNames)
    }
  }

  async #count<Result>(query: Promise<Result>): Promise<Result> {
    this.#runningQueries += 1
    try {
      return await query
    } finally {
      this.#runningQueries -= 1
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
  async describe(operation: string, text: string): Promise<readonly PostgresField[]> {
    try {
      return (await this.#count(this.#client.query({ text, rowMode: 'array' }))).fields.map(toResultField)
    } catch (error) {
      throw toPostgresError(error, operation, this.#keyNames)
    }
  }

  /**
   * Runs a statement as a named prepared statement, which the server parses only once. Returns the number of affected
   * rows. A buffer is a value in PostgreSQL's binary format.
   */
  async execute(operation: string, text: string, values: readonly (string | Buffer | null)[]): Promise<number> {
    const isKnown = this.#names.has(text) || this.#names.size < NAMES_MAX
    const name = this.#names.get(text) ?? `weir_${this.#names.size}`
    if (isKnown) this.#names.set(text, name)
    try {
      const config = { ...(isKnown && { name }), text, values: [...values] }
      return (await this.#count(this.#client.query(config))).rowCount ?? 0
    } catch (error) {
      throw toPostgresError(error, operation, this.#keyNames)
    }
  }

  /** Runs a query whose rows are read `rowsMax` at a time. Read them to the end before the next query. */
  openRows(operation: string, text: string, values: readonly string[], rowsMax: number): RowCursor {
    const Query = load('pg-cursor') as typeof Cursor
    // The extended protocol executes one statement only, so a SELECT of a user cannot contain others behind it.
    const cursor = this.#client.query(
      new Query<(string | null)[]>(text, [...values], { rowMode: 'array', types: AS_TEXT }),
    )
    const read = (count: number) =>
      new Promise<RowBatch>((resolve, reject) => {
        cursor.read(count, (error, rows, result) => {
          if (error) reject(toPostgresError(error, operation, this.#keyNames))
          else resolve({ rows, fields: result.fields.map(toResultField) })
        })
      })
    return new RowCursor(read, rowsMax)
  }

  /** Runs `COPY … TO STDOUT` in text format. Read its rows to the end before the next query. */
  copyOut(operation: string, text: string): AsyncIterable<readonly RowTexts[]> {
    const { to } = load('pg-copy-streams') as CopyStreams
    const chunks = this.#client.query(to(text))
    return readCopyRows(chunks, (error) => toPostgresError(error, operation, this.#keyNames))
  }

  /**
   * Runs a command after which both sides send data, such as `START_REPLICATION`. Reading returns one message of the server at a
   * time; what is written is sent when the server has accepted the command. Only `close` can be called afterwards.
   */
  copyBoth(text: string): Duplex {
    const { both } = load('pg-copy-streams') as CopyStreams
    return this.#client.query(both(text, { alignOnCopyDataFrame: true, readableObjectMode: true }))
  }

  /** Closes the session without waiting for running queries. */
  async close(): Promise<void> {
    this.#closed = true
    this.#abortListener[Symbol.dispose]()
    // Otherwise `end` would wait for a host that does not answer, or for all queries of a pipeline.
    if (!this.#isConnected || (this.#isPipeline && this.#runningQueries > 0)) this.#socket.destroy()
    await this.#client.end().catch(() => undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function toResultField({ name, dataTypeID, dataTypeModifier, tableID, columnID }: pg.FieldDef): PostgresField {
  return { name, typeId: dataTypeID, modifier: dataTypeModifier, tableId: tableID, columnId: columnID }
}

function noAnswer(timeoutMs: number): Error {
  const message = `the server has not answered for ${timeoutMs} ms`
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' })
}

function clientConfig(options: SessionOptions): pg.ClientConfig {
  const { url, user, password, applicationName, pipeline = false, replication } = options
  const name = user ?? url.user
  const secret = password ?? url.password
  return {
    ...(name !== undefined && { user: name }),
    ...(secret !== undefined && { password: secret }),
    ...(url.database !== undefined && { database: url.database }),
    application_name: url.applicationName ?? applicationName,
    ...(replication && { replication: 'database' }),
    pipeline,
    connectionTimeoutMillis: Math.min(url.connectTimeoutMs, TIMER_MS_MAX),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
}

function settingsOf({ url: { searchPath }, setup }: SessionOptions): string {
  const path = searchPath && `SELECT set_config('search_path', '${searchPath.replaceAll("'", "''")}', false)`
  return [SETTINGS, path, setup].filter((sql) => sql).join('; ')
}

/**
 * Returns the TLS options to try in order, with libpq's meaning of `sslmode`: some modes fall back from one to the
 * other.
 */
function sslAttempts(url: ConnectionUrl, access: HostAccess): readonly (false | ConnectionOptions)[] {
  const attempts: Readonly<Record<SslMode, readonly (false | ConnectionOptions)[]>> = {
    disable: [false],
    allow: [false, { rejectUnauthorized: false }],
    prefer: [{ rejectUnauthorized: false }, false],
    require: [{ rejectUnauthorized: false }],
    'verify-ca': [{ checkServerIdentity: () => undefined }],
    'verify-full': [{}],
  }
  return attempts[url.sslMode].map((ssl) => (ssl === false ? false : { ...ssl, ...certificates(url, access) }))
}

function certificates({ sslRootCert, sslCert, sslKey }: ConnectionUrl, { files }: HostAccess): ConnectionOptions {
  return {
    ...(sslRootCert !== undefined && { ca: readPem('sslrootcert', sslRootCert, files) }),
    ...(sslCert !== undefined && { cert: readPem('sslcert', sslCert, files) }),
    ...(sslKey !== undefined && { key: readPem('sslkey', sslKey, files) }),
  }
}

/** Returns a socket that checks network access before the client connects it by port and host. */
function guardedSocket({ network }: HostAccess): Socket {
  const socket = new Socket()
  const connect = socket.connect.bind(socket)
  const guarded = (port: unknown, host: unknown) => {
    if (typeof port !== 'number' || typeof host !== 'string')
      throw new Error('expected a host and a port to connect to')
    return connect({ port, host, ...network.connectOptions(host, port) })
  }
  return Object.assign(socket, { connect: guarded })
}

/** Reads a PEM file. Called for each connection, so that renewed certificates are used. */
function readPem(option: string, path: string, files: FileAccess): Buffer {
  try {
    return files.readFileSync(path)
  } catch (cause) {
    const message = `could not read the file ${option} of connection.url: ${(cause as Error).message}; correct its path`
    throw new DatabaseError(message, { cause, isTransient: false })
  }
}
