import { BlockList, isIP } from 'node:net'
import { UserError } from '../../common/errors.ts'
import { matchesWildcard } from '../../regex/wildcard.ts'
import { type AddressPolicy, notAllowed } from './host-access-policy.ts'
import { DEFAULT_PORTS } from './hosts-in-config.ts'
import { reachableAddresses } from './ip-address.ts'

/**
 * The destination of a connection. `port` is 0 while it is unknown, `address` is undefined while the name is
 * unresolved.
 */
export type Destination = { readonly host: string; readonly port: number; readonly address?: string | undefined }

type Rule = {
  readonly text: string
  readonly isException: boolean
  readonly matches: (destination: Destination) => boolean
}

const GROUPS: Readonly<Record<string, { readonly subnets: readonly string[]; readonly names: readonly string[] }>> = {
  loopback: {
    // Linux connects 0.0.0.0 and :: to the local machine.
    subnets: ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128'],
    names: [],
  },
  'link-local': { subnets: ['169.254.0.0/16', 'fe80::/10'], names: [] },
  // Metadata services of AWS (IMDS, ECS, EKS), Google, Azure, Alibaba and Oracle, and the Kubernetes API server.
  metadata: {
    subnets: [
      ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16', '100.100.100.200', '192.0.0.192'].map(
        (address) => `${address}/32`,
      ),
      ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'].map((address) => `${address}/128`),
    ],
    names: [
      ...['metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal'],
      ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.*'],
    ],
  },
  private: {
    subnets: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10'],
    names: [],
  },
}

/** What connectors may not connect to by default if users have to authenticate. */
export const DENIED_BY_DEFAULT = ['loopback', 'link-local', 'metadata'] as const

/** Names of the local machine that are not resolved (RFC 6761, section 6.3). */
const LOCALHOST = /^(?:.+\.)?localhost$|^localhost\.localdomain$|^ip6-(?:localhost|loopback)$/

/**
 * Evaluates the lists of allowed and denied destinations; a denied one takes precedence. The constructor throws a
 * `UserError` for an invalid entry.
 */
export class AddressRules {
  readonly #allowed: readonly Rule[] | undefined
  readonly #denied: readonly Rule[]

  constructor({ allowed, denied }: AddressPolicy) {
    this.#allowed = allowed?.map((text) => parseRule('connector.urls.allowed', text))
    this.#denied = denied.map((text) => parseRule('connector.urls.denied', text))
  }

  /**
   * Returns the reason why a connection is refused, or undefined. An unresolved destination is checked by its name
   * only.
   */
  refusal(written: Destination): string | undefined {
    const isUnresolved = written.address === undefined
    const destination = isUnresolved && LOCALHOST.test(written.host) ? { ...written, address: '127.0.0.1' } : written
    const excepted = this.#denied.some(({ isException, matches }) => isException && matches(destination))
    const denying = this.#denied.find(({ isException, matches }) => !isException && matches(destination))
    if (denying !== undefined && !excepted) return `connector.urls.denied has ${denying.text}`
    if (this.#allowed === undefined || this.#allowed.some(({ matches }) => matches(destination))) return undefined
    // Subnets in the list of allowed destinations can match only after the name is resolved.
    const mayMatchLater = destination.address === undefined && isIP(destination.host) === 0
    return mayMatchLater ? undefined : 'connector.urls.allowed does not have it'
  }

  check(destination: Destination): void {
    const reason = this.refusal(destination)
    if (reason !== undefined) throw addressRefused(destination, reason)
  }
}

export function addressRefused({ host, port, address }: Destination, reason: string): Error {
  const shown = address === undefined || address === host ? `${host}:${port}` : `${host}:${port} (${address})`
  return notAllowed(`connectors may not connect to ${shown}: ${reason} in the worker's settings`)
}

/** Normalizes a host for comparison: lower case, without brackets and without trailing dots. */
export function normalHost(host: string): string {
  return host
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.+$/, '')
}

/** Parses `[!][SCHEME://]HOST[:PORT]`, where HOST is a name with wildcards (`*`), an address, a subnet or a group. */
function parseRule(setting: string, text: string): Rule {
  const parts = /^(!)?(?:([a-z]+):\/\/)?(?:\[([^\]]+)\]|([^[\]:]*)|([0-9a-f:.]+(?:\/\d+)?))(?::(\d+))?\/?$/i.exec(text)
  const host = normalHost(parts?.[3] ?? parts?.[4] ?? parts?.[5] ?? '')
  const matchesHost = host === '' ? undefined : hostMatcher(host)
  if (!parts || !matchesHost || (parts[1] && !setting.endsWith('denied'))) {
    throw new UserError(
      'invalid_settings',
      `${setting}: '${text}' is none of HOST, HOST:PORT, SCHEME://HOST, ADDRESS/BITS and ${Object.keys(GROUPS).join(', ')}; ` +
        'a ! before an entry of connector.urls.denied makes it an exception',
    )
  }
  const mayBeAnyPort = parts[1] !== undefined || setting.endsWith('allowed')
  const port = parts[6] === undefined ? DEFAULT_PORTS[parts[2]?.toLowerCase() ?? ''] : Number(parts[6])
  return {
    text,
    isException: parts[1] !== undefined,
    matches: (destination) => {
      // While the port is unknown (0), a rule with a port can allow but not deny.
      const isPort = port === undefined || port === destination.port || (destination.port === 0 && mayBeAnyPort)
      return isPort && matchesHost(destination)
    },
  }
}

function hostMatcher(host: string): Rule['matches'] | undefined {
  const group = Object.hasOwn(GROUPS, host) ? GROUPS[host] : undefined
  if (group !== undefined) {
    const extra = host === 'metadata' ? apiServerAddresses() : []
    const [subnets, names] = [subnetMatcher([...group.subnets, ...extra]), group.names.map(nameMatcher)]
    return (destination) => subnets?.(destination) || names.some((matches) => matches(destination))
  }
  if (isIP(host) !== 0) return subnetMatcher([`${host}/${isIP(host) === 4 ? 32 : 128}`])
  if (host.includes('/')) return subnetMatcher([host])
  return /^[\w.*-]+$/.test(host) ? nameMatcher(host) : undefined
}

/** Kubernetes passes the address of the API server to every pod. */
function apiServerAddresses(): readonly string[] {
  const host = process.env['KUBERNETES_SERVICE_HOST'] ?? ''
  const version = isIP(host)
  return version === 0 ? [] : [`${host}/${version === 4 ? 32 : 128}`]
}

function subnetMatcher(subnets: readonly string[]): Rule['matches'] | undefined {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(subnet) ?? []
    const version = isIP(address)
    if (version === 0 || Number(bits) > (version === 4 ? 32 : 128)) return undefined
    list.addSubnet(address, Number(bits), version === 4 ? 'ipv4' : 'ipv6')
  }
  return ({ host, address = host }) =>
    reachableAddresses(address).some((one) => list.check(one, isIP(one) === 4 ? 'ipv4' : 'ipv6'))
}

function nameMatcher(glob: string): Rule['matches'] {
  return ({ host }) => matchesWildcard(glob, host)
}
