import { MessageChannel } from 'node:worker_threads'
import type { Logger } from '../common/logging/logger.ts'
import type { Broker } from './broker.ts'
import type { BrokerAddress } from './broker-address.ts'
import type { BrokerBackend } from './broker-backend.ts'
import { createBrokerClient } from './broker-client.ts'
import type { ClientAccess } from './client-access.ts'

export type OpenBrokerOptions = {
  readonly logger: Logger
  /** Access of a Kafka client to files and hosts. Default: unrestricted. */
  readonly access?: ClientAccess
}

/** Opens the broker at `address`. The code of a backend is loaded on demand. */
export async function openBroker(address: BrokerAddress, options: OpenBrokerOptions): Promise<Broker> {
  switch (address.kind) {
    case 'kafka': {
      const { openKafkaBackend } = await import('./kafka/kafka-backend.ts')
      const backend = await openKafkaBackend(address.config, options)
      return createBrokerClient(backend, { ...options, defaults: backend.defaults, address: async () => address })
    }
    case 'embedded': {
      const { openEmbeddedBackend } = await import('./embedded/embedded-backend.ts')
      const { directory, fsync = 'checkpoint' } = address
      return openShared(await openEmbeddedBackend(directory, { ...options, fsync }), options)
    }
    case 'thread': {
      const { connectThreadBackend } = await import('./embedded/thread-backend.ts')
      return openShared(connectThreadBackend(address.port), options)
    }
    case 'process': {
      const { connectToBroker } = await import('./embedded/socket-link.ts')
      const { connectThreadBackend } = await import('./embedded/thread-backend.ts')
      return openShared(connectThreadBackend(await connectToBroker(address)), options)
    }
  }
}

/** A backend in this process; other threads get a port to it. */
function openShared(backend: BrokerBackend, options: { readonly logger: Logger }): Broker {
  return createBrokerClient(backend, {
    ...options,
    address: async () => {
      const { serveBackend } = await import('./embedded/thread-backend.ts')
      const { port1, port2 } = new MessageChannel()
      serveBackend(backend, port1)
      return { kind: 'thread', port: port2 }
    },
  })
}
