import { isIPv6 } from 'node:net'
import type { NetworkAccess } from '../../../sdk/index.ts'

export type ProxySettings = {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
}

/**
 * Returns the proxy's URL with its resolved address, because the agent's connections to the proxy are not checked
 * against the network policy. Undefined without a host.
 */
export async function proxyUrl(
  { host, port, user, password }: ProxySettings,
  network: NetworkAccess,
): Promise<string | undefined> {
  if (host === '') return undefined
  const who = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
  const address = await network.resolve(host, port)
  return `http://${who}${isIPv6(address) ? `[${address}]` : address}:${port}`
}
