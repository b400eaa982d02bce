/** TLS modes, in order of what they verify. */
export type MysqlSslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'

/** How a zero date (`0000-00-00`) is read. */
export type ZeroDates = 'exception' | 'null' | 'round'

/** Certificates of the connection, by Java's names of their settings. Each location is a PEM file or a PKCS#12 store. */
export type MysqlCertificates = Readonly<
  Partial<
    Record<
      | 'ssl.truststore.location'
      | 'ssl.truststore.password'
      | 'ssl.keystore.location'
      | 'ssl.keystore.password'
      | 'ssl.key.password',
      string
    >
  >
>

/** The parsed value of `connection.url`. */
export type MysqlUrl = {
  /** Hosts in the order in which they are tried. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  /** Path of the socket of a server on this machine, which is used instead of the hosts. */
  readonly socketPath: string | undefined
  readonly database: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  readonly sslMode: MysqlSslMode
  readonly certificates: MysqlCertificates
  /** Whether the password may be encrypted with a key that the server sends, if the connection has no TLS. */
  readonly allowsPublicKeyRetrieval: boolean
  readonly connectTimeoutMs: number
  /** Time after which a query without an answer ends the session; 0: none. */
  readonly queryTimeoutMs: number
  /** Assignments of session variables, as SQL. */
  readonly sessionVariables: string
  readonly zeroDates: ZeroDates
  /** Whether a year is read as its first day, not as a number. */
  readonly isYearDate: boolean
  /** Whether `tinyint(1)` is read as a boolean. */
  readonly isTinyintBoolean: boolean
  /** Options without effect here. The Java drivers define many. */
  readonly ignored: readonly string[]
}

const PORT = 3306
const CONNECT_TIMEOUT_MS = 10_000
const EXPECTED_FORMS = 'jdbc:mysql://HOST:PORT/DATABASE?OPTION=VALUE or jdbc:mariadb://HOST:PORT/DATABASE?OPTION=VALUE'

/** What the driver of MySQL or that of MariaDB does by default. */
type Driver = 'mysql' | 'mariadb'

/** Options that change how the driver connects or what it reads in a way that is not supported, with the reason. */
const REJECTED: Readonly<Record<string, string>> = {
  authenticationplugins: 'the authentication plugins of the Java driver are classes',
  defaultauthenticationplugin: 'the server selects the authentication plugin',
  authenticationfactors: 'only one authentication factor is supported',
  credentialtype: 'credentials of a Java class are not supported: set connection.user and connection.password',
  socketfactory: 'socket factories are Java classes',
  namedpipepath: 'named pipes exist on Windows only',
  pipe: 'named pipes exist on Windows only',
  serviceprincipalname: 'Kerberos is not supported',
}

/**
 * Parses a URL of MySQL's or MariaDB's JDBC driver. Several hosts, separated by commas, are tried in order. Throws an `Error` that
 * does not repeat the URL, which may contain a password.
 */
export function parseMysqlUrl(text: string): MysqlUrl {
  const [, driver, authority = '', path = '', query = ''] =
    /^(?:jdbc:)?(mysql|mariadb):(?:[a-z-]+:)?\/\/([^/?]*)\/?([^?]*)\??(.*)$/s.exec(text.trim()) ?? []
  if (driver === undefined) {
    throw new Error(`connection.url is not the URL of a MySQL or MariaDB database: expected ${EXPECTED_FORMS}`)
  }
  const at = authority.lastIndexOf('@')
  const [user, password] = at < 0 ? [] : authority.slice(0, at).split(/:(.*)/s).map(decode)
  const options = new UrlOptions(query)
  const socketPath = options.take('localSocket')
  const parsed = {
    hosts: parseHosts(authority.slice(at + 1) || 'localhost'),
    socketPath,
    database: path === '' ? undefined : decode(path),
    user: options.take('user') ?? user,
    password: options.take('password') ?? password,
    sslMode: parseSslMode(driver as Driver, options),
    certificates: parseCertificates(options),
    allowsPublicKeyRetrieval: options.takeBoolean('allowPublicKeyRetrieval') ?? false,
    connectTimeoutMs: options.takeNumber('connectTimeout') || CONNECT_TIMEOUT_MS,
    queryTimeoutMs: options.takeNumber('socketTimeout') ?? 0,
    sessionVariables: parseSessionVariables(options.take('sessionVariables') ?? ''),
    zeroDates: parseZeroDates(options.take('zeroDateTimeBehavior'), driver as Driver),
    isYearDate: options.takeBoolean('yearIsDateType') ?? true,
    isTinyintBoolean:
      (options.takeBoolean('transformedBitIsBoolean') ?? false) && (options.takeBoolean('tinyInt1isBit') ?? true),
  }
  return { ...parsed, ignored: options.rest() }
}

/** The options of a URL. Their names are case-insensitive, as in the drivers. */
class UrlOptions {
  readonly #values = new Map<string, { readonly name: string; readonly value: string }>()

  constructor(query: string) {
    for (const [name, value] of new URLSearchParams(query)) this.#values.set(name.toLowerCase(), { name, value })
  }

  take(...names: readonly string[]): string | undefined {
    const found = names.map((name) => this.#values.get(name.toLowerCase())?.value)
    for (const name of names) this.#values.delete(name.toLowerCase())
    return found.find((value) => value !== undefined && value !== '')
  }

  takeBoolean(...names: readonly string[]): boolean | undefined {
    const value = this.take(...names)?.toLowerCase()
    if (value === undefined) return undefined
    if (/^(?:true|yes|1)$/.test(value)) return true
    if (/^(?:false|no|0)$/.test(value)) return false
    throw new Error(`${names[0]} in connection.url must be true or false`)
  }

  takeNumber(name: string): number | undefined {
    const value = this.take(name)
    if (value === undefined || /^\d+$/.test(value)) return value === undefined ? undefined : Number(value)
    throw new Error(`${name} in connection.url must be a number of milliseconds`)
  }

  /** The names of the options that are left. Throws for one that is not supported. */
  rest(): readonly string[] {
    for (const [key, { name }] of this.#values) {
      const reason = REJECTED[key]
      if (reason !== undefined) throw new Error(`the option ${name} of connection.url is not supported: ${reason}`)
    }
    return [...this.#values.values()].map(({ name }) => name)
  }
}

/** Parses `HOST:PORT`, and the forms with keys: `address=(host=HOST)(port=PORT)` and `(host=HOST,port=PORT)`. */
function parseHosts(list: string): MysqlUrl['hosts'] {
  return splitHosts(list).map((entry) => {
    const inKeys = /^(?:address=)?\(/i.test(entry)
    const [, bracketed, plain, port] = inKeys
      ? [undefined, undefined, keyOf(entry, 'host') ?? 'localhost', keyOf(entry, 'port')]
      : (/^(?:\[([^\]]+)\]|([^:()]*))(?::(\d+))?$/.exec(entry) ?? [])
    const host = bracketed ?? (plain === '' ? 'localhost' : plain)
    if (host === undefined) throw new Error(`connection.url contains an invalid host: expected ${EXPECTED_FORMS}`)
    return { host, port: Number(port ?? PORT) }
  })
}

/** Splits at commas outside of parentheses. */
function splitHosts(list: string): readonly string[] {
  return [...list.matchAll(/(?:[^,(]|\([^)]*\))+/g)].map(([entry]) => entry.trim())
}

function keyOf(entry: string, key: 'host' | 'port'): string | undefined {
  const pattern = key === 'host' ? /[(,]\s*host=([^),]+)/i : /[(,]\s*port=(\d+)/i
  return pattern.exec(entry)?.[1]
}

const MODES: Readonly<Record<string, MysqlSslMode>> = {
  disabled: 'disable',
  disable: 'disable',
  preferred: 'prefer',
  required: 'require',
  trust: 'require',
  verify_ca: 'verify-ca',
  'verify-ca': 'verify-ca',
  verify_identity: 'verify-full',
  'verify-full': 'verify-full',
}

function parseSslMode(driver: Driver, options: UrlOptions): MysqlSslMode {
  const older = driver === 'mariadb' ? olderMariadbMode(options) : olderMysqlMode(options)
  const mode = options.take('sslMode', 'ssl-mode')
  if (mode === undefined) return older
  const known = MODES[mode.toLowerCase()]
  if (known !== undefined) return known
  throw new Error(`sslMode=${mode} in connection.url is not one of ${Object.keys(MODES).join(', ')}`)
}

/** The mode by the options that `sslMode` replaces. */
function olderMysqlMode(options: UrlOptions): MysqlSslMode {
  const usesSsl = options.takeBoolean('useSSL') ?? true
  const verifies = options.takeBoolean('verifyServerCertificate') ?? false
  const isRequired = options.takeBoolean('requireSSL') ?? false
  if (!usesSsl) return 'disable'
  if (verifies) return 'verify-ca'
  return isRequired ? 'require' : 'prefer'
}

function olderMariadbMode(options: UrlOptions): MysqlSslMode {
  const usesSsl = options.takeBoolean('useSSL') ?? false
  const trusts = options.takeBoolean('trustServerCertificate') ?? false
  const ignoresName = options.takeBoolean('disableSslHostnameVerification') ?? false
  if (!usesSsl) return 'disable'
  if (trusts) return 'require'
  return ignoresName ? 'verify-ca' : 'verify-full'
}

function parseCertificates(options: UrlOptions): MysqlCertificates {
  // The types of the stores are detected from their content.
  options.take('trustCertificateKeyStoreType', 'trustStoreType')
  options.take('clientCertificateKeyStoreType', 'keyStoreType')
  const entries = {
    'ssl.truststore.location': filePath(options.take('serverSslCert', 'trustCertificateKeyStoreUrl', 'trustStore')),
    'ssl.truststore.password': options.take('trustCertificateKeyStorePassword', 'trustStorePassword'),
    'ssl.keystore.location': filePath(options.take('clientCertificateKeyStoreUrl', 'keyStore')),
    'ssl.keystore.password': options.take('clientCertificateKeyStorePassword', 'keyStorePassword'),
    'ssl.key.password': options.take('keyPassword'),
  }
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined))
}

/** The Java drivers take URLs of files and paths. */
function filePath(location: string | undefined): string | undefined {
  return location?.replace(/^file:(?:\/\/)?/, '')
}

function parseSessionVariables(text: string): string {
  if (!/\b(?:time_zone|character_set_\w+|collation_connection|names|charset|character\s+set)\b/i.test(text)) return text
  throw new Error(
    'sessionVariables in connection.url must not set time_zone or character sets: sessions use UTC and utf8mb4, which the ' +
      'conversion of values depends on',
  )
}

const ZERO_DATES: Readonly<Record<string, ZeroDates>> = {
  exception: 'exception',
  converttonull: 'null',
  convert_to_null: 'null',
  round: 'round',
}

function parseZeroDates(value: string | undefined, driver: Driver): ZeroDates {
  if (value === undefined) return driver === 'mariadb' ? 'null' : 'exception'
  const known = ZERO_DATES[value.toLowerCase()]
  if (known !== undefined) return known
  throw new Error(`zeroDateTimeBehavior=${value} in connection.url is not one of EXCEPTION, CONVERT_TO_NULL and ROUND`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
