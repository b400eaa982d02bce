import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { batchOf, recordsOf } from './batch.ts'

const open = (directory: string) => openEmbeddedBackend(directory, { logger: silentLogger() })

async function read(backend: BrokerBackend, topic: string): Promise<(string | null)[]> {
  const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e9, isolation: 'read_committed' as const }
  const [fetched] = await backend.fetch({ ...request, partitions: [{ topic, partition: 0, offset: 0 }] })
  return recordsOf(fetched!.bytes).map(({ value }) => value)
}

async function write(backend: BrokerBackend, topic: string, value: string) {
  const batches = [{ topic, partition: 0, bytes: batchOf([value]) }]
  return (await backend.produce({ node: 0, timeoutMs: 1000, batches }))[0]!
}

function alter(directory: string, sql: string): void {
  const database = new DatabaseSync(join(directory, 'broker.db'))
  database.exec(sql)
  database.close()
}

it('keeps topics, records, offsets, the cluster id and producer ids across a restart', async () => {
  const directory = join(temporaryDirectory(), 'made', 'here')
  const first = await open(directory)
  await first.createTopic({ name: 't', partitions: 3, configs: { 'retention.ms': '-1' } })
  await write(first, 't', 'a')
  const offsets = [{ topic: 't', partition: 0, offset: 1 }]
  await first.commitOffsets({ groupId: 'g', offsets })
  const producer = await first.initProducer({ transactionalId: 'x' })
  const clusterId = await first.clusterId()
  await first.close()

  const second = await open(directory)
  expect(await second.clusterId()).toBe(clusterId)
  expect((await second.metadata({}))[0]?.partitions).toHaveLength(3)
  expect((await second.topicConfigs({ topic: 't' }))['retention.ms']).toBe('-1')
  expect(await read(second, 't')).toEqual(['a'])
  expect(await second.groupOffsets({ groupId: 'g' })).toEqual(offsets)
  const next = await second.initProducer({ transactionalId: 'x' })
  expect(next).toEqual({ producerId: producer.producerId, epoch: producer.epoch + 1 })
  expect((await second.initProducer({})).producerId).toBeGreaterThan(producer.producerId)
  expect((await write(second, 't', 'b')).baseOffset).toBe(1)
  await second.close()
})

it('does not reuse offsets after a restart, even if the last records were aborted', async () => {
  const directory = temporaryDirectory()
  const first = await open(directory)
  await first.createTopic({ name: 't' })
  const producer = await first.initProducer({ transactionalId: 'x' })
  const transaction = { ...producer, transactionalId: 'x' }
  await first.addPartitionsToTransaction({ ...transaction, partitions: [{ topic: 't', partition: 0 }] })
  const bytes = batchOf(['a', 'b'], { ...producer, sequence: 0, transactional: true })
  await first.produce({ node: 0, timeoutMs: 1, transactionalId: 'x', batches: [{ topic: 't', partition: 0, bytes }] })
  await first.close()

  const second = await open(directory)
  expect(await read(second, 't')).toEqual([])
  expect((await write(second, 't', 'c')).baseOffset).toBe(2)
  await second.close()
})

it('continues the generation numbers of a group after a restart', async () => {
  const directory = temporaryDirectory()
  const join = (backend: BrokerBackend) =>
    backend.joinGroup({
      groupId: 'g',
      protocolType: 'sr',
      protocols: [{ name: 'p', metadata: Buffer.from('') }],
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 10_000,
      memberId: '',
      clientId: 'c',
    })
  const first = await open(directory)
  const { generation } = await join(first)
  await first.close()
  const second = await open(directory)
  expect((await join(second)).generation).toBeGreaterThan(generation)
  await second.close()
})

it('names the process that uses a directory, and opens the directory once it is released', async () => {
  const directory = temporaryDirectory()
  const first = await open(directory)
  const refused = await open(directory).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'data_locked' })
  for (const part of [directory, String(process.pid), hostname(), new Date().toISOString().slice(0, 10)]) {
    expect((refused as Error).message).toContain(part)
  }
  await first.close()
  await (await open(directory)).close()
})

it('opens a directory whose last process was killed, although the holder file still names that process', async () => {
  const directory = temporaryDirectory()
  await (await open(directory)).close()
  // The process id of a running process that is not the holder: this one.
  writeFileSync(join(directory, 'holder.json'), JSON.stringify({ pid: process.pid, host: hostname(), since: 'x' }))
  const backend = await open(directory)
  expect(JSON.parse(readFileSync(join(directory, 'holder.json'), 'utf8'))).not.toMatchObject({ since: 'x' })
  await backend.close()
})

it('rejects data of a newer format and names both formats', async () => {
  const directory = temporaryDirectory()
  await (await open(directory)).close()
  alter(directory, 'pragma user_version = 7')
  await expect(open(directory)).rejects.toMatchObject({
    code: 'data_newer',
    message: expect.stringMatching(/format 7.*up to 3/),
  })
})

it('names the file and the position of damage', async () => {
  const directory = temporaryDirectory()
  await (await open(directory)).close()
  const file = join(directory, 'broker.db')
  writeFileSync(file, Buffer.alloc(65_536, 'garbage'))
  await expect(open(directory)).rejects.toMatchObject({ code: 'data_corrupt', message: expect.stringContaining(file) })
})

it('rejects a database of another application and does not change it', async () => {
  const directory = temporaryDirectory()
  alter(directory, 'create table theirs (x)')
  await expect(open(directory)).rejects.toMatchObject({ code: 'data_corrupt' })
  alter(directory, 'insert into theirs values (1)')
})

it('explains why a path cannot be a data directory', async () => {
  const file = join(temporaryDirectory(), 'file')
  writeFileSync(file, '')
  await expect(open(join(file, 'data'))).rejects.toMatchObject({ code: 'invalid_config' })
})

// `/proc` reports a directory that cannot be created as missing, and `mkdir` with `recursive` never returned there.
it.each(['/proc/weir', '/proc/weir/data'])(
  'refuses %s, which cannot be created, with what to do',
  async (directory) => {
    await expect(open(directory)).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(/cannot be written, because .+ read-only.+: choose another one with --data DIR/),
    })
  },
)
