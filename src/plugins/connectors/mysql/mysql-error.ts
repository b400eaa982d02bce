import {
  type Advice,
  adviceText,
  type ConnectionKeyNames,
  connectionAdvice,
  DatabaseError,
  isNetworkCode,
} from '../jdbc/database-error.ts'

/**
 * Numbers of errors about the data of a record: constraint violations, values that do not fit a column, and rows that a trigger
 * rejects (1644). A packet that is too large (1153) is one of a record, because statements of several records are split before.
 */
const DATA_ERRORS: ReadonlySet<number> = new Set([
  ...[1048, 1062, 1153, 1169, 1216, 1217, 1263, 1264, 1265, 1292, 1364, 1365, 1366, 1367, 1406, 1411, 1416, 1441],
  ...[
    1451, 1452, 1525, 1526, 1557, 1586, 1644, 1690, 1748, 1761, 1762, 3140, 3141, 3143, 3144, 3156, 3157, 3158, 3819,
    3903,
  ],
  ...[4025, 4038],
])

/**
 * Numbers of transient errors: deadlocks, lock timeouts, servers that start, stop, are full or became read-only, and interrupted
 * statements.
 */
const TRANSIENT: ReadonlySet<number> = new Set([
  ...[1021, 1028, 1030, 1037, 1038, 1040, 1041, 1042, 1043, 1047, 1053, 1077, 1078, 1079, 1080, 1152, 1154, 1155, 1156],
  ...[1157, 1158, 1159, 1160, 1161, 1180, 1181, 1184, 1203, 1205, 1206, 1213, 1226, 1290, 1297, 1317, 1614, 1637, 1792],
  ...[1836, 1927, 1969, 2006, 2013, 3024, 3100, 3101, 3168, 3169, 3572, 4031],
])

/** Codes of the client library for connections that were closed. */
const CLOSED: ReadonlySet<string> = new Set(['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT'])

const URL = 'connection.url'

/** Keys of connectors that connect with a JDBC URL. */
const URL_KEY_NAMES: ConnectionKeyNames = {
  host: `the host in ${URL}`,
  port: `the host and port in ${URL}`,
  database: `the name of the database in ${URL}`,
  user: 'the user of the connection',
  password: 'the password',
  sslMode: `another sslMode in ${URL}`,
  rootCertificate: `trustCertificateKeyStoreUrl (jdbc:mysql) or serverSslCert (jdbc:mariadb) in ${URL}`,
  certificates: `the stores and certificates in ${URL}`,
}

/** Remedies by the number of the error. */
const ADVICE: Readonly<Record<number, Advice>> = {
  1044: ({ user }) => `grant the privilege on the database to ${user}`,
  1045: ({ user, password }) => `correct ${user} and ${password}, or permit the host of this worker in the account`,
  1698: ({ user, password }) => `correct ${user} and ${password}, or the authentication plugin of the account`,
  1049: ({ database }) => `correct ${database}, or create it`,
  1142: ({ user }) => `grant the privilege to ${user}`,
  1143: ({ user }) => `grant the privilege to ${user}`,
  1227: ({ user }) => `grant the privilege to ${user}`,
  1370: ({ user }) => `grant the privilege to ${user}`,
  1146: 'create the table, or correct its name',
  1054: 'create the column, or correct its name',
  1064: 'correct the SQL of the configuration',
  1040: 'increase max_connections of the server, or run fewer tasks',
  1203: 'increase max_user_connections of the account, or run fewer tasks',
  1062: 'set insert.mode=upsert, or make the keys of the records unique',
  1153: 'increase max_allowed_packet of the server',
  1170: 'give the column of the key a type with a length, such as VARCHAR(255)',
  1205: 'another transaction holds the lock: the statement is retried',
  1213: 'another transaction holds the locks: the statement is retried',
  1290: 'connect to the primary server: this server is read-only',
  1792: 'connect to the primary server: this server is read-only',
  1836: 'connect to the primary server: this server is read-only',
}

type Reported = {
  readonly code?: string
  readonly errno?: number
  readonly sqlState?: string
  readonly sqlMessage?: string
  readonly message?: string
}

/**
 * Converts an error to a `DatabaseError`. `operation` completes "could not …". A `DatabaseError` is returned unchanged. The error of
 * the client library is not kept: it contains the statement, which may contain data.
 */
export function toMysqlError(
  error: unknown,
  operation: string,
  keys: ConnectionKeyNames = URL_KEY_NAMES,
): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, sqlState, sqlMessage, message, ...reported } = error as Reported
  const errno = sqlMessage === undefined ? undefined : reported.errno
  const advice = errno === undefined ? connectionAdvice({ code, message }, keys) : adviceText(ADVICE[errno], keys)
  const shownCode = errno === undefined ? '' : ` [${errno} ${sqlState}]`
  return new DatabaseError(
    `could not ${operation}: ${sqlMessage || message || code || String(error)}${shownCode}${advice === undefined ? '' : `; ${advice}`}`,
    {
      ...(errno === undefined && { cause: error }),
      isTransient: errno === undefined ? isLost(code, message) : TRANSIENT.has(errno),
      isAboutData: errno !== undefined && DATA_ERRORS.has(errno),
      sqlState: errno === undefined ? undefined : sqlState,
      errno,
    },
  )
}

function isLost(code: string | undefined, message = ''): boolean {
  if (code !== undefined) return isNetworkCode(code) || CLOSED.has(code)
  return /closed state|was closed|connection lost/i.test(message)
}
