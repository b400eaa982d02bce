import { describe, expect, it } from 'vitest'
import type { NewRecord, NewTopic } from '../../../src/broker/broker.ts'
import { DataError } from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { type DeadLetter, DeadLetterQueue } from '../../../src/worker/tasks/dead-letter-queue.ts'
import type { TaskClients } from '../../../src/worker/tasks/task-clients.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'

/** The clients that a dead-letter queue uses. */
function fakeClients({
  fails = false,
  exists = false,
  refusal = (_: NewRecord): string | undefined => undefined,
} = {}) {
  const made: NewTopic[] = []
  const sent: NewRecord[] = []
  const clients = {
    topics: async () => ({
      describe: async () => (exists ? {} : undefined),
      create: async (topic: NewTopic) => made.push(topic) > 0,
    }),
    producer: async () => ({
      send: async (records: readonly NewRecord[]) => {
        if (fails) throw new Error('the log is full')
        const code = records.map(refusal).find((one) => one !== undefined)
        if (code !== undefined) throw Object.assign(new Error(code), { code })
        sent.push(...records)
      },
      close: async () => {},
    }),
  }
  return { made, sent, clients: clients as unknown as TaskClients }
}

async function open(config: Readonly<Record<string, string>>, fake: ReturnType<typeof fakeClients>) {
  const counters = countersIn()
  const { deadLetters } = parseTaskConfig({ 'errors.deadletterqueue.topic.name': 'dead', ...config })
  const task = { connector: 'sink', task: 2 }
  return {
    counters,
    queue: await DeadLetterQueue.open({
      clients: fake.clients,
      config: deadLetters!,
      task,
      counters,
      secrets: ['hunter22'],
      signal: new AbortController().signal,
    }),
  }
}

const DEAD_LETTER: DeadLetter = {
  record: { key: Buffer.from('k'), value: Buffer.from('v'), headers: [['mine', Buffer.from('1')]], timestampMs: 5 },
  position: [
    ['topic', 'orders'],
    ['partition', '3'],
    ['offset', '42'],
  ],
  stage: 'VALUE_CONVERTER',
  className: 'com.example.Converter',
  error: new DataError('not a number'),
}

describe('DeadLetterQueue', () => {
  it('creates the topic with one partition and the configured replication factor', async () => {
    const fake = fakeClients()
    await open({ 'errors.deadletterqueue.topic.replication.factor': '2' }, fake)
    expect(fake.made).toMatchObject([{ name: 'dead', partitions: 1, replicationFactor: 2 }])
  })

  it('uses an existing topic without changing it', async () => {
    const fake = fakeClients({ exists: true })
    await open({}, fake)
    expect(fake.made).toEqual([])
  })

  it('masks the secrets of the task in the headers that describe the error', async () => {
    const fake = fakeClients()
    const { queue } = await open({ 'errors.deadletterqueue.context.headers.enable': 'true' }, fake)
    queue.add({ ...DEAD_LETTER, error: new DataError('http://me:hunter22@h and aHVudGVyMjI=') })
    await queue.flush()
    const text = fake.sent.flatMap(({ headers = [] }) => headers.map(([, value]) => String(value))).join('\n')
    expect(text).toContain('http://me:[hidden]@h and [hidden]')
    expect(text).not.toMatch(/hunter22|aHVudGVyMjI/)
  })

  it('writes the record as it was stored in its topic', async () => {
    const fake = fakeClients()
    const { queue, counters } = await open({}, fake)
    queue.add(DEAD_LETTER)
    await queue.flush()
    expect(fake.sent).toEqual([{ ...DEAD_LETTER.record, topic: 'dead' }])
    expect(counters).toMatchObject({ deadLetters: 1, deadLetterFailures: 0 })
  })

  it('writes the error headers of Kafka Connect in the same order', async () => {
    const fake = fakeClients()
    const { queue } = await open({ 'errors.deadletterqueue.context.headers.enable': 'true' }, fake)
    queue.add(DEAD_LETTER)
    await queue.flush()
    const [mine, ...context] = fake.sent[0]!.headers!.map(([name, value]) => [name, String(value)])
    expect(mine).toEqual(['mine', '1'])
    const stacktrace = context.pop()
    expect(context).toEqual([
      ['__connect.errors.topic', 'orders'],
      ['__connect.errors.partition', '3'],
      ['__connect.errors.offset', '42'],
      ['__connect.errors.connector.name', 'sink'],
      ['__connect.errors.task.id', '2'],
      ['__connect.errors.stage', 'VALUE_CONVERTER'],
      ['__connect.errors.class.name', 'com.example.Converter'],
      ['__connect.errors.exception.class.name', 'org.apache.kafka.connect.errors.DataException'],
      ['__connect.errors.exception.message', 'not a number'],
    ])
    expect(stacktrace?.[0]).toBe('__connect.errors.exception.stacktrace')
    expect(stacktrace?.[1]).toContain('dead-letter-queue.test.ts')
  })

  it.each([
    ['a message with the record', new DataError(`cannot parse ${'x'.repeat(1_000_000)}`), 'cannot parse xxx'],
    ['a message that is no text', Object.assign(new Error(), { message: { status: 502 } }), '[object Object]'],
    ['a thrown text', 'no such table', 'no such table'],
    ['a thrown object without a text', Object.create(null), 'an error that cannot be described'],
  ])('limits the error headers, whatever the plugin has thrown: %s', { tags: ['slow'] }, async (_, error, message) => {
    const sizeOf = ({ headers = [] }: NewRecord) => headers.reduce((sum, [, value]) => sum + (value?.length ?? 0), 0)
    const fake = fakeClients({ refusal: (record) => (sizeOf(record) > 500_000 ? 'record_too_large' : undefined) })
    const { queue } = await open({ 'errors.deadletterqueue.context.headers.enable': 'true' }, fake)
    queue.add({ ...DEAD_LETTER, error })
    await queue.flush()
    expect(String(fake.sent[0]?.value)).toBe('v')
    const texts = Object.fromEntries(fake.sent[0]?.headers?.map(([name, value]) => [name, String(value)]) ?? [])
    expect(texts['__connect.errors.exception.message']?.slice(0, 40)).toContain(message)
  })

  it.each([
    ['its value', 1_000, { key: 'k', headers: { mine: '1', '__connect.errors.content': 'none' } }],
    ['its value, key and headers', 10, { key: null, headers: { '__connect.errors.content': 'none' } }],
  ])('removes content of a dead letter that is too large for the topic: %s', async (_, bytesMax, left) => {
    const sizeOf = ({ key, value, headers = [] }: NewRecord) =>
      [key, value, ...headers.filter(([name]) => name === 'mine').map(([, bytes]) => bytes)].reduce(
        (size, bytes) => size + (bytes?.length ?? 0) * 10,
        0,
      )
    const fake = fakeClients({ refusal: (record) => (sizeOf(record) > bytesMax ? 'record_too_large' : undefined) })
    const { queue, counters } = await open({}, fake)
    queue.add({ ...DEAD_LETTER, record: { ...DEAD_LETTER.record, value: Buffer.alloc(1_000) } })
    await queue.flush()
    const [{ key, value, headers = [], timestampMs }] = fake.sent as [NewRecord]
    const texts = Object.fromEntries(headers.map(([name, bytes]) => [name, String(bytes)]))
    expect({ key: key && String(key), value, headers: texts, timestampMs }).toEqual({
      ...left,
      value: null,
      timestampMs: 5,
    })
    expect(counters).toMatchObject({ deadLetters: 1, deadLetterFailures: 0 })
  })

  it('moves a timestamp that the topic rejects to a header', async () => {
    const fake = fakeClients({
      refusal: ({ timestampMs }) => (timestampMs === undefined ? undefined : 'invalid_record'),
    })
    const { queue } = await open({}, fake)
    queue.add(DEAD_LETTER)
    await queue.flush()
    expect(fake.sent[0]).not.toHaveProperty('timestampMs')
    expect(String(fake.sent[0]?.value)).toBe('v')
    expect(fake.sent[0]?.headers?.at(-1)?.map(String)).toEqual(['__connect.errors.timestamp', '5'])
  })

  it('rejects flush when a dead letter is too large even without its content', async () => {
    const { queue } = await open({}, fakeClients({ refusal: () => 'record_too_large' }))
    queue.add(DEAD_LETTER)
    await expect(queue.flush()).rejects.toThrow("could not write to the dead-letter topic 'dead'")
  })

  it('rejects flush when a dead letter could not be written', async () => {
    const { queue, counters } = await open({}, fakeClients({ fails: true }))
    queue.add(DEAD_LETTER)
    await expect(queue.flush()).rejects.toThrow("could not write to the dead-letter topic 'dead'")
    expect(counters).toMatchObject({ deadLetters: 0, deadLetterFailures: 1 })
  })
})
