import { openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createBrokerClient } from '../../../src/broker/broker-client.ts'
import { BatchStore } from '../../../src/broker/embedded/batch-store.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { Storage } from '../../../src/broker/embedded/storage.ts'
import { TopicCatalog } from '../../../src/broker/embedded/topic-catalog.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { batchOf } from './batch.ts'

const AT = { topic: 't', partition: 0 }

it('a reader rejects a batch whose records are damaged while the program runs', async () => {
  const directory = memoryDirectory()
  const open = () => openEmbeddedBackend(directory, { logger: silentLogger() })
  // Of several pages: the first one is in memory after the start.
  const value = `${'x'.repeat(60_000)} some value`
  let backend = await open()
  await backend.createTopic({ name: 't', configs: { 'retention.ms': '-1' } })
  await backend.produce({ node: 0, timeoutMs: 1, batches: [{ ...AT, bytes: batchOf([value]) }] })
  await backend.close()
  backend = await open()
  // Changes the file in place, like a failing disk. The descriptor stays open: closing it would release SQLite's lock.
  const file = join(directory, 'broker.db')
  const at = readFileSync(file).lastIndexOf('some value')
  writeSync(openSync(file, 'r+'), 'Some', at)
  const address = () => Promise.reject(new Error('not used'))
  const broker = createBrokerClient(backend, { logger: silentLogger(), address })
  const reader = broker.reader()
  reader.seek([{ ...AT, offset: 0 }])
  const outcome = () => reader.poll(1_000).catch((error: unknown) => error)
  await expect.poll(outcome).toMatchObject({ code: 'corrupt_batch', message: expect.stringContaining('checksum') })
  await broker.close()
})

it('a fetch returns the batches before a damaged one, then fails with the topic, partition and offsets of the damaged one', async () => {
  const storage = new Storage(':memory:', { nowMs: 0, logger: silentLogger() })
  const catalog = new TopicCatalog(storage)
  await storage.write((change) => catalog.create({ name: 't' }, change))
  const log = new BatchStore(storage)
  const topic = catalog.topic('t')
  const partition = topic.partitions[0]!
  for (const values of [['a', 'b'], ['c', 'd'], ['e']]) {
    await storage.write((change) => log.append({ topic, partition, bytes: batchOf(values), nowMs: 0 }, change))
  }
  await storage.write(() => void storage.prepare('update batches set last_offset = 9 where last_offset = 3').run())

  const limit = { bytesMax: 1e6, firstBytesMax: 1e6 }
  expect(log.read(partition, { offset: 0, endOffset: 5 }, limit)).toMatchObject({ chunks: { length: 1 }, more: true })
  expect(() => log.read(partition, { offset: 2, endOffset: 5 }, limit)).toThrow(
    expect.objectContaining({
      code: 'data_corrupt',
      message: expect.stringMatching(/topic 't', partition 0: the batch at offsets 2 to 9 is damaged/),
    }),
  )
  storage.close()
})
