/** TLS modes, as PostgreSQL names them. */
export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
export type SslMode = (typeof SSL_MODES)[number]

/** The parsed value of `connection.url`. */
export type ConnectionUrl = {
  /** Hosts in the order in which they are tried. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  /** Undefined selects the database with the name of the user. */
  readonly database: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  readonly sslMode: SslMode
  /** Path of a PEM file, as are the next two. */
  readonly sslRootCert: string | undefined
  readonly sslCert: string | undefined
  readonly sslKey: string | undefined
  /** Schemas to search for unqualified names. */
  readonly searchPath: string | undefined
  readonly applicationName: string | undefined
  readonly connectTimeoutMs: number
  /** Options without effect here. Other drivers define many. */
  readonly ignored: readonly string[]
}

const PORT = 5432
const CONNECT_TIMEOUT_MS = 10_000
const EXPECTED_FORMS = 'jdbc:postgresql://HOST:PORT/DATABASE?OPTION=VALUE or postgresql://USER@HOST:PORT/DATABASE'

/**
 * Parses a URL in the JDBC driver's or in libpq's format. Both accept several hosts, separated by commas, and options
 * after a `?` under the names of either. Throws an `Error` that does not repeat the URL, which may contain a password.
 */
export function parseConnectionUrl(text: string): ConnectionUrl {
  const [, authority, path = '', query = ''] =
    /^(?:jdbc:postgresql:|postgres(?:ql)?:(?=\/\/))(?:\/\/([^/?]*))?\/?([^?]*)\??(.*)$/s.exec(text.trim()) ?? []
  if (!/^(?:jdbc:postgresql:|postgres(?:ql)?:\/\/)/.test(text.trim())) {
    throw new Error(`connection.url is not the URL of a PostgreSQL database: expected ${EXPECTED_FORMS}`)
  }
  const at = authority?.lastIndexOf('@') ?? -1
  const [user, password] = at < 0 ? [] : authority!.slice(0, at).split(/:(.*)/s).map(decode)
  const options = new Map([...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]))
  const take = (...names: string[]) => {
    const values = names.map((name) => options.get(name))
    for (const name of names) options.delete(name)
    return values.find((value) => value !== undefined)
  }
  const seconds = take('connecttimeout', 'connect_timeout', 'logintimeout')
  return {
    hosts: parseHosts(authority?.slice(at + 1) || 'localhost'),
    database: take('dbname', 'pgdbname') ?? (path === '' ? undefined : decode(path)),
    user: take('user') ?? user,
    password: take('password') ?? password,
    sslMode: parseSslMode(take('sslmode'), take('ssl')),
    sslRootCert: take('sslrootcert'),
    sslCert: take('sslcert'),
    sslKey: take('sslkey'),
    searchPath: take('currentschema', 'search_path'),
    applicationName: take('applicationname', 'application_name'),
    connectTimeoutMs: seconds === undefined ? CONNECT_TIMEOUT_MS : parseSeconds(seconds) * 1000,
    ignored: [...new URLSearchParams(query).keys()].filter((name) => options.has(name.toLowerCase())),
  }
}

function parseHosts(list: string): ConnectionUrl['hosts'] {
  return list.split(',').map((entry) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry.trim()) ?? []
    const host = bracketed ?? plain
    if (host === undefined) throw new Error(`connection.url contains an invalid host: expected ${EXPECTED_FORMS}`)
    return { host, port: Number(port ?? PORT) }
  })
}

function parseSslMode(mode: string | undefined, ssl: string | undefined): SslMode {
  if (mode === undefined) return ssl === undefined || ssl === 'false' ? 'prefer' : 'verify-full'
  const known = SSL_MODES.find((name) => name === mode.toLowerCase())
  if (known === undefined) throw new Error(`sslmode=${mode} in connection.url is not one of ${SSL_MODES.join(', ')}`)
  return known
}

function parseSeconds(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new Error(`connectTimeout=${text} in connection.url is not a number of seconds`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
