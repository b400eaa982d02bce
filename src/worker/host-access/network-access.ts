import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import type { NetworkAccess } from '../../sdk/index.ts'
import { AddressRules, addressRefused, normalHost } from './address-rules.ts'
import { type HostAccessPolicy, notAllowed } from './host-access-policy.ts'

/** Resolves a name to all its addresses. */
export type Resolver = (host: string, family: number) => Promise<readonly LookupAddress[]>

const lookupAll = promisify(systemLookup)
const bySystem: Resolver = (host, family) => lookupAll(host, { all: true, family })

/**
 * Network access of connectors, restricted by a policy. The address that a connection is made to is checked, so a name
 * that resolves to a different address each time cannot bypass the policy (DNS rebinding).
 */
export function createNetworkAccess(
  policy: Pick<HostAccessPolicy, 'addresses' | 'listeners'>,
  resolver: Resolver = bySystem,
): NetworkAccess {
  const rules = new AddressRules(policy.addresses)

  async function allowedAddresses(host: string, port: number, family: number): Promise<readonly LookupAddress[]> {
    const found = await resolver(host, family)
    const refusals = found.map(({ address }) => ({ address, reason: rules.refusal({ host, port, address }) }))
    const allowed = found.filter((_, at) => refusals[at]?.reason === undefined)
    const [refused] = refusals.filter(({ reason }) => reason !== undefined)
    if (allowed.length === 0 && refused !== undefined) {
      throw addressRefused({ host, port, address: refused.address }, refused.reason!)
    }
    return allowed
  }

  function lookupFor(port: number): LookupFunction {
    return (name, options, callback) => {
      const family = { IPv4: 4, IPv6: 6 }[String(options.family)] ?? Number(options.family ?? 0)
      allowedAddresses(normalHost(name), port, family).then(
        (addresses) => {
          const [first] = addresses
          if (options.all) callback(null, [...addresses])
          else callback(null, first?.address ?? '', first?.family ?? 0)
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      )
    }
  }

  return {
    connectOptions(host, port) {
      rules.check({ host: normalHost(host), port })
      return { lookup: lookupFor(port) }
    },
    async resolve(written, port) {
      const host = normalHost(written)
      rules.check({ host, port })
      if (isIP(host) !== 0) return host
      const [first] = await allowedAddresses(host, port, 0)
      if (first === undefined) throw new Error(`${host} has no address`)
      return first.address
    },
    checkListener(host, port) {
      const reason = listenerRefusal(policy.listeners, normalHost(host), port)
      if (reason === undefined) return
      throw notAllowed(`connectors may not listen at ${host}:${port}: ${reason}`)
    },
  }
}

function listenerRefusal(
  { allowed, ownPorts }: HostAccessPolicy['listeners'],
  host: string,
  port: number,
): string | undefined {
  if (ownPorts.includes(port)) return `${port} is a port of the worker itself`
  if (allowed === undefined) return undefined
  const isListed = allowed.some((entry) => {
    const [, listedHost = '', listedPort] = /^(.*?)(?::(\d+|\*))?$/.exec(entry) ?? []
    const isHost = listedHost === '*' || normalHost(listedHost) === host
    return isHost && (listedPort === undefined || listedPort === '*' || Number(listedPort) === port)
  })
  return isListed ? undefined : "connector.listeners.allowed does not have it in the worker's settings"
}
