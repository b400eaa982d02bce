import { networkInterfaces } from 'node:os'
import { UserError } from '../common/errors.ts'

/** The address of a listener. An empty host means all interfaces, port 0 any free port. */
export type Listener = { readonly scheme: 'http' | 'https'; readonly host: string; readonly port: number }

/** Parses `http://host:port`; IPv6 addresses are in brackets. */
export function parseListener(text: string): Listener {
  const match = /^(https?):\/\/(\[[0-9a-f:.]+\]|[^:/[\]]*):(\d{1,5})\/?$/i.exec(text.trim())
  const port = Number(match?.[3])
  if (!match || port > 65_535) {
    throw new UserError(
      'invalid_listener',
      `'${text}' is not a listener: expected http://HOST:PORT, such as http://0.0.0.0:8081`,
    )
  }
  const scheme = match[1]?.toLowerCase() === 'https' ? 'https' : 'http'
  return { scheme, host: (match[2] ?? '').replace(/^\[|\]$/g, ''), port }
}

/**
 * The host that other machines use if no name is configured: that of the listener, or the first address of this machine
 * if it listens on all interfaces.
 */
export function reachableHost({ host }: Listener): string {
  return isWildcardAddress(host) ? (ownAddress() ?? 'localhost') : host
}

/** The URL of a bound listener for clients on this machine. */
export function listenerUrl(listener: Listener, port: number): string {
  const host = isWildcardAddress(listener.host)
    ? 'localhost'
    : listener.host.includes(':')
      ? `[${listener.host}]`
      : listener.host
  return `${listener.scheme}://${host}:${port}`
}

/** Whether a host means all interfaces. */
export function isWildcardAddress(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::'
}

function ownAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address
}

/** Explains why a port could not be bound. */
export function bindError(listener: Listener, error: NodeJS.ErrnoException): Error {
  const where = `${listener.host === '' ? '*' : listener.host}:${listener.port}`
  if (error.code === 'EADDRINUSE') {
    return new UserError(
      'address_in_use',
      `port ${listener.port} is in use: another program listens on ${where}; stop it or choose another port`,
      { cause: error },
    )
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new UserError(
      'address_not_available',
      `cannot listen on '${listener.host}': this machine has no such address`,
      {
        cause: error,
      },
    )
  }
  if (error.code === 'EACCES') {
    return new UserError(
      'permission_denied',
      `not allowed to listen on ${where}: ports below 1024 require a privilege`,
      {
        cause: error,
      },
    )
  }
  return error
}
