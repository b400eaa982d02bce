import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
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
const KILLS = Number(process.env['WEIR_S3_KILLS'] ?? 3)
const PARTITIONS = 2
/** Records of each partition, followed by a late one, which completes files by the time of records. */
const RECORDS = 400 * (KILLS + 1)
const FOLDERS = 40
const START_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
/** Values for objects that are uploaded in parts: those of one object, and of one that stays open with a part. */
const LARGE = {
  bytes: 500_000,
  stored: 16,
  storedKey: 'large/large/partition=0/large+0+0000000000.bin',
  open: 12,
  openKey: 'large/large/partition=0/large+0+0000000016.bin',
}

const BY_FIELD = { 'partitioner.class': 'field', 'partition.field.name': 'folder' }
const BY_SECOND = {
  'partitioner.class': 'io.confluent.connect.storage.partitioner.TimeBasedPartitioner',
  'path.format': "'second'=ss",
  'partition.duration.ms': '1000',
  locale: 'en-US',
  timezone: 'UTC',
}

/** Each way of completing files, with the folders of the records. */
const MODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'flush-size': { ...BY_FIELD, 'flush.size': '400' },
  'rotate-interval': {
    ...BY_SECOND,
    'rotate.interval.ms': '400',
    'timestamp.extractor': 'RecordField',
    'timestamp.field': 'at',
  },
  'rotate-schedule': { ...BY_FIELD, 'rotate.schedule.interval.ms': '150', timezone: 'Europe/Berlin' },
  'rotate-schedule-with-folders-by-the-clock': {
    ...BY_SECOND,
    'rotate.schedule.interval.ms': '20',
    'consumer.override.max.poll.records': '10',
  },
}

/** The folder of the connector of Aiven, whose files are complete when offsets are committed. */
const AIVEN = 'commit'

const versitygw = await real('versitygw')

describeOn([versitygw], 'the S3 sinks in a worker', () => {
  it('store each record exactly once with each way of completing files although the worker is killed, and leave no incomplete upload', {
    timeout: 120_000 + KILLS * 30_000,
  }, async () => {
    const server = await startS3Server(versitygw.address)
    const data = partDirectory('data')
    await produce(data)
    const start = () =>
      startWorkerProcess({ log: ['--data', data], groupId: 's3', settings: { 'offset.flush.interval.ms': '300' } })
    let worker = await start()
    onTestFinished(() => worker.kill())
    const client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
    const base = {
      'connector.class': 'io.confluent.connect.s3.S3SinkConnector',
      ...server.keys,
      'storage.class': 'io.confluent.connect.s3.storage.S3Storage',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
    }
    await client.create('large', {
      ...base,
      topics: 'large',
      'topics.dir': 'large',
      'format.class': 'io.confluent.connect.s3.format.bytearray.ByteArrayFormat',
      'format.bytearray.separator': '',
      'value.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
      'flush.size': `${LARGE.stored}`,
      's3.part.size': `${5 * 1024 * 1024}`,
    })
    for (const [mode, keys] of Object.entries(MODES))
      await client.create(mode, {
        ...base,
        topics: 'orders',
        'topics.dir': mode,
        'format.class': 'io.confluent.connect.s3.format.json.JsonFormat',
        'flush.size': '1000000',
        's3.compression.type': 'gzip',
        'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
        'value.converter.schemas.enable': 'false',
        'consumer.override.max.poll.records': '100',
        ...keys,
      })
    await client.create(AIVEN, {
      'connector.class': 'io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector',
      topics: 'orders',
      'aws.s3.bucket.name': server.keys['s3.bucket.name']!,
      'aws.s3.endpoint': server.keys['store.url']!,
      'aws.access.key.id': server.keys['aws.access.key.id']!,
      'aws.secret.access.key': server.keys['aws.secret.access.key']!,
      'file.name.template': `${AIVEN}/{{topic}}/{{partition}}-{{start_offset:padding=true}}-{{timestamp:unit=HH}}.gz`,
      'file.max.records': '100',
      'format.output.type': 'jsonl',
      'format.output.envelope': 'false',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'consumer.override.max.poll.records': '10',
    })
    const random = delays(SEED)
    const readNumbers = numberReader(server)
    const folders = [...Object.keys(MODES), AIVEN]
    const isComplete = () => folders.every((mode) => new Set(readNumbers(mode)).size === PARTITIONS * RECORDS)
    let uploads: readonly string[] = []
    const largeUploads = async () =>
      (await server.incompleteUploads()).filter((upload) => upload.startsWith(LARGE.openKey))
    const hasNewUpload = async () => (await largeUploads()).some((upload) => !uploads.includes(upload))
    for (let kill = 0; kill < KILLS; kill++) {
      const before = server.objectKeys().length
      await until('another file', WAIT, () => server.objectKeys().length > before || isComplete())
      await until('another upload', WAIT, hasNewUpload)
      await sleep(random())
      await worker.kill()
      uploads = await largeUploads()
      expect(uploads).not.toEqual([])
      worker = await start()
    }
    await until('all records', WAIT, isComplete)
    await until('another upload', WAIT, hasNewUpload)
    await worker.stop()
    expect(await server.incompleteUploads()).toEqual([])
    const expected = Array.from({ length: PARTITIONS * RECORDS }, (_, number) => number)
    for (const mode of folders)
      expect(
        numberReader(server)(mode).toSorted((a, b) => a - b),
        mode,
      ).toEqual(expected)
    expect(server.objectKeys().filter((key) => key.startsWith('large/'))).toEqual([LARGE.storedKey])
    expect(server.object(LARGE.storedKey).equals(Buffer.concat(largeValues().slice(0, LARGE.stored)))).toBe(true)
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

async function produce(data: string): Promise<void> {
  const broker = await openBroker({ kind: 'embedded', directory: data }, { logger: silentLogger() })
  await broker.topics.create({ name: 'orders', partitions: PARTITIONS, replicationFactor: 1 })
  await broker.topics.create({ name: 'large', partitions: 1, replicationFactor: 1 })
  const producer = await broker.producer()
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const records = Array.from({ length: RECORDS }, (_, at) => ({
      number: partition * RECORDS + at,
      folder: `f${at % FOLDERS}`,
      at: START_MS + at * 5,
    }))
    const late = { number: -1 - partition, folder: 'late', at: START_MS + DAY_MS }
    const values = [...records, late].map((value) => Buffer.from(JSON.stringify(value)))
    await producer.send(values.map((value) => ({ topic: 'orders', partition, key: null, value })))
  }
  for (const value of largeValues()) await producer.send([{ topic: 'large', partition: 0, key: null, value }])
  await producer.close()
  await broker.close()
}

function largeValues(): readonly Buffer[] {
  return Array.from({ length: LARGE.stored + LARGE.open }, (_, at) => Buffer.alloc(LARGE.bytes, `${at} `))
}

/** Returns the numbers of the records that a mode stored, without the late ones. Reads each file once. */
function numberReader(server: S3Server): (mode: string) => readonly number[] {
  const known = new Map<string, readonly number[]>()
  return (mode) =>
    server
      .objectKeys()
      .filter((key) => key.startsWith(`${mode}/`))
      .flatMap((key) => {
        const numbers = known.get(key) ?? numbersIn(server.object(key))
        known.set(key, numbers)
        return numbers
      })
}

function numbersIn(file: Buffer): readonly number[] {
  return gunzipSync(file)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly number: number }).number)
    .filter((number) => number >= 0)
}
