import { expect, it } from 'vitest'
import type { Producer } from '../../src/broker/broker.ts'
import { createBrokerClient } from '../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/backend.ts'
import { silentLogger } from '../../src/config/logger.ts'

it('fences older producers of its id without transactions, once it has written, and for good', async () => {
  const logger = silentLogger()
  const home = await openEmbeddedBackend(':memory:', { logger })
  const broker = createBrokerClient(home, { logger, address: () => Promise.reject(new Error('it has no address')) })
  await broker.topics.create({ name: 't', partitions: 1 })
  const write = (producer: Producer) => producer.send([{ topic: 't', partition: 0, key: null, value: null }])
  const older = await broker.producer({ fencingId: 'leader' })
  await write(older)
  const newer = await broker.producer({ fencingId: 'leader' })
  await write(newer)
  await expect(write(older)).rejects.toMatchObject({ code: 'fenced' })
  // It does not come back: that would fence the newer one.
  await expect(write(older)).rejects.toMatchObject({ code: 'fenced' })
  expect((await write(newer)).offsets[0]).toBe(2)
  await broker.close()
})
