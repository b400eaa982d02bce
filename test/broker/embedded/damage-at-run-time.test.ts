import { openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { BatchStore } from '../../../src/broker/embedded/batch-store.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { Storage } from '../../../src/broker/embedded/storage.ts'
import { TopicCatalog } from '../../../src/broker/embedded/topic-catalog.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { batchOf } from './batch.ts'

const FETCH = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }
const AT = { topic: 't', partition: 0 }

it('fails all calls, naming the damaged page, once the background verification has found one, and does not fill the log', async () => {
  const directory = memoryDirectory()
  const clock = new FakeClock()
  const logger = silentLogger()
  const warned = vi.spyOn(logger, 'warn')
  const open = () => openEmbeddedBackend(directory, { logger, clock })
  let backend = await open()
  await backend.createTopic({ name: 't', configs: { 'retention.ms': '-1' } })
  const produce = () => backend.produce({ node: 0, timeoutMs: 1, batches: [{ ...AT, bytes: batchOf(['some value']) }] })
  await produce()
  await backend.close()
  backend = await open()
  const producer = await backend.initProducer({ transactionalId: 'x', transactionTimeoutMs: 1_500 })
  await backend.addPartitionsToTransaction({ ...producer, transactionalId: 'x', partitions: [AT] })

  // Changes the file in place, like a failing disk. The descriptor stays open: closing it would release SQLite's lock.
  const file = join(directory, 'broker.db')
  const at = readFileSync(file).lastIndexOf('some value')
  writeSync(openSync(file, 'r+'), 'Some', at)
  await clock.advance(2_000)
  const refusal = {
    code: 'data_corrupt',
    message: expect.stringMatching(/broker\.db does not match its checksum in bytes/),
  }
  await expect
    .poll(async () => (await backend.fetch({ ...FETCH, partitions: [{ ...AT, offset: 0 }] }))[0])
    .toMatchObject({ error: refusal })
  await expect(produce()).rejects.toMatchObject(refusal)
  await clock.advance(10_000)
  const aborting = () =>
    warned.mock.calls.filter(([, message]) => String(message).startsWith('cannot abort transactions'))
  await expect.poll(aborting).toHaveLength(1)
  await backend.close()
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
