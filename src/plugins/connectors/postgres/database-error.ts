/** A failure of a database operation. The message includes a remedy where one is known. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  /** Whether the error is transient: the server is unavailable, out of resources or has closed the connection. */
  readonly isTransient: boolean
  /** PostgreSQL's SQLSTATE; undefined if the server did not report one. */
  readonly sqlState: string | undefined

  constructor(
    message: string,
    options: ErrorOptions & { readonly isTransient: boolean; readonly sqlState?: string | undefined },
  ) {
    super(message, options)
    this.isTransient = options.isTransient
    this.sqlState = options.sqlState
  }

  /** Whether the server rejected the data of a record. Other records may still succeed. */
  get isAboutData(): boolean {
    return this.sqlState !== undefined && DATA_ERRORS.test(this.sqlState)
  }
}

/** Data exceptions, constraint violations, datatype mismatches, and rows that one statement would update twice. */
const DATA_ERRORS = /^(?:22|23|42804|42846|21000|54)/

/**
 * SQLSTATE codes of transient errors: connections, resources, restarts, deadlocks, and a standby that is being
 * promoted.
 */
const TRANSIENT = /^(?:08|53|57P|58|40|55P03|55006|57014|25006|XX000)/

/** Network errors, which are treated as transient. */
const NETWORK = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
])

/** Names of the configuration keys that remedies mention. */
export type ConnectionKeyNames = {
  readonly host: string
  readonly port: string
  readonly database: string
  readonly user: string
  readonly password: string
  readonly sslMode: string
  readonly rootCertificate: string
  readonly certificates: string
}

const URL = 'connection.url'

/** Keys of connectors that connect with a JDBC URL. */
const URL_KEY_NAMES: ConnectionKeyNames = {
  host: `the host in ${URL}`,
  port: `the host and port in ${URL}`,
  database: `the name of the database in ${URL}`,
  user: 'connection.user',
  password: 'connection.password',
  sslMode: `another sslmode in ${URL}`,
  rootCertificate: `sslrootcert in ${URL}`,
  certificates: `sslrootcert, sslcert and sslkey in ${URL}`,
}

type Advice = string | ((keys: ConnectionKeyNames) => string)

/** Remedies by SQLSTATE prefix; longer prefixes come first. */
const ADVICE: readonly (readonly [code: string, advice: Advice])[] = [
  ['28P01', ({ user, password }) => `correct ${user} and ${password}`],
  ['28000', ({ user }) => `correct ${user}, or permit this connection in pg_hba.conf of the server`],
  ['3D000', ({ database }) => `correct ${database}, or create it`],
  ['3F000', 'correct the name of the schema, or create it'],
  ['42501', ({ user }) => `grant the privilege to the role of ${user}`],
  ['42P01', 'create the table, or correct its name (names are case-sensitive)'],
  ['42703', 'create the column, or correct its name (names are case-sensitive)'],
  ['42601', 'correct the SQL of the configuration'],
  ['42P10', 'give the table a primary key or unique constraint on exactly the columns of the key'],
  ['53300', 'increase max_connections of the server, or run fewer tasks'],
  ['53100', 'free disk space on the server'],
  ['25006', 'connect to the primary server: this server is read-only'],
  ['57P', 'wait until the server has started: it is starting or stopping'],
  ['23505', 'set insert.mode=upsert, or make the keys of the records unique'],
]

/** Remedies for TLS errors, by OpenSSL's error code or, if there is none, by the client library's message. */
const TLS_ADVICE: readonly (readonly [what: RegExp, advice: Advice])[] = [
  [/ALTNAME/, ({ host }) => `set ${host} to a name in the certificate of the server`],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/, 'renew the certificate of the server, or correct the clock of this worker'],
  [
    /CERT|SIGNATURE/,
    ({ rootCertificate }) => `set ${rootCertificate} to the CA that signed the certificate of the server`,
  ],
  [
    /^ERR_OSSL/,
    ({ certificates }) => `check that ${certificates} are PEM files and that the key matches the certificate`,
  ],
  [/does not support SSL/, ({ sslMode }) => `enable ssl on the server, or set ${sslMode}`],
  [/establishing an SSL/, 'check that a PostgreSQL server listens on this host and port'],
]

/** Converts an error to a `DatabaseError`. `operation` completes "could not …". A `DatabaseError` is returned unchanged. */
export function toDatabaseError(
  error: unknown,
  operation: string,
  keys: ConnectionKeyNames = URL_KEY_NAMES,
): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, message, detail, column, table } = error as Partial<Record<string, string>>
  const sqlState = code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !NETWORK.has(code) ? code : undefined
  const reported = [message || code || String(error), detail].filter((part) => part !== undefined).join(': ')
  const place = column === undefined ? '' : ` (column ${column}${table === undefined ? '' : ` of ${table}`})`
  const advice = adviceFor({ sqlState, code, message }, keys)
  const shownCode = sqlState === undefined ? '' : ` [${sqlState}]`
  return new DatabaseError(
    `could not ${operation}: ${reported}${place}${shownCode}${advice === undefined ? '' : `; ${advice}`}`,
    {
      cause: error,
      isTransient: sqlState === undefined ? isNetwork(code, message) : TRANSIENT.test(sqlState),
      sqlState,
    },
  )
}

/** Combines the failures of all hosts of one database. The result is transient if any of the failures is. */
export function combineDatabaseErrors(failures: readonly DatabaseError[]): DatabaseError {
  if (failures.length === 1) return failures[0]!
  const isTransient = failures.some((failure) => failure.isTransient)
  return new DatabaseError(failures.map(({ message }) => message).join('; '), { isTransient, cause: failures.at(-1) })
}

type Reported = {
  readonly sqlState: string | undefined
  readonly code: string | undefined
  readonly message: string | undefined
}

function adviceFor({ sqlState, code, message = '' }: Reported, keys: ConnectionKeyNames): string | undefined {
  const text = (advice: Advice | undefined) => (typeof advice === 'function' ? advice(keys) : advice)
  if (sqlState !== undefined) return text(ADVICE.find(([beginning]) => sqlState.startsWith(beginning))?.[1])
  const tlsAdvice = text(TLS_ADVICE.find(([what]) => what.test(code ?? message))?.[1])
  if (tlsAdvice !== undefined) return tlsAdvice
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `correct ${keys.host}, or the DNS configuration`
  if (code === 'ECONNREFUSED') return `start the server, or correct ${keys.port}`
  return code !== undefined && NETWORK.has(code) ? 'check that the server is reachable from this worker' : undefined
}

/** Matches messages, because the client library has no error codes for closed connections. */
function isNetwork(code: string | undefined, message = ''): boolean {
  if (code !== undefined) return NETWORK.has(code)
  return /connection (terminated|ended|was closed|timeout|error)|timeout expired|not queryable|closed the connection/i.test(
    message,
  )
}
