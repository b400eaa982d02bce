import type { Broker } from '../../broker/broker.ts'
import type { ClientSettings } from './client-settings.ts'

/**
 * How the clients of a connector reach another cluster, or with another account, than the worker; undefined if they do not. What the
 * worker reads for such a connector may differ from what the connector reads, and its account may be permitted less.
 */
export async function connectionDifference(
  broker: Broker,
  clients: ClientSettings,
  kind: 'producer' | 'consumer',
): Promise<string | undefined> {
  const address = await broker.address()
  if (address.kind === 'thread') address.port.close()
  if (address.kind !== 'kafka') return undefined
  const differing = Object.entries(clients.connection(kind)).flatMap(([key, value]) =>
    address.config[key] === value || !isAccess(key) ? [] : [key],
  )
  if (differing.length === 0) return undefined
  return `${kind}s that connect to Kafka in another way than the worker (${differing.join(', ')})`
}

/** Whether a setting of connections selects the cluster or the account. */
function isAccess(key: string): boolean {
  return /^(?:bootstrap\.servers$|security\.|sasl\.|ssl\.)/.test(key)
}
