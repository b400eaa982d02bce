import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import {
  followTopic,
  type PeekOptions,
  parseStart,
  peekJson,
  peekText,
  peekTopic,
  RecordFilter,
} from '../../../src/cli/topics/peek-topic.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { RecordDecoder } from '../../../src/records/record-decoder.ts'

let broker: Broker
beforeAll(async () => {
  broker = await openBroker({ kind: 'embedded', directory: ':memory:' }, { logger: silentLogger() })
  await broker.topics.create({ name: 't', partitions: 2, configs: { 'retention.ms': '-1' } })
  const producer = await broker.producer()
  const at = (index: number) => ({ topic: 't', partition: index % 2, timestampMs: 1_000 * index })
  await producer.send(
    Array.from({ length: 40 }, (_, index) => ({
      ...at(index),
      key: Buffer.from(`k${index}`),
      value: Buffer.from(index === 39 ? 'no JSON' : `{"n":${index}}`),
    })),
  )
  await producer.close()
})
afterAll(() => broker.close())

const peek = async (options: Partial<PeekOptions> = {}, where?: string) => {
  const filter = new RecordFilter(where)
  const shown: string[] = []
  const all = { topic: 't', partition: undefined, from: parseStart('latest'), limit: 3, decoder: new RecordDecoder({}) }
  const matches: PeekOptions['matches'] = (record) => filter.matches(record)
  for await (const { key } of peekTopic(broker, { ...all, matches, ...options })) shown.push(String(key.value))
  return { shown, problem: filter.problem }
}

describe('the records that weir topic peek prints', () => {
  it('are the newest of all partitions, the newest one last', async () => {
    expect((await peek()).shown).toEqual(['k37', 'k38', 'k39'])
    expect((await peek({ partition: 0, limit: 2 })).shown).toEqual(['k36', 'k38'])
  })

  it.each([
    ['earliest', ['k0', 'k1', 'k2']],
    ['5', ['k10', 'k11', 'k12']],
    ['1970-01-01T00:00:30Z', ['k30', 'k31', 'k32']],
  ])('begin at %s', async (from, expected) => {
    expect((await peek({ from: parseStart(from) })).shown).toEqual(expected)
  })

  it('are those for which the expression is true; a failure is counted', async () => {
    expect(await peek({}, 'value.n < 20 && partition == 1')).toEqual({
      shown: ['k15', 'k17', 'k19'],
      problem: expect.stringMatching(/^--where could not be evaluated on 1 records, which are left out: value\.n < 20/),
    })
  })

  it('are followed until the signal aborts or the limit is reached', async () => {
    const options = { topic: 't', partition: 1, matches: () => true, decoder: new RecordDecoder({}) }
    const records: string[] = []
    const stop = new AbortController()
    const from = { offset: 18 }
    for await (const { key } of followTopic(
      broker,
      { ...options, from, limit: Number.POSITIVE_INFINITY },
      stop.signal,
    )) {
      records.push(String(key.value))
      if (records.length === 2) stop.abort()
    }
    for await (const { key } of followTopic(broker, { ...options, from, limit: 1 }, new AbortController().signal))
      records.push(String(key.value))
    expect(records).toEqual(['k37', 'k39', 'k37'])
  })

  it('are refused for a topic or partition that does not exist', async () => {
    await expect(peek({ topic: 'none' })).rejects.toThrow("topic 'none' does not exist")
    await expect(peek({ partition: 7 })).rejects.toThrow("topic 't' has no partition 7")
    await broker.topics.create({ name: 'wide', partitions: 201 })
    await expect(peek({ topic: 'wide' })).rejects.toThrow('add --partition N')
    expect((await peek({ topic: 'wide', partition: 200 })).shown).toEqual([])
  })
})

it.each(['soon', '-5', '2026-13-45'])('--from %s is refused with what is expected', (text) => {
  expect(() => parseStart(text)).toThrow(`--from ${text}: expected earliest, latest, an offset`)
})

it('--where is refused with the place of the error', () => {
  expect(() => new RecordFilter('value.')).toThrow(/^--where value\.: /)
})

it('no control character of a record reaches the terminal', async () => {
  const record = {
    key: Buffer.from('\u009b2J'),
    value: Buffer.from('{"a":"\\u001b]0;x\\u0007\u202e"}'),
    headers: [['h\u001b[2J', Buffer.from('\u009d0;y')]] as const,
  }
  const decoded = await new RecordDecoder({}).decode(record)
  const shown = { topic: 't', partition: 0, offset: 0, timestampMs: 8.64e15 + 1, ...decoded }
  for (const text of [peekText(shown).replaceAll('\n', ''), peekJson(shown)])
    expect(text).not.toMatch(/[\p{Cc}\u202e]/u)
})
