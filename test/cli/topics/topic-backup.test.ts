import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { backUpTopic, restoreTopic } from '../../../src/cli/topics/topic-backup.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { readToEnd } from '../../../src/dead-letters/read-to-end.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

async function startBroker(): Promise<Broker> {
  const directory = join(temporaryDirectory(), 'data')
  const broker = await openBroker({ kind: 'embedded', directory }, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  return broker
}

async function contentOf(broker: Broker, topic: string) {
  const records = []
  for await (const polled of readToEnd(broker, topic, []))
    for (const { partition, records: some } of polled) records.push(...some.map((record) => ({ partition, ...record })))
  return records.toSorted((a, b) => a.partition - b.partition || a.offset - b.offset)
}

/** A topic with bytes that are no text, tombstones, headers and more than one batch. */
async function filledTopic(broker: Broker): Promise<void> {
  await broker.topics.create({ name: 'state', partitions: 2, configs: { 'cleanup.policy': 'compact' } })
  const producer = await broker.producer()
  const common = { topic: 'state', timestampMs: 1_700_000_000_123 }
  await producer.send([
    { ...common, partition: 0, key: Buffer.from([0, 255, 10]), value: Buffer.from('{"a":"é\n"}') },
    {
      ...common,
      partition: 1,
      key: null,
      value: Buffer.alloc(0),
      headers: [
        ['h', Buffer.from([1])],
        ['h\u2028h', Buffer.from([2])],
        ['h', null],
      ],
    },
    { ...common, partition: 0, key: Buffer.from('gone'), value: null },
    ...Array.from({ length: 2_500 }, (_, n) => ({ ...common, partition: 1, key: Buffer.from(`${n}`), value: null })),
  ])
  await producer.close()
}

async function backedUp() {
  const broker = await startBroker()
  await filledTopic(broker)
  const path = join(temporaryDirectory(), 'state.jsonl')
  expect(await backUpTopic(broker, 'state', path)).toBe(2_503)
  return { broker, path }
}

/** A topic whose first record is in an open transaction. */
async function withOpenTransaction() {
  const broker = await startBroker()
  await broker.topics.create({ name: 'state', partitions: 1 })
  const transaction = await broker.producer({ transactionalId: 'open' })
  transaction.begin()
  const record = (value: string) => [{ topic: 'state', key: null, value: Buffer.from(value) }]
  await transaction.send(record('open'))
  const producer = await broker.producer()
  await producer.send(record('behind'))
  onTestFinished(async () => {
    await producer.close()
    await transaction.close()
  })
  return { broker, transaction, path: join(temporaryDirectory(), 'state.jsonl') }
}

describe('a topic that is backed up and restored', () => {
  it('has the same records, in the same order and partitions, and the same cleanup policy', {
    tags: ['slow'],
  }, async () => {
    const { broker, path } = await backedUp()
    const target = await startBroker()
    expect(await restoreTopic(target, 'state', path)).toBe(2_503)
    expect(await contentOf(target, 'state')).toEqual(await contentOf(broker, 'state'))
    expect((await target.topics.configs('state'))['cleanup.policy']).toBe('compact')
  })

  it('has the same configuration, except what depends on the number of brokers', async () => {
    const broker = await startBroker()
    const own = { 'cleanup.policy': 'compact,delete', 'retention.ms': '-1', 'max.message.bytes': '5000000' }
    await broker.topics.create({ name: 'large', configs: { ...own, 'min.insync.replicas': '2' } })
    const path = join(temporaryDirectory(), 'large.jsonl')
    await backUpTopic(broker, 'large', path)
    expect(JSON.parse(readFileSync(path, 'utf8').split('\n')[0]!).configs).toMatchObject(own)
    const target = await startBroker()
    await restoreTopic(target, 'large', path)
    expect(await target.topics.ownConfigs('large')).toEqual(own)
  })

  it('may have records larger than the default maximum', { tags: ['slow'] }, async () => {
    const broker = await startBroker()
    await broker.topics.create({ name: 'large', configs: { 'max.message.bytes': '5000000' } })
    const producer = await broker.producer({ recordBytesMax: 5_000_000 })
    const value = Buffer.alloc(2_000_000, 1)
    for (let n = 0; n < 3; n++) await producer.send([{ topic: 'large', key: Buffer.from(`${n}`), value }])
    const path = join(temporaryDirectory(), 'large.jsonl')
    await backUpTopic(broker, 'large', path)
    const target = await startBroker()
    expect(await restoreTopic(target, 'large', path)).toBe(3)
  })

  it('is not restored with a configuration that the brokers do not know, and says how to do it', async () => {
    const { broker, path } = await backedUp()
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -2)
    lines[0] = lines[0]!.replace('"configs":{', '"configs":{"remote.storage.enable":"true",')
    const text = `${lines.join('\n')}\n`
    const end = { records: 2_503, sha256: createHash('sha256').update(text).digest('hex') }
    writeFileSync(path, `${text}${JSON.stringify(end)}\n`)
    await expect(restoreTopic(broker, 'copy', path)).rejects.toThrow(
      "unknown topic config 'remote.storage.enable': create the topic copy with 2 partitions",
    )
    await broker.topics.create({ name: 'copy', partitions: 2, configs: { 'retention.ms': '-1' } })
    expect(await restoreTopic(broker, 'copy', path)).toBe(2_503)
  })

  it('is not written into a topic with records or other partitions', async () => {
    const { broker, path } = await backedUp()
    await expect(restoreTopic(broker, 'state', path)).rejects.toThrow('the topic state has, or had, records')
    await broker.topics.create({ name: 'narrow', partitions: 1 })
    await expect(restoreTopic(broker, 'narrow', path)).rejects.toThrow('the topic narrow has 1 partitions, expected 2')
  })

  it.each([
    ['cut', (text: string) => text.slice(0, text.length / 2)],
    ['cut at a line', (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)],
    ['without a record', (text: string) => text.split('\n').toSpliced(5, 1).join('\n')],
    ['with another value', (text: string) => text.replace('"Z29uZQ=="', '"R29uZQ=="')],
    ['with an unknown partition', (text: string) => text.replace('[1,1700', '[7,1700')],
    ['of another format', (text: string) => text.replace('weir-topic-1', 'weir-topic-2')],
    ['empty', () => ''],
  ])('is refused before anything is written, if the file is damaged: %s', { tags: ['slow'] }, async (_, damage) => {
    const { broker, path } = await backedUp()
    const text = readFileSync(path, 'utf8')
    expect(damage(text)).not.toBe(text)
    writeFileSync(path, damage(text))
    await expect(restoreTopic(broker, 'copy', path)).rejects.toMatchObject({ code: 'unreadable_dump' })
    expect(await broker.topics.describe('copy')).toBeUndefined()
  })

  it('replaces an earlier backup or an empty file, and no other file', async () => {
    const { broker, path } = await backedUp()
    expect(await backUpTopic(broker, 'state', path)).toBe(2_503)
    writeFileSync(path, '')
    expect(await backUpTopic(broker, 'state', path)).toBe(2_503)
    writeFileSync(path, '{"format":"weir-registry-1"}')
    for (const other of [path, temporaryDirectory()]) {
      await expect(backUpTopic(broker, 'state', other)).rejects.toThrow(
        `${other} exists and is not a backup of a topic`,
      )
    }
    expect(readFileSync(path, 'utf8')).toBe('{"format":"weir-registry-1"}')
    expect(readdirSync(dirname(path))).toEqual(['state.jsonl'])
  })

  it('has the records of transactions that were open, and those behind them', async () => {
    const { broker, path, transaction } = await withOpenTransaction()
    const backup = backUpTopic(broker, 'state', path)
    await vi.waitUntil(() => existsSync(`${path}.partial`), { timeout: 25_000 })
    await transaction.commit()
    expect(await backup).toBe(2)
    expect(readFileSync(path, 'utf8')).toContain(Buffer.from('behind').toString('base64'))
  })

  it('leaves no file if a transaction stays open', async () => {
    const { broker, path } = await withOpenTransaction()
    await expect(backUpTopic(broker, 'state', path, { stallMs: 0 })).rejects.toThrow(
      'state-0 cannot be read beyond offset 0: a transaction is open there',
    )
    expect(readdirSync(dirname(path))).toEqual([])
  })

  it('leaves no file if the topic does not exist', async () => {
    const path = join(temporaryDirectory(), 'x.jsonl')
    await expect(backUpTopic(await startBroker(), 'none', path)).rejects.toMatchObject({ code: 'topic_not_found' })
    expect(existsSync(path)).toBe(false)
  })
})
