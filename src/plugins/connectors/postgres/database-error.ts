/** A failure of a database operation. The message includes a remedy where one is known. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  /** Whether the error is transient: the server is unavailable, out of resources or has closed the connection. */
  readonly heals: boolean
  /** PostgreSQL's SQLSTATE; undefined if the server did not report one. */
  readonly sqlState: string | undefined

  constructor(
    message: string,
    options: ErrorOptions & { readonly heals: boolean; readonly sqlState?: string | undefined },
  ) {
    super(message, options)
    this.heals = options.heals
    this.sqlState = options.sqlState
  }

  /** Whether the server rejected the data of a record. Other records may still succeed. */
  get isAboutData(): boolean {
    return this.sqlState !== undefined && DATA.test(this.sqlState)
  }
}

/** Data exceptions, constraint violations, datatype mismatches, and rows that one statement would update twice. */
const DATA = /^(?:22|23|42804|42846|21000|54)/

/**
 * SQLSTATE codes of transient errors: connections, resources, restarts, deadlocks, and a standby that is being
 * promoted.
 */
const HEALS = /^(?:08|53|57P|58|40|55P03|55006|57014|25006|XX000)/

/** Network errors, which are treated as transient. */
const NETWORK = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
])

/** Remedies by SQLSTATE prefix; longer prefixes come first. */
const ADVICE: readonly (readonly [code: string, advice: string])[] = [
  ['28P01', 'correct connection.user and connection.password'],
  ['28000', 'correct connection.user, or let it in from here in the pg_hba.conf of the server'],
  ['3D000', 'correct the name of the database in connection.url, or create it'],
  ['3F000', 'correct the name of the schema, or create it'],
  ['42501', 'grant it to the role of connection.user'],
  ['42P01', 'create the table, or correct its name (names are case-sensitive)'],
  ['42703', 'create the column, or correct its name (names are case-sensitive)'],
  ['42601', 'correct the SQL of the configuration'],
  ['42P10', 'give the table a primary key or unique constraint on exactly the columns of the key'],
  ['53300', 'raise max_connections of the server, or run fewer tasks'],
  ['53100', 'make room on the disk of the server'],
  ['25006', 'connect to the primary server: this one only reads'],
  ['57P', 'nothing, if it comes back: the server is starting or stopping'],
  ['23505', 'use insert.mode=upsert, or make the key unique'],
]

/** Remedies for TLS errors, by OpenSSL's error code or, if there is none, by the client library's message. */
const TLS_ADVICE: readonly (readonly [what: RegExp, advice: string])[] = [
  [/ALTNAME/, 'write the host in connection.url as the certificate of the server names it'],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/, 'renew the certificate of the server, or set the clock of this worker right'],
  [/CERT|SIGNATURE/, 'name the CA that signed the certificate of the server by sslrootcert in connection.url'],
  [
    /^ERR_OSSL/,
    'see that sslrootcert, sslcert and sslkey of connection.url are files in PEM format that belong together',
  ],
  [/does not support SSL/, 'turn ssl on in the server, or choose another sslmode in connection.url'],
  [/establishing an SSL/, 'see whether it is a PostgreSQL server that listens there'],
]

/** Converts an error to a `DatabaseError`. `doing` completes "could not …". A `DatabaseError` is returned unchanged. */
export function toDatabaseError(error: unknown, doing: string): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, message, detail, column, table } = error as Partial<Record<string, string>>
  const sqlState = code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !NETWORK.has(code) ? code : undefined
  const said = [message || code || String(error), detail].filter((part) => part !== undefined).join(': ')
  const place = column === undefined ? '' : ` (column ${column}${table === undefined ? '' : ` of ${table}`})`
  const advice = adviceFor(sqlState, code, message)
  const shownCode = sqlState === undefined ? '' : ` [${sqlState}]`
  return new DatabaseError(
    `could not ${doing}: ${said}${place}${shownCode}${advice === undefined ? '' : `; ${advice}`}`,
    {
      cause: error,
      heals: sqlState === undefined ? isNetwork(code, message) : HEALS.test(sqlState),
      sqlState,
    },
  )
}

/** Combines the failures of all hosts of one database. The result is transient if any of the failures is. */
export function toDatabaseErrorOfAll(failures: readonly DatabaseError[]): DatabaseError {
  if (failures.length === 1) return failures[0]!
  const heals = failures.some((failure) => failure.heals)
  return new DatabaseError(failures.map(({ message }) => message).join('; '), { heals, cause: failures.at(-1) })
}

function adviceFor(sqlState: string | undefined, code: string | undefined, message = ''): string | undefined {
  if (sqlState !== undefined) return ADVICE.find(([beginning]) => sqlState.startsWith(beginning))?.[1]
  const ofTls = TLS_ADVICE.find(([what]) => what.test(code ?? message))?.[1]
  if (ofTls !== undefined) return ofTls
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'correct the host in connection.url, or its name service'
  if (code === 'ECONNREFUSED') return 'start the server, or correct host and port in connection.url'
  return code !== undefined && NETWORK.has(code)
    ? 'see whether the network lets this worker reach the server'
    : undefined
}

/** Matches messages, because the client library has no error codes for closed connections. */
function isNetwork(code: string | undefined, message = ''): boolean {
  if (code !== undefined) return NETWORK.has(code)
  return /connection (terminated|ended|was closed|timeout|error)|timeout expired|not queryable|closed the connection/i.test(
    message,
  )
}
