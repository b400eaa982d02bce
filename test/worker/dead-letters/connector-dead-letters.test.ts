import { beforeEach, describe, expect, it } from 'vitest'
import type { Broker, Header, NewRecord } from '../../../src/broker/broker.ts'
import { replayDeadLetters, replayGroupOf } from '../../../src/dead-letters/replay.ts'
import type {
  DeadLetterPage,
  DeadLetterView,
  ReplayResponse,
} from '../../../src/worker/dead-letters/connector-dead-letters.ts'
import { readAll } from '../../contract/broker-support.ts'
import { sharedTestWorker, startTestWorker } from '../../support/worker.ts'

// All tests share a worker, and so its thread that reads dead letters. Each has its own connector and topics.
const worker = sharedTestWorker((atEnd) => startTestWorker({ 'connector.paths.allowed': '/' }, {}, atEnd))
let count = 0
let sink: string
let orders: string
let dead: string

beforeEach(() => {
  count += 1
  ;[sink, orders, dead] = [`sink-${count}`, `orders-${count}`, `orders-${count}-dead`]
})

const sinkConfig = () => ({
  'connector.class': 'FileStreamSink',
  topics: orders,
  file: 'out.txt',
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
  'errors.tolerance': 'all',
  'errors.deadletterqueue.topic.name': dead,
  'errors.deadletterqueue.context.headers.enable': 'true',
})

function errorHeaders(own: Readonly<Record<string, string>> = {}): readonly Header[] {
  const headers = {
    topic: orders,
    partition: '0',
    offset: '7',
    'connector.name': sink,
    stage: 'VALUE_CONVERTER',
    'class.name': 'org.apache.kafka.connect.json.JsonConverter',
    'exception.class.name': 'org.apache.kafka.connect.errors.DataException',
    'exception.message': 'not JSON',
    ...own,
  }
  return Object.entries(headers).map(([name, text]) => [`__connect.errors.${name}`, Buffer.from(text)])
}

function deadLetter(value: string | Buffer | null, headers = errorHeaders()): NewRecord {
  return {
    topic: dead,
    key: Buffer.from('k'),
    value: value === null ? null : Buffer.from(value),
    headers,
    timestampMs: 5_000,
  }
}

/** Creates the topics of a stopped sink and the sink, or changes its configuration. Returns what its console needs. */
async function start(records: readonly NewRecord[], config: Readonly<Record<string, string>> = {}) {
  const { url, broker } = worker()
  await broker.topics.create({ name: orders, partitions: 1, configs: { 'retention.ms': '-1' } })
  await broker.topics.create({ name: dead, partitions: 1, configs: { 'retention.ms': '-1' } })
  await produce(broker, records)
  const call = async <Body>(method: string, path: string, sent?: object) => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(sent && { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, body: (await response.json()) as Body & { readonly message: string } }
  }
  const configured = { ...sinkConfig(), ...config }
  const created = await call('POST', '/connectors', { name: sink, config: configured, initial_state: 'STOPPED' })
  const stored = created.status === 409 ? await call('PUT', `/connectors/${sink}/config`, configured) : created
  const path = `/ui/api/connectors/${sink}/dead-letters`
  return {
    broker,
    configured: stored,
    page: (query = '') => call<DeadLetterPage>('GET', `${path}${query}`),
    record: (offset: number) => call<DeadLetterView>('GET', `${path}/0/${offset}`),
    replay: (sent: object) => call<ReplayResponse>('POST', `${path}/replay`, sent),
    replayed: async () =>
      (await readAll(broker, orders)).map(({ value, headers }) => [String(value), headers.map(([name]) => name)]),
  }
}

async function produce(broker: Broker, records: readonly NewRecord[]): Promise<void> {
  const producer = await broker.producer()
  await producer.send(records)
  await producer.close()
}

const at = (offset: number, more = {}) => ({ records: [{ partition: 0, offset, ...more }] })
const text = (corrected: string) => ({ value: { form: 'text', text: corrected } })

describe('the dead letters of a sink', () => {
  it('are listed with their errors, the newest first', async () => {
    const own: Header = ['mine', Buffer.from('1')]
    const { page } = await start([deadLetter('{"n":'), deadLetter('{"n":1}', [own, ...errorHeaders()])])
    const { status, body } = await page()
    expect(status).toBe(200)
    expect(body).toMatchObject({ topic: dead, exists: true, partitionCount: 1, ofOthers: 0, marksProblem: null })
    expect(body.records[0]).toEqual({
      partition: 0,
      offset: 1,
      timestampMs: 5_000,
      origin: { topic: orders, partition: '0', offset: '7' },
      stage: 'VALUE_CONVERTER',
      className: 'org.apache.kafka.connect.json.JsonConverter',
      exceptionClass: 'org.apache.kafka.connect.errors.DataException',
      message: 'not JSON',
      stackTrace: null,
      headers: [{ name: 'mine', value: '1' }],
      moreHeaders: 0,
      key: { form: 'text', text: 'k', bytes: 1, isTruncated: false, problem: null },
      value: { form: 'text', text: '{"n":1}', bytes: 7, isTruncated: false, problem: null },
      target: orders,
      problem: null,
      replayed: null,
    })
    expect(body.records[1]).toMatchObject({ offset: 0, value: { form: 'text', text: '{"n":' } })
    expect(body.records[1]?.value.problem).toContain('Unexpected end of JSON input')
  })

  it('are read in pages, by partition, and by class of exception', async () => {
    const others = errorHeaders({ 'exception.class.name': 'OtherError' })
    const { page } = await start([0, 1, 2, 3, 4, 5].map((n) => deadLetter(`${n}`, n === 1 ? others : errorHeaders())))
    const offsets = ({ body }: Awaited<ReturnType<typeof page>>) => body.records.map(({ offset }) => offset)
    const first = await page('?limit=2')
    expect([offsets(first), first.body.partitions]).toEqual([
      [5, 4],
      [{ partition: 0, earliest: 0, end: 6, olderBefore: 4 }],
    ])
    expect(offsets(await page('?limit=2&partition=0&before=4'))).toEqual([3, 2])
    const last = await page('?limit=2&partition=0&before=2')
    expect([offsets(last), last.body.partitions[0]?.olderBefore]).toEqual([[1, 0], undefined])
    expect(offsets(await page('?limit=2&error=OtherError'))).toEqual([1])
    for (const wrong of ['?limit=0', '?limit=101', '?partition=x', '?before=1', '?partition=0&before=-1'])
      expect([wrong, (await page(wrong)).status]).toEqual([wrong, 400])
  })

  it('are only those of the connector, and those that name no connector', async () => {
    const { page, record, replay } = await start([
      deadLetter('1', errorHeaders({ 'connector.name': 'payments' })),
      deadLetter('2', []),
    ])
    const { body } = await page()
    expect([body.records.map(({ offset }) => offset), body.ofOthers]).toEqual([[1], 1])
    expect((await record(0)).status).toBe(404)
    expect(await replay(at(0))).toMatchObject({ status: 404 })
  })

  it('can contain anything, which is shown as text or in hexadecimal, and is limited', async () => {
    const script = '<script>alert(1)</script>'
    const { page, record } = await start([
      deadLetter(Buffer.from([0xff, 0xfe, 0x00])),
      deadLetter(script, errorHeaders({ 'exception.message': script.repeat(1_000) })),
      deadLetter('x'.repeat(700_000)),
      deadLetter(null),
      deadLetter(
        '{"a":1}',
        Array.from({ length: 500 }, (_, n): Header => [`header ${n}`, Buffer.from([n])]),
      ),
    ])
    const { body } = await page()
    const [many, none, huge, hostile, binary] = body.records
    expect(binary?.value).toMatchObject({ form: 'hex', text: 'fffe00', bytes: 3 })
    expect(hostile?.value).toMatchObject({ form: 'text', text: script })
    expect(hostile?.message?.length).toBeLessThan(4_100)
    expect(huge?.value).toMatchObject({ form: 'text', bytes: 700_000, isTruncated: true })
    expect(huge?.value.text.length).toBe(8_000)
    expect(none?.value.form).toBe('null')
    expect([many?.headers.length, many?.moreHeaders]).toEqual([20, 80])
    expect((await record(2)).body.value).toMatchObject({ text: 'x'.repeat(700_000), isTruncated: false })
  })

  it('that failed twice have the later error', async () => {
    const twice = [...errorHeaders({ stage: 'KEY_CONVERTER', 'exception.message': 'first' }), ...errorHeaders()]
    const { page, replay, replayed } = await start([deadLetter('{}', twice)])
    expect((await page()).body.records[0]).toMatchObject({ stage: 'VALUE_CONVERTER', message: 'not JSON' })
    await replay(at(0))
    expect(await replayed()).toEqual([['{}', []]])
  })

  it('do not exist for a topic that was not created yet, and are refused for other connectors', async () => {
    const { page, record } = await start([], { 'errors.deadletterqueue.topic.name': 'not-yet' })
    expect((await record(0)).status).toBe(404)
    expect((await page()).body).toMatchObject({ topic: 'not-yet', exists: false, records: [] })
    const none = await start([], { 'errors.deadletterqueue.topic.name': '' })
    expect(await none.page()).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('has no errors.') },
    })
    const own = await start([], { 'errors.deadletterqueue.topic.name': 'connect-configs' })
    expect(own.configured).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("may not write to the topic 'connect-configs'") },
    })
  })
})

describe('a replay', () => {
  it('sends the records to their topic as they are, and marks them', async () => {
    const own: Header = ['mine', Buffer.from('1')]
    const { replay, replayed, page, broker } = await start([
      deadLetter('a', [own, ...errorHeaders()]),
      deadLetter('b'),
      deadLetter('c'),
    ])
    const records = [0, 2].map((offset) => ({ partition: 0, offset }))
    const planned = await replay({ records, dryRun: true })
    expect(planned.body.records).toEqual(records.map((one) => ({ ...one, topic: orders, replayed: null })))
    expect(await replayed()).toEqual([])
    expect((await replay({ records })).status).toBe(200)
    expect(await replayed()).toEqual([
      ['a', ['mine']],
      ['c', []],
    ])
    expect((await page()).body.records.map((one) => one.replayed)).toEqual(['console', null, 'console'])
    // The command leaves them out.
    const all = {
      topic: dead,
      targetTopic: undefined,
      matches: () => true,
      targetProblem: () => undefined,
      groupId: replayGroupOf(dead),
      fromBeginning: false,
      isDryRun: false,
      onRejected: () => undefined,
    }
    expect(await replayDeadLetters(broker, all)).toEqual({ replayed: 1, rejected: 0, skipped: 2 })
    expect((await page()).body.records.map((one) => one.replayed)).toEqual(['console', 'command', 'console'])
  })

  it('sends a correction that the converter accepts', async () => {
    const { replay, replayed } = await start([deadLetter('{"n":')])
    expect(await replay(at(0, text('{"n":1\n"m":2}')))).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^0\/0, value: .*line 2 column 1/) },
    })
    expect(await replayed()).toEqual([])
    expect((await replay(at(0, text('{"n":1}')))).status).toBe(200)
    expect(await replayed()).toEqual([['{"n":1}', []]])
  })

  it('sends nothing if one of the records cannot be sent', async () => {
    const { replay, replayed } = await start([deadLetter('a'), deadLetter('b')])
    const records = [
      { partition: 0, offset: 0 },
      { partition: 0, offset: 1, ...text('{') },
    ]
    expect((await replay({ records })).status).toBe(400)
    expect((await replay({ records: [...records.slice(0, 1), { partition: 0, offset: 9 }] })).status).toBe(404)
    expect(await replayed()).toEqual([])
  })

  it('sends only to topics that the connector reads, whatever the headers say', async () => {
    const { page, replay, broker } = await start([
      deadLetter('{}', errorHeaders({ topic: 'connect-configs' })),
      deadLetter('{}', errorHeaders({ content: 'none' })),
    ])
    expect((await page()).body.records.map(({ target }) => target)).toEqual([null, null])
    const before = await broker.topics.offsets('connect-configs', 'latest')
    for (const sent of [at(0), { ...at(0), topic: orders }])
      expect(await replay(sent)).toMatchObject({
        status: 400,
        body: { message: "0/0: its topic is 'connect-configs', which the connector does not read" },
      })
    expect(await broker.topics.offsets('connect-configs', 'latest')).toEqual(before)
    expect(await replay(at(1))).toMatchObject({ body: { message: expect.stringContaining('too large') } })
  })

  it('sends nothing to topics of programs, even if the expression of the connector matches them', async () => {
    const forged = [deadLetter('{}', errorHeaders({ topic: 'connect-configs' }))]
    const { page, replay, broker } = await start(forged, { topics: '', 'topics.regex': 'connect-.*|orders' })
    const problem = expect.stringContaining("may not write to the topic 'connect-configs'")
    expect((await page()).body.records[0]).toMatchObject({ target: null, problem })
    const before = await broker.topics.offsets('connect-configs', 'latest')
    expect(await replay(at(0))).toMatchObject({ status: 400, body: { message: problem } })
    expect(await broker.topics.offsets('connect-configs', 'latest')).toEqual(before)
  })

  it('needs a topic for records that do not name theirs, unless the connector reads one only', async () => {
    const one = await start([deadLetter('{}', [])])
    expect((await one.page()).body.records[0]?.target).toBe(orders)
    const { page, replay, replayed } = await start([deadLetter('{}', [])], { topics: `${orders},payments` })
    expect((await page()).body.records[0]).toMatchObject({
      target: null,
      problem: expect.stringContaining('no header names its topic'),
    })
    expect(await replay(at(0))).toMatchObject({ status: 400 })
    expect((await replay({ ...at(0), topic: 'other' })).status).toBe(400)
    expect((await replay({ ...at(0), topic: orders })).status).toBe(200)
    expect(await replayed()).toEqual([['{}', []]])
  })

  it('refuses requests that are not understood', async () => {
    const { replay } = await start([deadLetter('a')])
    const wrong = [
      {},
      { records: [] },
      { records: Array.from({ length: 101 }, (_, offset) => ({ partition: 0, offset })) },
      { records: [...at(0).records, ...at(0).records] },
      { ...at(0), dryRun: 'yes' },
      { ...at(0), topic: 7 },
      at(0, { value: { form: 'xml', text: '' } }),
      at(0, { value: { form: 'text' } }),
      at(0, { vlaue: 1 }),
      { records: [{ partition: '0x0', offset: 0 }] },
    ]
    for (const sent of wrong) expect([sent, (await replay(sent)).status]).toEqual([sent, 400])
  })
})
