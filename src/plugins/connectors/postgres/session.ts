import { addAbortListener } from 'node:events'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConnectionOptions } from 'node:tls'
import type pg from 'pg'
import type Cursor from 'pg-cursor'
import type { FileAccess, HostAccess, TaskLog } from '../../../sdk/index.ts'
import type { ConnectionUrl, SslMode } from './connection-url.ts'
import { DatabaseError, toDatabaseError, toDatabaseErrorOfAll } from './database-error.ts'

// The one place that talks to the server. Values go there and come back as PostgreSQL's texts; what they mean is decided
// elsewhere.

export type ResultRow = readonly (string | null)[]

/** A column of a result, as the server describes it. */
export type ResultField = {
  readonly name: string
  /** Of the column's type. */
  readonly typeId: number
  /** Precision, scale or length as the type packs them; -1: none. */
  readonly modifier: number
  /** Of the table it comes from; 0: it is computed. */
  readonly tableId: number
  readonly columnId: number
}

export type SessionOptions = {
  readonly url: ConnectionUrl
  readonly user: string | undefined
  readonly password: string | undefined
  /** Shown in the server's list of sessions when the address names none. */
  readonly applicationName: string
  /** SQL that it begins with. */
  readonly setup?: string | undefined
  readonly log: TaskLog
  readonly access: HostAccess
  /** Ends what it is doing, and the session. */
  readonly signal: AbortSignal
}

/** What a failed connection may be tried again for. */
export type ConnectRetry = { readonly attempts: number; readonly backoffMs: number }

/** With the first session: most tasks have none, and each thread would load the client before its first task. */
const load = createRequire(import.meta.url)

const AS_TEXT = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig
/** Each is memory on the server for as long as the session lasts. */
const NAMES_MAX = 200
const KEEP_ALIVE_MS = 30_000
/** What the readers of texts stand on. */
const SETTINGS =
  "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex'"

/** One connection to a database. Its methods throw a `DatabaseError`. */
export class Session {
  readonly #client: pg.Client
  readonly #ended: Promise<void>
  readonly #abortListener: Disposable
  /** Of statements that the server knows by now. */
  readonly #names = new Map<string, string>()
  #closed = false

  private constructor(client: pg.Client, signal: AbortSignal) {
    this.#client = client
    this.#ended = new Promise((resolve) => client.once('end', () => resolve()))
    // A connection that is cut between two queries says so here; the next query fails of it.
    client.on('error', () => {
      this.#closed = true
    })
    this.#abortListener = addAbortListener(signal, () => void this.close())
  }

  /** Tries host after host, and all of them as often as patience says as long as that can help. */
  static async open(options: SessionOptions, { attempts, backoffMs }: ConnectRetry): Promise<Session> {
    const { ignored } = options.url
    if (ignored.length > 0)
      options.log.warn({ options: ignored }, 'these options of connection.url have no effect here')
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await Session.#openOnce(options)
      } catch (error) {
        const failure = error as DatabaseError
        if (!failure.heals || attempt >= attempts || options.signal.aborted) throw failure
        options.log.warn(
          { err: failure, attempt, waitMs: backoffMs },
          'the database could not be reached: trying again',
        )
        await sleep(backoffMs, undefined, { signal: options.signal }).catch(() => undefined)
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
        failures.push(toDatabaseError(error, `connect to the database at ${at.host}:${at.port}`))
      }
    }
    throw toDatabaseErrorOfAll(failures)
  }

  static async #openAt(
    at: ConnectionUrl['hosts'][number],
    [ssl, ...others]: readonly (false | ConnectionOptions)[],
    options: SessionOptions,
  ): Promise<Session> {
    const { Client } = load('pg') as typeof pg
    const client = new Client({
      ...clientConfig(options),
      ...at,
      ssl: ssl!,
      stream: () => guardedSocket(options.access),
    })
    const session = new Session(client, options.signal)
    try {
      await client.connect()
      await client.query(settingsOf(options))
      return session
    } catch (error) {
      await session.close()
      if (others.length === 0) throw error
      return Session.#openAt(at, others, options)
    }
  }

  /** Whether it can still be used. */
  get isOpen(): boolean {
    return !this.#closed
  }

  /** `doing` completes «could not …» where it fails. */
  async query(doing: string, text: string, values: readonly (string | null)[] = []): Promise<readonly ResultRow[]> {
    try {
      const config = { text, values: [...values], rowMode: 'array' as const, types: AS_TEXT }
      return (await this.#client.query<(string | null)[]>(config)).rows
    } catch (error) {
      throw toDatabaseError(error, doing)
    }
  }

  /** The columns of a query's result. */
  async describe(doing: string, text: string): Promise<readonly ResultField[]> {
    try {
      return (await this.#client.query({ text, rowMode: 'array' })).fields.map(toResultField)
    } catch (error) {
      throw toDatabaseError(error, doing)
    }
  }

  /** Runs a statement that comes again and again: the server parses it once. How many rows it changed. */
  async execute(doing: string, text: string, values: readonly (string | null)[]): Promise<number> {
    const isKnown = this.#names.has(text) || this.#names.size < NAMES_MAX
    const name = this.#names.get(text) ?? `weir_${this.#names.size}`
    if (isKnown) this.#names.set(text, name)
    try {
      return (await this.#client.query({ ...(isKnown && { name }), text, values: [...values] })).rowCount ?? 0
    } catch (error) {
      throw toDatabaseError(error, doing)
    }
  }

  /** Rows are fetched as they are asked for: the rest waits on the server. Close it before the next query. */
  openRows(doing: string, text: string, values: readonly string[]): ResultCursor {
    const RowCursor = load('pg-cursor') as typeof Cursor
    const cursor = new RowCursor<ResultRow>(text, [...values], { rowMode: 'array', types: AS_TEXT })
    return new ResultCursor(
      this.#client.query(cursor as unknown as pg.Submittable) as unknown as Cursor<ResultRow>,
      doing,
      this.#ended,
    )
  }

  /** Without waiting for what runs. */
  async close(): Promise<void> {
    this.#closed = true
    this.#abortListener[Symbol.dispose]()
    await this.#client.end().catch(() => undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

type Fetched = { readonly rows: readonly ResultRow[]; readonly fields: readonly ResultField[] }

/** The rows of one query, from the first to the last. */
export class ResultCursor {
  readonly #cursor: Cursor<ResultRow>
  readonly #doing: string
  readonly #sessionEnd: Promise<void>
  #ahead: Promise<Fetched> | undefined
  #isOver = false

  constructor(cursor: Cursor<ResultRow>, doing: string, sessionEnd: Promise<void>) {
    this.#cursor = cursor
    this.#doing = doing
    this.#sessionEnd = sessionEnd
  }

  /** The next rows, at most so many; none when there are no more. Those that were fetched ahead are given first. */
  read(rowsMax: number): Promise<Fetched> {
    const ahead = this.#ahead
    this.#ahead = undefined
    return ahead ?? this.#fetch(rowsMax)
  }

  /** Has the next rows come while the last ones are worked on. */
  fetchAhead(rowsMax: number): void {
    this.#ahead = this.#fetch(rowsMax)
    // Who reads them hears of it.
    this.#ahead.catch(() => undefined)
  }

  #fetch(rowsMax: number): Promise<Fetched> {
    return new Promise((resolve, reject) => {
      this.#cursor.read(rowsMax, (error, rows, result) => {
        if (error) {
          this.#isOver = true
          reject(toDatabaseError(error, this.#doing))
        } else {
          resolve({ rows, fields: (result?.fields ?? []).map(toResultField) })
        }
      })
    })
  }

  /** After a failure there is nothing left to close, and nobody would answer. */
  async close(): Promise<void> {
    await this.#ahead?.catch(() => undefined)
    if (this.#isOver) return
    this.#isOver = true
    await Promise.race([this.#cursor.close().catch(() => undefined), this.#sessionEnd])
  }
}

function toResultField({ name, dataTypeID, dataTypeModifier, tableID, columnID }: pg.FieldDef): ResultField {
  return { name, typeId: dataTypeID, modifier: dataTypeModifier, tableId: tableID, columnId: columnID }
}

function clientConfig({ url, user, password, applicationName }: SessionOptions): pg.ClientConfig {
  const name = user ?? url.user
  const secret = password ?? url.password
  return {
    ...(name !== undefined && { user: name }),
    ...(secret !== undefined && { password: secret }),
    ...(url.database !== undefined && { database: url.database }),
    application_name: url.applicationName ?? applicationName,
    connectionTimeoutMillis: url.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
}

function settingsOf({ url: { searchPath }, setup }: SessionOptions): string {
  const path = searchPath && `SELECT set_config('search_path', '${searchPath.replaceAll("'", "''")}', false)`
  return [SETTINGS, path, setup].filter((sql) => sql).join('; ')
}

/** libpq's meaning of the modes: some try one way and then the other. */
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

/** A socket for a client that connects it itself, by host and port. */
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

/** Read anew for each connection: they are replaced when they run out. */
function readPem(option: string, path: string, files: FileAccess): Buffer {
  try {
    return files.readFileSync(path)
  } catch (cause) {
    const said = `could not read the ${option} of connection.url: ${(cause as Error).message}; correct its path`
    throw new DatabaseError(said, { cause, heals: false })
  }
}
