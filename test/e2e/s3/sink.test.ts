import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { describeOn, real } from '../../env/real.ts'
import { partDirectory } from '../../env/workspace.ts'
import { SEED } from '../../support/property-seed.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const KILLS = Number(process.env['WEIR_S3_KILLS'] ?? 4)
const PARTITIONS = 2
/** Records of each partition, followed by a late one, which completes files by the time of records. */
const RECORDS = 8_000
const FOLDERS = 100
const START_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000

/** Each way of completing files, with the folders of the records. */
const MODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'flush.size': { 'flush.size': '400', 'partitioner.class': 'field', 'partition.field.name': 'folder' },
  'rotate.interval.ms': {
    'rotate.interval.ms': '400',
    'partitioner.class': 'io.confluent.connect.storage.partitioner.TimeBasedPartitioner',
    'path.format': "'second'=ss",
    'partition.duration.ms': '1000',
    locale: 'en-US',
    timezone: 'UTC',
    'timestamp.extractor': 'RecordField',
    'timestamp.field': 'at',
  },
  'rotate.schedule.interval.ms': {
    'rotate.schedule.interval.ms': '150',
    timezone: 'Europe/Berlin',
    'partitioner.class': 'field',
    'partition.field.name': 'folder',
  },
  'rotate.schedule.interval.ms with folders by the clock': {
    'rotate.schedule.interval.ms': '400',
    'partitioner.class': 'io.confluent.connect.storage.partitioner.TimeBasedPartitioner',
    'path.format': "'second'=ss",
    'partition.duration.ms': '1000',
    locale: 'en-US',
    timezone: 'UTC',
  },
}

const versitygw = await real('versitygw')

describeOn([versitygw], 'the S3 sink in a worker', () => {
  describe.each(Object.keys(MODES))('with %s', (mode) => {
    it('stores each record exactly once although the worker is killed, and leaves no incomplete upload', {
      timeout: 120_000 + KILLS * 30_000,
    }, async () => {
      const server = await startS3Server(versitygw.address)
      const data = partDirectory('data')
      const topic = 'orders'
      await produce(data, topic)
      const start = () =>
        startWorkerProcess({
          log: ['--data', data],
          groupId: 's3',
          settings: { 'offset.flush.interval.ms': '300' },
        })
      let worker = await start()
      onTestFinished(() => worker.kill())
      await createWorkerClient({ url: worker.url, timeoutMs: 60_000 }).create('lake', {
        'connector.class': 'io.confluent.connect.s3.S3SinkConnector',
        topics: topic,
        ...server.keys,
        'storage.class': 'io.confluent.connect.s3.storage.S3Storage',
        'format.class': 'io.confluent.connect.s3.format.json.JsonFormat',
        'flush.size': '1000000',
        's3.compression.type': 'gzip',
        'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
        'value.converter.schemas.enable': 'false',
        'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'consumer.override.max.poll.records': '250',
        ...MODES[mode],
      })
      const random = delays(SEED)
      for (let kill = 0; kill < KILLS; kill++) {
        const before = server.objects().size
        await until('another file', WAIT, () => server.objects().size > before || isComplete(server))
        await sleep(random())
        await worker.kill()
        worker = await start()
      }
      await until('all records', WAIT, () => isComplete(server))
      await worker.stop()
      const stored = numbersIn(server).toSorted((a, b) => a - b)
      const expected = Array.from({ length: PARTITIONS * RECORDS }, (_, number) => number)
      expect(stored).toEqual(expected)
    })
  })
})

/** Times between the first file after a start and the kill. */
function delays(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % 400
  }
}

async function produce(data: string, topic: string): Promise<void> {
  const broker = await openBroker({ kind: 'embedded', directory: data }, { logger: silentLogger() })
  await broker.topics.create({ name: topic, partitions: PARTITIONS, replicationFactor: 1 })
  const producer = await broker.producer()
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const records = Array.from({ length: RECORDS }, (_, at) => ({
      number: partition * RECORDS + at,
      folder: `f${at % FOLDERS}`,
      at: START_MS + at * 5,
    }))
    const late = { number: -1 - partition, folder: 'late', at: START_MS + DAY_MS }
    await producer.send(
      [...records, late].map((value) => ({ topic, partition, key: null, value: Buffer.from(JSON.stringify(value)) })),
    )
  }
  await producer.close()
  await broker.close()
}

function isComplete(server: S3Server): boolean {
  return new Set(numbersIn(server)).size === PARTITIONS * RECORDS
}

/** Without the late records. */
function numbersIn(server: S3Server): readonly number[] {
  return [...server.objects().values()]
    .flatMap((bytes) => gunzipSync(bytes).toString().trimEnd().split('\n'))
    .map((line) => (JSON.parse(line) as { readonly number: number }).number)
    .filter((number) => number >= 0)
}
