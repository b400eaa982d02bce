import { MessageChannel } from 'node:worker_threads'
import { afterAll, beforeAll } from 'vitest'
import { createBroker } from '../../src/broker/client.ts'
import { openEmbeddedHome } from '../../src/broker/embedded/home.ts'
import { serveHome } from '../../src/broker/embedded/thread.ts'
import type { BrokerAddress, Home } from '../../src/broker/home.ts'
import { openBroker } from '../../src/broker/open.ts'
import { silentLogger } from '../../src/config/logger.ts'
import { describeBroker } from '../contract/broker.ts'

const logger = silentLogger()
let home: Home

beforeAll(async () => {
  home = await openEmbeddedHome(':memory:', { logger })
})
afterAll(() => home.close())

async function address(): Promise<BrokerAddress> {
  const { port1, port2 } = new MessageChannel()
  serveHome(home, port1)
  return { kind: 'thread', port: port2 }
}

describeBroker('the embedded broker', async () => createBroker(unowned(home), { logger, address }))
describeBroker('the embedded broker, over a port', async () => openBroker(await address(), { logger }))

/** The home outlives the brokers that tests close. */
function unowned(shared: Home): Home {
  return new Proxy(shared, {
    get: (target, call: keyof Home) =>
      call === 'close' ? async () => undefined : (target[call] as () => unknown).bind(target),
  })
}
