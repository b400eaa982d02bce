import { MessageChannel } from 'node:worker_threads'
import { afterAll, beforeAll } from 'vitest'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'
import type { BrokerBackend } from '../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/embedded-backend.ts'
import { type BackendListener, listenForCommands } from '../../src/broker/embedded/socket-link.ts'
import { serveBackend } from '../../src/broker/embedded/thread-backend.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { describeBroker } from '../contract/broker.ts'

const logger = silentLogger()
let backend: BrokerBackend
let listener: BackendListener

beforeAll(async () => {
  backend = await openEmbeddedBackend(':memory:', { logger })
  listener = await listenForCommands(async () => (await address()).port)
})
afterAll(async () => {
  await listener.close()
  await backend.close()
})

async function address(): Promise<Extract<BrokerAddress, { kind: 'thread' }>> {
  const { port1, port2 } = new MessageChannel()
  serveBackend(backend, port1)
  return { kind: 'thread', port: port2 }
}

describeBroker('embedded broker', async () => createBrokerClient(unowned(backend), { logger, address }))
describeBroker('embedded broker in another thread', async () => openBroker(await address(), { logger }), {
  tags: ['slow'],
})

describeBroker(
  'embedded broker in another process',
  async () => openBroker({ kind: 'process', ...listener.address }, { logger }),
  { tags: ['slow'] },
)

/** Keeps the backend open when a test closes its broker. */
function unowned(shared: BrokerBackend): BrokerBackend {
  return new Proxy(shared, {
    get: (target, call: keyof BrokerBackend) =>
      call === 'close' ? async () => undefined : (target[call] as () => unknown).bind(target),
  })
}
