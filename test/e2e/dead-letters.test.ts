import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker, Header, NewRecord, StoredRecord } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { readAll } from '../contract/broker-support.ts'
import { describeOn, itOn, real } from '../env/real.ts'
import { runWeir } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const kafka = await real('kafka')
const java = await real('javaConnect')

const TOLERANT = (topic: string) => ({
  'errors.tolerance': 'all',
  'errors.deadletterqueue.topic.name': topic,
  'errors.deadletterqueue.topic.replication.factor': '1',
  'errors.deadletterqueue.context.headers.enable': 'true',
})
const JSON_VALUES = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
}
/** A recent time, because Kafka may delete records that are older than a week. */
const AT_MS = Date.now() - 3_600_000

describeOn([kafka], 'failed records on Kafka', () => {
  itOn([java], 'of a sink are written to the dead-letter topic as Kafka Connect writes them', async () => {
    const broker = await openKafka()
    const source = await newTopic(broker, 'letters')
    const values = ['{"n":1}', 'not json', '{"n":2}', '{"n":']
    await produce(
      broker,
      values.map((value, index) => ({
        topic: source,
        key: Buffer.from(`k${index}`),
        value: Buffer.from(value),
        headers: [['mine', Buffer.from(String(index))]],
        timestampMs: AT_MS + index,
      })),
    )
    const file = join(temporaryDirectory(), 'out.txt')
    const sink = (topic: string, path: string) => ({
      'connector.class': 'org.apache.kafka.connect.file.FileStreamSinkConnector',
      topics: source,
      file: path,
      ...JSON_VALUES,
      ...TOLERANT(topic),
    })
    const [ours, theirs] = [`${source}-dead`, `${source}-dead-java`]
    const { url } = await startWorker()
    await createWorkerClient({ url }).create(`${source}-sink`, sink(ours, file))
    await createWorkerClient({ url: java.address.url }).create(`${source}-java`, sink(theirs, `${file}.java`))
    const [deadLetters, expected] = [await readDeadLetters(broker, ours, 2), await readDeadLetters(broker, theirs, 2)]

    await until('the good records', WAIT, () => linesOf(file).length >= 2)
    expect(linesOf(file)).toEqual(['{n=1}', '{n=2}'])
    expect(deadLetters.map(contentOf)).toEqual(expected.map(contentOf))
    expect(deadLetters.map(({ headers }) => contextOf(headers, `${source}-sink`))).toEqual(
      expected.map(({ headers }) => contextOf(headers, `${source}-java`)),
    )
    await createWorkerClient({ url: java.address.url }).delete(`${source}-java`)
  })

  it('of a source are written to the dead-letter topic, and valid records to their topic', async () => {
    const broker = await openKafka()
    const topic = await newTopic(broker, 'numbers')
    const file = join(temporaryDirectory(), 'in.txt')
    writeFileSync(file, '1\ntwo\n3\n')
    const { url } = await startWorker()
    await createWorkerClient({ url }).create(`${topic}-source`, {
      'connector.class': 'FileStreamSource',
      file,
      topic,
      transforms: 'number',
      'transforms.number.type': 'org.apache.kafka.connect.transforms.Cast$Value',
      'transforms.number.spec': 'int32',
      ...JSON_VALUES,
      ...TOLERANT(`${topic}-dead`),
    })
    const [deadLetter] = await readDeadLetters(broker, `${topic}-dead`, 1)
    const written = await readDeadLetters(broker, topic, 2)

    expect(written.map(({ value }) => String(value))).toEqual(['1', '3'])
    expect(String(deadLetter!.value)).toBe('"two"')
    const headers = Object.fromEntries(deadLetter!.headers.map(([name, value]) => [name, String(value)]))
    expect(headers).toMatchObject({
      '__connect.errors.content': 'json',
      '__connect.errors.topic': topic,
      '__connect.errors.source.partition': JSON.stringify({ filename: file }),
      '__connect.errors.stage': 'TRANSFORMATION',
      '__connect.errors.class.name': 'org.apache.kafka.connect.transforms.Cast$Value',
      '__connect.errors.exception.class.name': 'org.apache.kafka.connect.errors.DataException',
      '__connect.errors.exception.message': 'Value (two) was out of range for requested data type',
    })
  })

  it('that the broker rejects as too large are written to the dead-letter topic, with as much content as fits', async () => {
    const broker = await openKafka()
    const small = { 'max.message.bytes': '2000' }
    const topic = await newTopic(broker, 'small', small)
    const dead = `${topic}-dead`
    await broker.topics.create({ name: dead, partitions: 1, replicationFactor: 1, configs: small })
    const file = join(temporaryDirectory(), 'in.txt')
    writeFileSync(file, `a\nb\n${'x'.repeat(5_000)}\nc\n`)
    const { url } = await startWorker()
    const worker = createWorkerClient({ url })
    const name = `${topic}-source`
    const source = { 'connector.class': 'FileStreamSource', file, topic, ...JSON_VALUES, ...TOLERANT(dead) }
    await worker.create(name, source)
    const [deadLetter] = await readDeadLetters(broker, dead, 1)
    const written = await readDeadLetters(broker, topic, 3)

    expect(written.map(({ value }) => String(value))).toEqual(['"a"', '"b"', '"c"'])
    expect(deadLetter!.value).toBeNull()
    expect(Object.fromEntries(deadLetter!.headers.map(([key, value]) => [key, String(value)]))).toMatchObject({
      '__connect.errors.content': 'none',
      '__connect.errors.source.offset': '{"position":5005}',
      '__connect.errors.stage': 'KAFKA_PRODUCE',
      '__connect.errors.class.name': 'org.apache.kafka.connect.runtime.WorkerSourceTask',
      '__connect.errors.exception.class.name': 'org.apache.kafka.common.errors.RecordTooLargeException',
    })
    expect(await weir('replay', dead)).toMatchObject({ code: 1, stdout: 'replayed: 0, not replayable: 1\n' })
    await worker.stop(name)
    await until('the offset behind it', WAIT, async () => JSON.stringify(await worker.offsets(name)).includes('5007'))
  })

  it('fail the task with the error in its trace if errors.tolerance is none', async () => {
    const broker = await openKafka()
    const topic = await newTopic(broker, 'strict')
    await produce(broker, [{ topic, key: null, value: Buffer.from('not json') }])
    const { url } = await startWorker()
    const worker = createWorkerClient({ url })
    const name = `${topic}-sink`
    const file = join(temporaryDirectory(), 'out.txt')
    await worker.create(name, { 'connector.class': 'FileStreamSink', topics: topic, file, ...JSON_VALUES })
    // Immediately after its creation, a connector has no status.
    const state = async () => (await worker.status(name).catch(() => undefined))?.tasks[0]
    await until('the failure', WAIT, async () => (await state())?.state === 'FAILED')
    expect((await state())?.trace).toContain('Tolerance exceeded in error handler')
    expect((await state())?.trace).toContain('Caused by:')
    expect(await worker.offsets(name)).toEqual([])
  })
})

describeOn([kafka], 'the routes of the console for dead letters', () => {
  it('show and replay records on Kafka, which weir dlq then leaves out', async () => {
    const broker = await openKafka()
    const topic = await newTopic(broker, 'shown')
    const dead = `${topic}-dead`
    await produce(broker, [
      { topic, key: Buffer.from('a'), value: Buffer.from('{"n":'), timestampMs: AT_MS },
      { topic, key: Buffer.from('b'), value: Buffer.from('{"n"'), timestampMs: AT_MS },
    ])
    const { url } = await startWorker()
    const worker = createWorkerClient({ url })
    const file = join(temporaryDirectory(), 'out.txt')
    const name = `${topic}-sink`
    const sink = { 'connector.class': 'FileStreamSink', topics: topic, file, ...JSON_VALUES, ...TOLERANT(dead) }
    await worker.create(name, { ...sink, 'producer.override.request.timeout.ms': '20000' })
    await readDeadLetters(broker, dead, 2)

    const path = `${url}/ui/api/connectors/${name}/dead-letters`
    const page = async () => (await fetch(path)).json()
    expect(await page()).toMatchObject({
      partitions: [{ partition: 0, earliest: 0, end: 2 }],
      records: [
        { offset: 1, origin: { topic, offset: '1' }, value: { form: 'text', text: '{"n"' }, replayed: null },
        { offset: 0, origin: { topic, offset: '0' }, value: { form: 'text', text: '{"n":' }, target: topic },
      ],
      marksProblem: null,
    })
    const records = [{ partition: 0, offset: 0, value: { form: 'text', text: '{"n":1}' } }]
    const replay = await fetch(`${path}/replay`, {
      method: 'POST',
      body: JSON.stringify({ records }),
      headers: { 'content-type': 'application/json' },
    })
    expect([replay.status, await replay.json()]).toEqual([
      200,
      { records: [{ partition: 0, offset: 0, topic, replayed: null }], marksProblem: null },
    ])
    await until('the corrected record', WAIT, () => linesOf(file).includes('{n=1}'))
    expect(await page()).toMatchObject({ records: [{ replayed: null }, { replayed: 'console' }] })
    expect(await weir('replay', dead, '--dry-run')).toMatchObject({
      stdout: 'to replay: 1, not replayable: 0, replayed before in the console: 1\n',
    })
    // The account of the worker must not read for that of the connector.
    await worker.putConfig(name, { ...sink, 'producer.override.sasl.mechanism': 'PLAIN' })
    expect(await page()).toMatchObject({ error_code: 400, message: expect.stringContaining('(sasl.mechanism)') })
  })
})

describeOn([kafka], 'weir dlq', () => {
  it('shows the errors of dead letters, and replays them after the cause was fixed', async () => {
    const broker = await openKafka()
    const topic = await newTopic(broker, 'mended')
    const dead = `${topic}-dead`
    const headers: readonly Header[] = [['mine', Buffer.from('1')]]
    await produce(broker, [
      { topic, key: Buffer.from('a'), value: Buffer.from('plain text'), headers, timestampMs: AT_MS },
      { topic, key: Buffer.from('b'), value: Buffer.from('{"n":1}') },
    ])
    const { url } = await startWorker()
    const worker = createWorkerClient({ url })
    const file = join(temporaryDirectory(), 'out.txt')
    const name = `${topic}-sink`
    const sink = { 'connector.class': 'FileStreamSink', topics: topic, file, ...TOLERANT(dead) }
    await worker.create(name, { ...sink, ...JSON_VALUES })
    await readDeadLetters(broker, dead, 1)
    await until('the good record', WAIT, () => linesOf(file).length > 0)

    const shown = await weir('show', dead)
    expect(shown.stdout).toMatch(new RegExp(`^0/0  ${new Date(AT_MS).toISOString()}  ${name}\n  from +${topic}/0/0\n`))
    expect(shown.stdout).toContain('  stage VALUE_CONVERTER org.apache.kafka.connect.json.JsonConverter\n')
    expect(shown.stdout).toContain('  key   a\n  value plain text\n')
    const [json] = (await weir('show', dead, '--json', '--connector', name)).stdout.split('\n')
    expect(JSON.parse(json!)).toMatchObject({ offset: 0, headers: [{ key: 'mine' }], errors: { topic } })
    expect((await weir('show', dead, '--stage', 'TASK_PUT')).stdout).toBe('')

    const strings = 'org.apache.kafka.connect.storage.StringConverter'
    // The old task could still read the replayed records.
    await worker.stop(name)
    await until('the old task to be gone', WAIT, async () => (await worker.status(name)).tasks.length === 0)
    await worker.putConfig(name, { ...sink, 'key.converter': strings, 'value.converter': strings })
    await worker.resume(name)
    expect(await weir('replay', dead, '--dry-run')).toMatchObject({
      code: 0,
      stdout: 'to replay: 1, not replayable: 0\n',
    })
    expect(await weir('replay', dead)).toMatchObject({ code: 0, stdout: 'replayed: 1, not replayable: 0\n' })
    await until('the mended record', WAIT, () => linesOf(file).includes('plain text'))
    const replayed = (await readAll(broker, topic)).at(-1)!
    expect({ ...contentOf(replayed), headers: replayed.headers.map(([key]) => key) }).toEqual({
      key: 'a',
      value: 'plain text',
      timestampMs: AT_MS,
      headers: ['mine'],
    })
    expect(await weir('replay', dead)).toMatchObject({ code: 0, stdout: 'replayed: 0, not replayable: 0\n' })
    expect(await weir('replay', dead, '--from-beginning', '--to', `${topic}-other`, '--dry-run')).toMatchObject({
      stdout: 'to replay: 1, not replayable: 0\n',
    })
  })

  it('names the missing dead-letter topic', async () => {
    expect(await weir('show', 'nowhere-dead')).toMatchObject({
      code: 1,
      stderr: "topic 'nowhere-dead' does not exist\n",
    })
  })
})

function weir(...args: string[]) {
  return runWeir(temporaryDirectory(), 'dlq', ...args, '--bootstrap', kafka.address.bootstrap)
}

async function startWorker() {
  const worker = await startWorkerProcess({
    log: ['--bootstrap', kafka.address.bootstrap],
    groupId: `dead-letters-${process.pid}-${Math.round(performance.now())}`,
  })
  onTestFinished(() => worker.kill())
  return worker
}

async function openKafka(): Promise<Broker> {
  const address = { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } } as const
  const broker = await openBroker(address, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  return broker
}

async function newTopic(broker: Broker, what: string, configs: Record<string, string> = {}): Promise<string> {
  const name = `${what}-${process.pid}-${Math.round(performance.now())}`
  await broker.topics.create({ name, partitions: 1, replicationFactor: 1, configs })
  return name
}

async function produce(broker: Broker, records: readonly NewRecord[]): Promise<void> {
  const producer = await broker.producer()
  await producer.send(records)
  await producer.close()
}

async function readDeadLetters(broker: Broker, topic: string, count: number): Promise<readonly StoredRecord[]> {
  const end = async () => ((await broker.topics.describe(topic)) ? broker.topics.offsets(topic, 'latest') : [])
  await until(`${count} records in ${topic}`, WAIT, async () => ((await end())[0]?.offset ?? 0) >= count)
  return readAll(broker, topic)
}

function contentOf({ key, value, timestampMs }: StoredRecord): object {
  return { key: String(key), value: String(value), timestampMs }
}

/** Header names and values, without the texts of exceptions, and with the same name for all connectors. */
function contextOf(headers: readonly Header[], connector: string): readonly (readonly string[])[] {
  return headers.map(([name, value]) => {
    if (/exception\.(message|stacktrace)$/.test(name)) return [name]
    return [name, String(value).replace(connector, 'CONNECTOR')]
  })
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
}
