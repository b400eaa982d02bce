import { once } from 'node:events'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { DeadLetterReader, type DeadLetterReaderOptions } from '../../../src/worker/dead-letters/dead-letter-reader.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const SCAN = { topic: 'dead', limit: 10, connector: 'sink' }

async function open(): Promise<Broker> {
  const address = { kind: 'embedded', directory: join(temporaryDirectory(), 'data') } as const
  const broker = await openBroker(address, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  await broker.topics.create({ name: 'dead', partitions: 1, configs: { 'retention.ms': '-1' } })
  return broker
}

async function openReader(options?: DeadLetterReaderOptions, opening = open()): Promise<DeadLetterReader> {
  const reader = new DeadLetterReader(await opening, options)
  onTestFinished(() => reader.close())
  return reader
}

/** The threads that are started until the end of the test. */
function watchThreads(): readonly Worker[] {
  const threads: Worker[] = []
  const onThread = (thread: Worker) => void threads.push(thread)
  process.on('worker', onThread)
  onTestFinished(() => void process.off('worker', onThread))
  return threads
}

it('a dead-letter topic that cannot be read in time is reported, and its thread ends', async () => {
  const reader = await openReader({ timeoutMs: 0 })
  await expect(reader.scan(SCAN)).rejects.toMatchObject({
    code: 'dead_letters_unreadable',
    message: "the dead-letter topic 'dead' cannot be read: not read within 0 ms",
  })
})

it('two requests read dead letters at once, four wait, and a further one is refused', { tags: ['slow'] }, async () => {
  const reader = await openReader()
  const running = [1, 2, 3, 4, 5, 6].map(() => reader.scan(SCAN))
  await expect(reader.scan(SCAN)).rejects.toMatchObject({ code: 'dead_letters_busy' })
  expect((await Promise.all(running)).map((result) => result?.records)).toEqual([[], [], [], [], [], []])
  expect(await reader.read('dead', [{ partition: 0, offset: 7 }])).toEqual([undefined])
})

it('consecutive requests share a thread, which ends after the last request', { tags: ['slow'] }, async () => {
  const reader = await openReader({ idleMs: 0 })
  const threads = watchThreads()
  await reader.scan(SCAN)
  await reader.read('dead', [])
  expect(threads).toHaveLength(1)
  await once(threads[0] as Worker, 'exit')
  expect((await reader.scan(SCAN))?.records).toEqual([])
  expect(threads).toHaveLength(2)
})

it('a request after a failed one is handled by a new thread', { tags: ['slow'] }, async () => {
  const reader = await openReader()
  const threads = watchThreads()
  await reader.scan(SCAN)
  await expect(reader.read('dead', [null as never])).rejects.toMatchObject({ code: 'dead_letters_unreadable' })
  expect((await reader.scan(SCAN))?.records).toEqual([])
  expect(threads).toHaveLength(2)
})

it('20,000 small records in large batches are read within the limits', { tags: ['slow'] }, async () => {
  const broker = await open()
  const producer = await broker.producer({ compression: 'gzip', batchBytesMax: 8_000_000 })
  const small = { topic: 'dead', key: null, value: Buffer.from('x'), headers: [], timestampMs: 1 }
  await producer.send(Array.from({ length: 20_000 }, () => small))
  await producer.close()
  const reader = await openReader({}, Promise.resolve(broker))
  const found = await reader.scan({ ...SCAN, exceptionClass: 'None' })
  expect(found?.records).toEqual([])
  // A scan stops after its maximum, and says where to continue.
  expect(found?.partitions[0]?.olderBefore).toBeGreaterThan(10_000)
})
