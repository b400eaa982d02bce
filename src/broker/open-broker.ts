import { MessageChannel } from 'node:worker_threads'
import type { Logger } from '../config/logger.ts'
import type { BrokerBackend } from './backend.ts'
import type { Broker } from './broker.ts'
import type { BrokerAddress } from './broker-address.ts'
import { createBrokerClient } from './broker-client.ts'
import type { ClientAccess } from './client-access.ts'

export type OpenBrokerOptions = {
  readonly logger: Logger
  /** How a client of Kafka reaches files and hosts. Default: as the process may. */
  readonly access?: ClientAccess
}

/** Opens the log that `address` names. A home's code is loaded when it is asked for. */
export async function openBroker(address: BrokerAddress, options: OpenBrokerOptions): Promise<Broker> {
  switch (address.kind) {
    case 'kafka': {
      const { openKafkaBackend } = await import('./kafka/backend.ts')
      return createBrokerClient(await openKafkaBackend(address.config, options), {
        ...options,
        address: async () => address,
      })
    }
    case 'embedded': {
      const { openEmbeddedBackend } = await import('./embedded/backend.ts')
      const { directory, fsync = 'checkpoint' } = address
      return shared(await openEmbeddedBackend(directory, { ...options, fsync }), options)
    }
    case 'thread': {
      const { connectThreadBackend } = await import('./embedded/thread-backend.ts')
      return shared(connectThreadBackend(address.port), options)
    }
  }
}

/** A home in this process: other threads get a port to it. */
function shared(home: BrokerBackend, options: { readonly logger: Logger }): Broker {
  return createBrokerClient(home, {
    ...options,
    address: async () => {
      const { serveBackend } = await import('./embedded/thread-backend.ts')
      const { port1, port2 } = new MessageChannel()
      serveBackend(home, port1)
      return { kind: 'thread', port: port2 }
    },
  })
}
