import { describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { defineSource, RetriableError, type SourceConnector, type SourceRecord, z } from '../../../src/sdk/index.ts'
import type { TaskSpec } from '../../../src/worker/tasks/task-spec.ts'
import { DEAD_LETTERS, rejectRecordsFor, startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { openTestBroker, produceTexts, readRecords } from '../../support/topic.ts'

const CAST = 'org.apache.kafka.connect.transforms.Cast$Value'
const CLOCK = { of: 'all' }

describe('WorkerSourceTask', () => {
  it('restarts the source after a retriable error, from the offset of its last batch', async () => {
    const broker = await openLog()
    const startedAt: unknown[] = []
    const task = startSource(broker, async function* ({ resumeFrom, signal }) {
      let at = Number(resumeFrom(CLOCK)?.['at'] ?? 0)
      startedAt.push(at)
      for (; at < 5; at++) {
        if (startedAt.length <= at) throw new RetriableError('busy')
        yield [record(at)]
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    await expect.poll(() => valuesOf(broker)).toEqual(['0', '1', '2', '3', '4'])
    expect(startedAt).toEqual([0, 1, 2, 3, 4])
    expect(task.counters.retries).toBe(4)
    await task.stop()
    const retried = [{ type: 'running', retryTrace: expect.stringContaining('busy') }, { type: 'running' }]
    expect(task.said).toEqual([{ type: 'running' }, ...retried, ...retried, ...retried, ...retried])
  })

  it('reports once why it retries, and fails after as many retries as the error permits', async () => {
    const broker = await openLog()
    let polls = 0
    const task = startSource(broker, async function* () {
      polls += 1
      if (polls === 3) yield []
      throw new RetriableError('no server', { retriesMax: 2, retryAfterMs: 1 })
    })
    await expect.poll(() => task.said.at(-1)?.type).toBe('failed')
    // The batch of the third poll ends the first series of failures.
    expect(polls).toBe(5)
    const because = expect.stringContaining('no server')
    expect(task.said).toEqual([
      { type: 'running' },
      { type: 'running', retryTrace: because },
      { type: 'running' },
      { type: 'running', retryTrace: because },
      { type: 'failed', trace: because },
    ])
  })

  it('reports to the source which offsets are committed, not those that it has only returned', async () => {
    const broker = await openLog()
    const committed: unknown[] = []
    startSource(
      broker,
      async function* ({ committedOffset, signal }) {
        for (let at = 0; !signal.aborted; at++) {
          const offset = committedOffset(CLOCK)
          if (JSON.stringify(offset) !== JSON.stringify(committed.at(-1))) committed.push(offset)
          await new Promise((resolve) => setTimeout(resolve, 1))
          yield at < 2 ? [record(at)] : []
        }
      },
      {},
      {
        worker: { ...TASK_DEFAULTS, commitIntervalMs: 10 },
        offsets: [{ key: Buffer.from('["source",{"of":"all"}]'), partition: CLOCK, offset: { at: 9 } }],
      },
    )
    await expect.poll(() => committed.at(-1)).toEqual({ at: 2 })
    expect(committed[0]).toEqual({ at: 9 })
  })

  it('stores an offset that the source sets without records, and resumes from it', async () => {
    const broker = await openLog()
    const startedAt: unknown[] = []
    const task = startSource(broker, async function* ({ resumeFrom, advance, signal }) {
      startedAt.push(resumeFrom(CLOCK))
      if (startedAt.length === 1) {
        yield [record(0)]
        advance(CLOCK, { at: 7 })
        yield []
        throw new RetriableError('busy')
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    await expect.poll(() => startedAt).toEqual([undefined, { at: 7 }])
    await task.stop()
    expect((await readRecords(broker, 'offsets')).map(({ value }) => String(value))).toEqual(['{"at":7}'])
  })

  it('reads a topic for its source, from an offset on', async () => {
    const broker = await openTestBroker('lines', 'offsets', 'commands')
    await produceTexts(broker, 'commands', 'a', 'b', 'c')
    startSource(broker, async function* ({ openTopic, signal }) {
      const reader = await openTopic({ topic: 'commands', offset: 1, bootstrapServers: undefined })
      while (!signal.aborted) {
        const read = await reader.poll(10)
        yield read.map(({ offset, value }) => ({ ...record(offset), value: String(value) }))
      }
      await reader.close()
    })
    await expect.poll(() => valuesOf(broker)).toEqual(['b', 'c'])
  })

  it('can be stopped while it waits for the retry of its source', async () => {
    const broker = await openLog()
    const task = startSource(broker, async function* () {
      yield []
      throw new RetriableError('busy')
    })
    await expect.poll(() => task.counters.retries).toBeGreaterThan(0)
    await task.stop()
    expect(task.said.at(-1)?.type).toBe('running')
  })

  it('fails when the dead letter of a record cannot be written, and stores no offset past it', async () => {
    const broker = await openLog()
    rejectRecordsFor(broker, 'dead')
    const task = startSource(
      broker,
      async function* () {
        yield [record(1_000)]
      },
      { ...DEAD_LETTERS, transforms: 'cast', 'transforms.cast.type': CAST, 'transforms.cast.spec': 'int8' },
    )
    await expect.poll(() => task.said.at(-1)?.type).toBe('failed')
    expect(task.counters.deadLetterFailures).toBe(1)
    await task.stop()
    expect(await readRecords(broker, 'offsets')).toEqual([])
  })

  it('skips a record that its topic rejects and writes its dead letter; the other records of the batch are written', async () => {
    const broker = await openLog()
    await broker.topics.create({ name: 'small', partitions: 1, configs: { 'max.message.bytes': '2000' } })
    const value = (at: number) => (at === 2 ? 'x'.repeat(5_000) : String(at))
    const task = startSource(
      broker,
      async function* ({ signal }) {
        yield [0, 1, 2, 3].map((at) => ({ ...record(at), topic: 'small', value: value(at) }))
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      DEAD_LETTERS,
    )
    await expect.poll(() => task.counters.recordsOut).toBe(3)
    await task.stop()
    expect((await readRecords(broker, 'small')).map(({ value }) => String(value))).toEqual(['0', '1', '3'])
    expect((await readRecords(broker, 'dead')).map(({ value }) => value?.length)).toEqual([5_000])
    expect((await readRecords(broker, 'offsets')).map(({ value }) => String(value))).toEqual(['{"at":4}'])
    expect(task.counters).toMatchObject({ errors: 1, skipped: 1, deadLetters: 1 })
  })

  it('fails when a topic rejects a record and errors.tolerance is none, and stores no offset past it', async () => {
    const broker = await openLog()
    await broker.topics.create({ name: 'small', partitions: 1, configs: { 'max.message.bytes': '2000' } })
    const task = startSource(broker, async function* () {
      yield [{ ...record(0), topic: 'small', value: 'x'.repeat(5_000) }]
    })
    await expect.poll(() => task.said.at(-1)?.type).toBe('failed')
    expect(task.said.at(-1)).toMatchObject({ trace: expect.stringContaining('Tolerance exceeded') })
    await task.stop()
    expect(await readRecords(broker, 'offsets')).toEqual([])
  })

  it('makes records visible when the source commits its transaction, and never those of an aborted one', async () => {
    const broker = await openLog()
    const given = Promise.withResolvers<void>()
    const poll: SourceConnector['poll'] = async function* ({ transaction, signal }) {
      yield [record(0)]
      transaction?.commit()
      yield [record(1)]
      yield [record(2)]
      transaction?.abort()
      yield []
      yield [record(3)]
      given.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    const own = { ...sourceOf(poll), definesTransactions: true }
    const task = startTask(broker, own, { 'transaction.boundary': 'connector' }, { transactionalId: 'in-0' })
    await given.promise
    await task.stop()
    expect(await valuesOf(broker)).toEqual(['0', '1'])
    expect((await readRecords(broker, 'offsets')).map(({ value }) => String(value))).toEqual(['{"at":2}', '{"at":3}'])
  })

  it('says that its producer was fenced by another one with its transactional id', async () => {
    const broker = await openLog()
    const task = startSource(
      broker,
      async function* () {
        yield [record(0)]
        await expect.poll(() => valuesOf(broker)).toEqual(['0'])
        await (await broker.producer({ transactionalId: 'in-0' })).close()
        yield [record(1)]
      },
      {},
      { transactionalId: 'in-0' },
    )
    await expect.poll(() => task.said.at(-1)).toMatchObject({ type: 'failed', isFenced: true })
    expect(await valuesOf(broker)).toEqual(['0'])
  })

  it('writes nothing with offsets that were read before another worker fenced its producer', async () => {
    const broker = await openLog()
    const fencedAs = await broker.newProducerIdentity('in-0')
    await broker.newProducerIdentity('in-0')
    const task = startSource(
      broker,
      async function* () {
        yield [record(0)]
      },
      {},
      { transactionalId: 'in-0', fencedAs },
    )
    await expect.poll(() => task.said.at(-1)).toMatchObject({ type: 'failed', isFenced: true })
    expect(await valuesOf(broker)).toEqual([])
  })

  it('rejects transaction.boundary=connector for a source that defines no transactions', async () => {
    const broker = await openLog()
    const own = sourceOf(async function* () {})
    const task = startTask(broker, own, { 'transaction.boundary': 'connector' }, { transactionalId: 'in-0' })
    await expect
      .poll(() => task.said.at(-1))
      .toMatchObject({
        type: 'failed',
        trace: expect.stringContaining('Own defines no transactions: set transaction.boundary to poll or interval'),
      })
  })

  it('commits transactions at transaction.boundary.interval.ms instead of the interval of the worker', async () => {
    const broker = await openLog()
    const own = sourceOf(async function* ({ signal }) {
      yield [record(0)]
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const config = { 'transaction.boundary': 'interval', 'transaction.boundary.interval.ms': '10' }
    startTask(broker, own, config, { transactionalId: 'in-0' })
    await expect.poll(() => valuesOf(broker)).toEqual(['0'])
  })

  it.each([
    ['at-least-once', {}],
    ['exactly-once', { transactionalId: 'in-0' }],
  ])('continues and commits when a listener of its source fails, with %s delivery', async (_, own) => {
    const broker = await openLog()
    const notified: string[] = []
    const fail = (what: string) => {
      notified.push(what)
      throw new Error('the origin does not accept it')
    }
    const poll: SourceConnector['poll'] = async function* ({ onStored, onCommitted, signal }) {
      onStored(() => fail('stored'))
      onCommitted(async () => fail('committed'))
      yield [record(0)]
      await expect.poll(() => [...new Set(notified)].sort()).toEqual(['committed', 'stored'])
      yield [record(1)]
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    const task = startSource(broker, poll, {}, { worker: { ...TASK_DEFAULTS, commitIntervalMs: 1 }, ...own })
    await expect.poll(() => valuesOf(broker)).toEqual(['0', '1'])
    await task.stop()
    expect(task.said).toEqual([{ type: 'running' }])
    expect(task.counters.commitFailures).toBe(0)
    expect(String((await readRecords(broker, 'offsets')).at(-1)?.value)).toBe('{"at":2}')
  })

  it('fails with the non-retriable error of its source', async () => {
    const broker = await openLog()
    const task = startSource(broker, async function* () {
      yield [record(0)]
      throw new Error('no such table')
    })
    await expect
      .poll(() => task.said.at(-1))
      .toMatchObject({ type: 'failed', trace: expect.stringMatching('no such table') })
    expect(await valuesOf(broker)).toEqual(['0'])
  })
})

function record(at: number): SourceRecord {
  return { topic: 'lines', value: String(at), sourcePartition: CLOCK, sourceOffset: { at: at + 1 } }
}

const openLog = () => openTestBroker('lines', 'offsets')

async function valuesOf(broker: Broker): Promise<readonly string[]> {
  return (await readRecords(broker, 'lines')).map(({ value }) => String(value))
}

function sourceOf(poll: SourceConnector['poll']) {
  return defineSource({ class: 'Own', version: '1', summary: 'Own.', config: z.object({}), poll })
}

function startSource(
  broker: Broker,
  poll: SourceConnector['poll'],
  config: RawConfig = {},
  own: Partial<TaskSpec> = {},
) {
  return startTask(broker, sourceOf(poll), { 'errors.retry.delay.max.ms': '20', ...config }, own)
}
