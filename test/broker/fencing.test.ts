import { expect, it } from 'vitest'
import type { Producer } from '../../src/broker/broker.ts'
import { createBrokerClient } from '../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'

it('a producer permanently fences producers with the same id and a lower epoch after its first write', async () => {
  const logger = silentLogger()
  const backend = await openEmbeddedBackend(':memory:', { logger })
  const broker = createBrokerClient(backend, { logger, address: () => Promise.reject(new Error('it has no address')) })
  await broker.topics.create({ name: 't', partitions: 1 })
  const write = (producer: Producer) => producer.send([{ topic: 't', partition: 0, key: null, value: null }])
  const identity = await broker.newProducerIdentity()
  const older = await broker.producer({ identity })
  await write(older)
  const newer = await broker.producer({ identity: { ...identity, epoch: identity.epoch + 1 } })
  await write(newer)
  await expect(write(older)).rejects.toMatchObject({ code: 'fenced' })
  // It does not recover with a new producer id: that would fence the newer producer.
  await expect(write(older)).rejects.toMatchObject({ code: 'fenced' })
  expect((await write(newer)).offsets[0]).toBe(2)
  await broker.close()
})
