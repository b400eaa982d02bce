import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openKafkaBackend } from '../../src/broker/kafka/kafka-backend.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { ATTRIBUTES_AT, COMPRESSION_MASK } from '../../src/broker/record-batch/batch-header.ts'
import { compressionName } from '../../src/broker/record-batch/compression.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { newTopic, readAll, records, textOf } from '../contract/broker-support.ts'
import { describeOn, real } from '../env/real.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const STRINGS = { 'key.converter': STRING, 'value.converter': STRING }
const kafka = await real('kafka')

describeOn([kafka], 'client settings of a connector on Kafka', () => {
  it('apply to its producer, and those of the worker to all connectors', async () => {
    const broker = await openKafka()
    const [own, shared] = [await newTopic(broker), await newTopic(broker)]
    const file = join(temporaryDirectory(), 'in.txt')
    writeFileSync(file, 'a line that is a line that is a line\n'.repeat(100))
    const worker = await startWorker({ 'producer.compression.type': 'lz4' })
    const source = { 'connector.class': 'FileStreamSource', file, ...STRINGS }
    await worker.create(`${own}-source`, { ...source, topic: own, 'producer.override.compression.type': 'zstd' })
    await worker.create(`${shared}-source`, { ...source, topic: shared })
    await until('the lines', WAIT, async () => {
      const read = await Promise.all([own, shared].map((topic) => readAll(broker, topic)))
      return read.every((lines) => lines.length === 100)
    })
    expect([await compressionOf(own), await compressionOf(shared)]).toEqual(['zstd', 'lz4'])
  })

  it('set the start offset and client id of its consumer', async () => {
    const broker = await openKafka()
    const topic = await newTopic(broker)
    const producer = await broker.producer()
    await producer.send(records(topic, ['old']))
    const file = join(temporaryDirectory(), 'out.txt')
    const worker = await startWorker()
    await worker.create(`${topic}-sink`, {
      'connector.class': 'FileStreamSink',
      topics: topic,
      file,
      ...STRINGS,
      'consumer.override.auto.offset.reset': 'latest',
      'consumer.override.group.id': `${topic}-group`,
      'consumer.override.client.id': 'me',
    })
    await until('a line', WAIT, async () => {
      await producer.send(records(topic, ['new']))
      return existsSync(file) && readFileSync(file, 'utf8') !== ''
    })
    expect(readFileSync(file, 'utf8')).toMatch(/^(new\n)+$/)
    expect((await broker.groups.describe(`${topic}-group`)).members).toMatchObject([{ clientId: 'me' }])
  })

  it('connect it to its own brokers, while its offsets are written through the connection of the worker', async () => {
    const broker = await openKafka()
    const topic = await newTopic(broker)
    const file = join(temporaryDirectory(), 'in.txt')
    writeFileSync(file, 'one\n')
    const worker = await startWorker({ 'offset.flush.interval.ms': '100' })
    const source = { 'connector.class': 'FileStreamSource', file, topic, ...STRINGS }
    const over = (server: string) => ({ 'producer.override.bootstrap.servers': server })
    await worker.create(`${topic}-nowhere`, { ...source, ...over('127.0.0.1:1') })
    const nowhere = async () => (await worker.status(`${topic}-nowhere`).catch(() => undefined))?.tasks[0]
    await until('the task to fail', WAIT, async () => (await nowhere())?.state === 'FAILED')
    expect((await nowhere())?.trace).toContain('127.0.0.1:1')
    await worker.create(`${topic}-source`, {
      ...source,
      ...over(kafka.address.bootstrap.replace('127.0.0.1', 'localhost')),
    })
    await until('the offset', WAIT, async () => (await worker.offsets(`${topic}-source`)).length > 0)
    expect((await readAll(broker, topic)).map(textOf)).toEqual(['one'])
  })

  it('are rejected if they are invalid', async () => {
    const worker = await startWorker()
    const config = { 'connector.class': 'FileStreamSource', file: 'f', topic: 't' }
    await expect(worker.create('wrong', { ...config, 'producer.override.compression.type': 'rar' })).rejects.toThrow(
      'Invalid value rar for configuration producer.override.compression.type',
    )
  })
})

async function startWorker(settings: Readonly<Record<string, string>> = {}) {
  const worker = await startWorkerProcess({
    log: ['--bootstrap', kafka.address.bootstrap],
    groupId: `overrides-${process.pid}-${Math.round(performance.now())}`,
    settings,
  })
  onTestFinished(() => worker.kill())
  return createWorkerClient({ url: worker.url })
}

async function openKafka(): Promise<Broker> {
  const address = { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } } as const
  const broker = await openBroker(address, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  return broker
}

/** The compression of the first batch in a topic. */
async function compressionOf(topic: string): Promise<string> {
  const backend = await openKafkaBackend({ 'bootstrap.servers': kafka.address.bootstrap }, { logger: silentLogger() })
  onTestFinished(() => backend.close())
  const [found] = await backend.metadata({ topics: [topic] })
  const [answer] = await backend.fetch({
    node: found!.partitions[0]!.leader,
    partitions: [{ topic, partition: 0, offset: 0 }],
    waitMsMax: 10_000,
    bytesMin: 1,
    bytesMax: 1_000_000,
    isolation: 'read_committed',
  })
  const batch = Buffer.from(answer!.bytes)
  return compressionName(batch.readInt16BE(ATTRIBUTES_AT) & COMPRESSION_MASK)
}
