import type { Broker } from '../../broker/broker.ts'

/** The servers in a value of `bootstrap.servers`. */
export function serversOf(bootstrapServers: string): readonly string[] {
  return bootstrapServers.split(',').map((server) => server.trim().toLowerCase())
}

/** The servers that a broker was opened with; undefined for an embedded one. */
export async function serversOfBroker(broker: Pick<Broker, 'address'>): Promise<readonly string[] | undefined> {
  const address = await broker.address()
  if (address.kind === 'thread') address.port.close()
  return address.kind === 'kafka' ? serversOf(address.config['bootstrap.servers'] ?? '') : undefined
}
