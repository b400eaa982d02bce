import { lookup, reverse } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'

export type NodeAddress = { readonly host: string; readonly port: number }

/**
 * Resolves a host to all its IP addresses, in the order of the system's resolver. It is called for each connection, because a
 * name may resolve to others later. `restricted` is the lookup of a client whose destinations are restricted.
 */
export type ResolveHost = (host: string, restricted?: LookupFunction) => Promise<readonly string[]>

/** `client.dns.lookup=use_all_dns_ips`. */
export const resolveAll: ResolveHost = async (host, restricted) => {
  if (isIP(host) !== 0 && restricted === undefined) return [host]
  if (restricted === undefined) return (await lookup(host, { all: true })).map(({ address }) => address)
  return new Promise((resolve, reject) =>
    restricted(host, { all: true }, (error, found) => {
      if (error) reject(error)
      else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address))
    }),
  )
}

/** The canonical name of an IP address; the address itself when it has none. */
export type ResolveName = (address: string) => Promise<string>

export const canonicalNameOf: ResolveName = async (address) => {
  const [name = address] = await reverse(address).catch(() => [])
  return name
}

/** Replaces each name by the canonical names of its addresses: `client.dns.lookup=resolve_canonical_bootstrap_servers_only`. */
export async function resolveCanonical(
  servers: readonly NodeAddress[],
  resolveHost: (host: string) => Promise<readonly string[]>,
  nameOf: ResolveName,
): Promise<readonly NodeAddress[]> {
  const names = await Promise.allSettled(
    servers.map(async ({ host, port }) => {
      const found = await Promise.all((await resolveHost(host)).map(nameOf))
      return found.map((name) => ({ host: name, port }))
    }),
  )
  return names.flatMap((resolved) => (resolved.status === 'fulfilled' ? resolved.value : []))
}
