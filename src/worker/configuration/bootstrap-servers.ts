import type { Broker } from '../../broker/broker.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'

/** The servers in a value of `bootstrap.servers`. */
export function serversOf(bootstrapServers: string): readonly string[] {
  return bootstrapServers.split(',').map((server) => trimAsJava(server).toLowerCase())
}

/** The servers that a broker was opened with; undefined for an embedded one. */
export async function serversOfBroker(broker: Pick<Broker, 'address'>): Promise<readonly string[] | undefined> {
  const address = await broker.address()
  if (address.kind === 'thread') address.port.close()
  return address.kind === 'kafka' ? serversOf(address.config['bootstrap.servers'] ?? '') : undefined
}
