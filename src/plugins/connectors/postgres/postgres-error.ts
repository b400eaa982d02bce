import {
  type Advice,
  adviceText,
  type ConnectionKeyNames,
  connectionAdvice,
  DatabaseError,
  isNetworkCode,
} from '../jdbc/database-error.ts'

/** Data exceptions, constraint violations, datatype mismatches, and rows that one statement would update twice. */
const DATA_ERRORS = /^(?:22|23|42804|42846|21000|54)/

/**
 * SQLSTATE codes of transient errors: connections, resources, restarts, deadlocks, and a standby that is being
 * promoted.
 */
const TRANSIENT = /^(?:08|53|57P|58|40|55P03|55006|57014|25006|XX000)/

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

/** Converts an error to a `DatabaseError`. `operation` completes "could not …". A `DatabaseError` is returned unchanged. */
export function toPostgresError(
  error: unknown,
  operation: string,
  keys: ConnectionKeyNames = URL_KEY_NAMES,
): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, message, detail, column, table } = error as Partial<Record<string, string>>
  const sqlState = code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !isNetworkCode(code) ? code : undefined
  const reported = [message || code || String(error), detail].filter((part) => part !== undefined).join(': ')
  const place = column === undefined ? '' : ` (column ${column}${table === undefined ? '' : ` of ${table}`})`
  const advice = adviceFor({ sqlState, code, message }, keys)
  const shownCode = sqlState === undefined ? '' : ` [${sqlState}]`
  return new DatabaseError(
    `could not ${operation}: ${reported}${place}${shownCode}${advice === undefined ? '' : `; ${advice}`}`,
    {
      cause: error,
      isTransient: sqlState === undefined ? isNetwork(code, message) : TRANSIENT.test(sqlState),
      isAboutData: sqlState !== undefined && DATA_ERRORS.test(sqlState),
      sqlState,
    },
  )
}

type Reported = {
  readonly sqlState: string | undefined
  readonly code: string | undefined
  readonly message: string | undefined
}

function adviceFor({ sqlState, code, message }: Reported, keys: ConnectionKeyNames): string | undefined {
  if (sqlState !== undefined) {
    return adviceText(ADVICE.find(([beginning]) => sqlState.startsWith(beginning))?.[1], keys)
  }
  const advice = connectionAdvice({ code, message }, keys)
  if (advice !== undefined) return advice
  return /establishing an SSL/.test(code ?? message ?? '')
    ? 'check that a PostgreSQL server listens on this host and port'
    : undefined
}

/** Matches messages, because the client library has no error codes for closed connections. */
function isNetwork(code: string | undefined, message = ''): boolean {
  if (code !== undefined) return isNetworkCode(code)
  return /connection (terminated|ended|was closed|timeout|error)|timeout expired|not queryable|closed the connection/i.test(
    message,
  )
}
