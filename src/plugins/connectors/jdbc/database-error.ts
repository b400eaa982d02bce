/** A failure of a database operation. The message includes a remedy where one is known. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  /** Whether the error is transient: the server is unavailable, out of resources or has closed the connection. */
  readonly isTransient: boolean
  /** Whether the server rejected the data of a record. Other records may still succeed. */
  readonly isAboutData: boolean
  /** Undefined if the server did not report one. */
  readonly sqlState: string | undefined
  /** The number of an error of MySQL or MariaDB, which is more precise than its SQLSTATE. */
  readonly errno: number | undefined

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly isTransient: boolean
      readonly isAboutData?: boolean | undefined
      readonly sqlState?: string | undefined
      readonly errno?: number | undefined
    },
  ) {
    super(message, options)
    this.isTransient = options.isTransient
    this.isAboutData = options.isAboutData ?? false
    this.sqlState = options.sqlState
    this.errno = options.errno
  }
}

/** Network errors, which are treated as transient. */
const NETWORK = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
])

export function isNetworkCode(code: string | undefined): boolean {
  return code !== undefined && NETWORK.has(code)
}

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

/** The remedy for an error; undefined if none is known. */
export type Advice = string | ((keys: ConnectionKeyNames) => string)

export function adviceText(advice: Advice | undefined, keys: ConnectionKeyNames): string | undefined {
  return typeof advice === 'function' ? advice(keys) : advice
}

/** Remedies for TLS errors, by OpenSSL's error code or, if there is none, by the message of the client library. */
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
  [/does not support SSL|NO_SSL_SUPPORT/, ({ sslMode }) => `enable ssl on the server, or set ${sslMode}`],
]

/** The remedy for an error that the server has not reported: of the network or of TLS. */
export function connectionAdvice(
  { code, message = '' }: { readonly code: string | undefined; readonly message: string | undefined },
  keys: ConnectionKeyNames,
): string | undefined {
  const tlsAdvice = adviceText(TLS_ADVICE.find(([what]) => what.test(code ?? message))?.[1], keys)
  if (tlsAdvice !== undefined) return tlsAdvice
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `correct ${keys.host}, or the DNS configuration`
  if (code === 'ECONNREFUSED') return `start the server, or correct ${keys.port}`
  return isNetworkCode(code) ? 'check that the server is reachable from this worker' : undefined
}

/** Combines the failures of all hosts of one database. The result is transient if any of the failures is. */
export function combineDatabaseErrors(failures: readonly DatabaseError[]): DatabaseError {
  if (failures.length === 1) return failures[0]!
  const isTransient = failures.some((failure) => failure.isTransient)
  return new DatabaseError(failures.map(({ message }) => message).join('; '), { isTransient, cause: failures.at(-1) })
}
