import { MessageChannel } from 'node:worker_threads'
import type { Logger } from '../config/logger.ts'
import type { Broker } from './broker.ts'
import { createBroker } from './client.ts'
import type { ClientAccess } from './client-access.ts'
import type { BrokerAddress, Home } from './home.ts'

export type OpenOptions = {
  readonly logger: Logger
  /** How a client of Kafka reaches files and hosts. Default: as the process may. */
  readonly access?: ClientAccess
}

/** Opens the log that `address` names. A home's code is loaded when it is asked for. */
export async function openBroker(address: BrokerAddress, options: OpenOptions): Promise<Broker> {
  switch (address.kind) {
    case 'kafka': {
      const { openKafkaHome } = await import('./kafka/home.ts')
      return createBroker(await openKafkaHome(address.config, options), { ...options, address: async () => address })
    }
    case 'embedded': {
      const { openEmbeddedHome } = await import('./embedded/home.ts')
      const { directory, fsync = 'checkpoint' } = address
      return shared(await openEmbeddedHome(directory, { ...options, fsync }), options)
    }
    case 'thread': {
      const { connectThreadHome } = await import('./embedded/thread.ts')
      return shared(connectThreadHome(address.port), options)
    }
  }
}

/** A home in this process: other threads get a port to it. */
function shared(home: Home, options: { readonly logger: Logger }): Broker {
  return createBroker(home, {
    ...options,
    address: async () => {
      const { serveHome } = await import('./embedded/thread.ts')
      const { port1, port2 } = new MessageChannel()
      serveHome(home, port1)
      return { kind: 'thread', port: port2 }
    },
  })
}
