/** A host and port in a configuration, before name resolution; `port` is 0 if unknown. */
export type NamedHost = { readonly host: string; readonly port: number }

/** By URL scheme. */
export const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  http: 80,
  https: 443,
  postgresql: 5432,
  postgres: 5432,
  mysql: 3306,
  mariadb: 3306,
}

/**
 * Extracts the hosts from the value of a key: URLs, `HOST:PORT` or hosts, separated by commas; a URL may name several
 * hosts, as PostgreSQL's do. Parts that cannot be parsed are skipped: the plugin rejects them, or they are checked on
 * connection.
 */
export function hostsIn(value: string): readonly NamedHost[] {
  const url = /^\s*(?:jdbc:)?([a-z][a-z\d+.-]*):\/\/(?:[^/?#]*@)?([^/?#@]*)/i
  let scheme = ''
  return value.split(',').flatMap((part) => {
    const [, ownScheme, authority = part.trim().replace(/[/?#].*$/s, '')] = url.exec(part) ?? []
    scheme = ownScheme?.toLowerCase() ?? scheme
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(authority) ?? []
    const host = bracketed ?? plain
    if (host === undefined) return []
    const defaultPort = DEFAULT_PORTS[scheme] ?? 0
    return [
      {
        host: /^https?$/.test(scheme) ? normalized(host) : host,
        port: port === undefined ? defaultPort : Number(port),
      },
    ]
  })
}

/** Normalizes a host as URL parsers do: `0x7f.1` is 127.0.0.1. */
function normalized(host: string): string {
  const bracketed = host.includes(':') ? `[${host}]` : host
  return URL.parse(`http://${bracketed}`)?.hostname ?? host
}
