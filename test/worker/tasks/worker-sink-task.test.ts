import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { defineSink, RetriableError, type SinkContext, type SinkTask, z } from '../../../src/sdk/index.ts'
import type { TaskDefaults } from '../../../src/worker/tasks/task-spec.ts'
import { describeConcurrently, poll } from '../../support/concurrent-tests.ts'
import { DEAD_LETTERS, holdRecordsFor, rejectRecordsFor, startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { openTestBroker, produceTexts } from '../../support/topic.ts'

describeConcurrently('WorkerSinkTask', () => {
  it('commits the offsets that the sink has flushed, at the latest when it stops', async () => {
    const broker = await openLog('a', 'b')
    const seen: unknown[] = []
    const task = startSink(broker, { put: (records) => void seen.push(...records.map(({ value }) => value)) })
    await poll(() => seen).toEqual(['a', 'b'])
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 2 }])
  })

  it('puts a batch again after a retriable error, without losing records', { tags: ['slow'] }, async () => {
    const broker = await openLog('a', 'b')
    const taken: unknown[] = []
    let attempts = 0
    const task = startSink(broker, {
      put: (records) => {
        attempts += 1
        if (attempts === 1) throw Object.assign(new Error('busy'), { code: 'retriable' })
        taken.push(...records.map(({ value }) => value))
      },
    })
    await poll(() => taken).toEqual(['a', 'b'])
    expect(task.said.map(({ type }) => type)).not.toContain('failed')
    await task.stop()
  })

  it('reports once why a batch is put again, also after a pause, and that it was accepted', async () => {
    const broker = await openLog('a')
    let isBusy = true
    const task = startSink(broker, {
      put: () => {
        if (isBusy) throw new RetriableError('the target is busy', { retryAfterMs: 1 })
      },
    })
    const states = () => task.said.filter(({ type }) => type === 'running' || type === 'paused')
    const [running, paused] = [{ type: 'running' }, { type: 'paused' }]
    const retrying = { type: 'running', retryTrace: expect.stringContaining('the target is busy') }
    await poll(() => task.counters.retries).toBeGreaterThan(2)
    expect(states()).toEqual([running, retrying])
    task.setPaused(true)
    task.setPaused(false)
    expect(states()).toEqual([running, retrying, paused, retrying])
    isBusy = false
    await poll(states).toEqual([running, retrying, paused, retrying, running])
  })

  it('waits for the delay that the sink requested before it puts a batch again', { tags: ['slow'] }, async () => {
    const broker = await openLog('a')
    const atMs: number[] = []
    startSink(broker, {
      put: () => {
        atMs.push(performance.now())
        if (atMs.length === 1) throw Object.assign(new Error('busy'), { code: 'retriable', retryAfterMs: 700 })
      },
    })
    await poll(() => atMs.length).toBe(2)
    expect(atMs[1]! - atMs[0]!).toBeGreaterThanOrEqual(695)
  })

  it('counts its partitions and the latency of records', async () => {
    const broker = await openLog()
    const producer = await broker.producer()
    const old = { topic: 'lines', key: null, value: Buffer.from('a'), timestampMs: Date.now() - 60_000 }
    await producer.send([old, { ...old, timestampMs: Date.now() - 30_000 }])
    await producer.close()
    const task = startSink(broker, { put: () => undefined })
    await poll(() => task.counters.recordsOut).toBe(2)
    expect(task.counters).toMatchObject({ partitions: 1, batches: 1, batchRecordsMax: 2 })
    expect(task.counters.latencyMsMax).toBeGreaterThanOrEqual(60_000)
    expect(task.counters.latencyMsTotal).toBeGreaterThanOrEqual(90_000)
    await task.stop()
    expect(task.counters.partitions).toBe(0)
  })

  it('reads and converts the next records while a sink that reads ahead writes, and puts them after that', async () => {
    const broker = await openLog('1')
    const { puts, sink } = gatedSink()
    const withoutSchemas = { ...JSON_VALUES, 'value.converter.schemas.enable': 'false' }
    const task = startSink(broker, sink, {}, { topics: 'lines', ...withoutSchemas, ...DEAD_LETTERS })
    await poll(() => puts.length).toBe(1)
    await produceTexts(broker, 'lines', '2', 'not json')
    await poll(() => task.counters.errors).toBe(1)
    expect(puts).toHaveLength(1)
    puts[0]!.resolve()
    await poll(() => puts.length).toBe(2)
    expect(task.counters.recordsOut).toBe(1)
    puts[1]!.resolve()
    await poll(() => task.counters.recordsOut).toBe(2)
    expect(puts.map(({ values }) => values)).toEqual([[1], [2]])
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 3 }])
  })

  it('puts the records that were read ahead only after the batch before them is accepted', async () => {
    const broker = await openLog('a')
    const { puts, sink } = gatedSink()
    const task = startSink(broker, sink)
    await poll(() => puts.length).toBe(1)
    await produceTexts(broker, 'lines', 'b')
    await poll(() => task.counters.recordsIn).toBe(2)
    puts[0]!.reject(new RetriableError('busy', { retryAfterMs: 1 }))
    await poll(() => puts.length).toBe(2)
    puts[1]!.resolve()
    await poll(() => puts.length).toBe(3)
    puts[2]!.resolve()
    await poll(() => task.counters.recordsOut).toBe(2)
    expect(puts.map(({ values }) => values)).toEqual([['a'], ['a'], ['b']])
    await task.stop()
  })

  it('waits for the put of a sink that reads ahead before it commits and stops', async () => {
    const broker = await openLog('a')
    const { puts, sink } = gatedSink()
    const task = startSink(broker, sink)
    await poll(() => puts.length).toBe(1)
    const stopping = task.stop()
    puts[0]!.resolve()
    await stopping
    expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 1 }])
  })

  it('flushes and commits earlier records only after the running put of a sink that reads ahead', async () => {
    const broker = await openLog('a')
    const calls: string[] = []
    const task = startSink(broker, ({ requestCommit }) => ({
      readsAhead: true,
      async put([record]) {
        calls.push(`put ${record?.value}`)
        if (record?.value === 'b') requestCommit()
        // A commit that did not wait for this put would call flush before the next turn of the event loop.
        await setImmediate()
        calls.push(`stored ${record?.value}`)
      },
      flush: (offsets) => void calls.push(`flush ${offsets.map(({ offset }) => offset)}`),
    }))
    await poll(() => task.counters.recordsOut).toBe(1)
    await produceTexts(broker, 'lines', 'b')
    await poll(() => task.counters.commits).toBe(1)
    expect(calls).toEqual(['put a', 'stored a', 'put b', 'stored b', 'flush 2'])
    await task.stop()
  })

  it('fails when a put of a sink that reads ahead fails, without more records', async () => {
    const broker = await openLog('a')
    const { puts, sink } = gatedSink()
    const task = startSink(broker, sink)
    await poll(() => puts.length).toBe(1)
    puts[0]!.reject(new Error('disk gone'))
    await poll(() => task.said.at(-1)).toMatchObject({ type: 'failed', trace: expect.stringMatching('disk gone') })
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([])
  })

  it('reads no further records while a batch waits for its retry', { tags: ['slow'] }, async () => {
    const broker = await openLog('a')
    const asked: unknown[] = []
    let isBusy = true
    const sink: SinkTask = {
      put: (records) => {
        asked.push(records.map(({ value }) => value).join())
        if (isBusy) throw Object.assign(new Error('busy'), { code: 'retriable' })
      },
    }
    startSink(broker, sink, {}, { topics: 'lines', 'errors.retry.delay.max.ms': '5' })
    await poll(() => asked.length).toBeGreaterThan(0)
    await produceTexts(broker, 'lines', 'b')
    const { length } = asked
    await poll(() => asked.length).toBeGreaterThan(length + 5)
    expect(new Set(asked)).toEqual(new Set(['a']))
    isBusy = false
    await poll(() => asked.at(-1)).toBe('b')
  })

  it('reports its group membership and its committed offsets to the sink', async () => {
    const broker = await openLog('a', 'b')
    let context: SinkContext<unknown> | undefined
    const own = defineSink({
      class: 'Own',
      version: '1',
      summary: 'Own.',
      config: z.object({}),
      start(given) {
        context = given
        expect(() => given.groupMember()).toThrow('the task has not joined its consumer group')
        return { put: () => given.requestCommit() }
      },
    })
    const task = startTask(broker, own, { topics: 'lines' }, { connector: 'out', worker: TASK_DEFAULTS })
    const partitions = [{ topic: 'lines', partition: 0 }]
    await poll(() => task.counters.commits).toBe(1)
    expect(await context!.committedOffsets(partitions)).toEqual([{ topic: 'lines', partition: 0, offset: 2 }])
    const { members } = await broker.groups.describe('connect-out')
    expect(context!.groupMember()).toMatchObject({
      groupId: 'connect-out',
      memberId: members[0]?.memberId,
      instanceId: members[0]?.instanceId,
      generation: expect.any(Number),
    })
  })

  it('fails with the error of put, also when the sink cannot be stopped for the same reason', async () => {
    const broker = await openLog('a')
    const lost = (what: string) => async () => {
      throw new Error(`${what}: the host was lost`)
    }
    const task = startSink(broker, { put: lost('put'), stop: lost('stop') })
    await poll(() => task.said.at(-1)).toMatchObject({
      type: 'failed',
      trace: expect.stringContaining('put: the host'),
    })
  })

  it('fails without a commit when put throws a non-retriable error', async () => {
    const broker = await openLog('a')
    const task = startSink(broker, {
      put: () => {
        throw new Error('disk gone')
      },
    })
    await poll(() => task.said.at(-1)).toMatchObject({ type: 'failed', trace: expect.stringMatching('disk gone') })
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([])
  })

  it('puts empty batches to a sink that wants them, and repeats one that failed', async () => {
    const broker = await openLog('a')
    const puts: number[] = []
    const sink: SinkTask = {
      putsEmptyBatches: true,
      put: (records) => {
        puts.push(records.length)
        if (puts.filter((count) => count === 0).length === 1 && records.length === 0) {
          throw new RetriableError('not yet', { retryAfterMs: 1 })
        }
      },
    }
    const task = startSink(broker, sink)
    const isDone = () => puts.includes(1) && puts.filter((count) => count === 0).length >= 2
    await poll(isDone).toBe(true)
    expect(task.counters).toMatchObject({ batches: 1, retries: 1 })
    await task.stop()
  })

  it('does not wait for a commit longer than offset.flush.timeout.ms', { tags: ['slow'] }, async () => {
    const broker = await openLog('a')
    const open = broker.consumer.bind(broker)
    broker.consumer = async (options) => Object.assign(await open(options), { commit: () => new Promise(() => {}) })
    const seen: unknown[] = []
    const sink: SinkTask = { put: (records) => void seen.push(...records.map(({ value }) => value)) }
    const task = startSink(broker, sink, { commitIntervalMs: 1, commitTimeoutMs: 1 })
    await poll(() => task.counters.commitFailures).toBeGreaterThan(1)
    await produceTexts(broker, 'lines', 'b')
    await poll(() => seen).toEqual(['a', 'b'])
    await task.stop()
  })

  it('reads the topics that match topics.regex as a Java expression', async () => {
    const broker = await openLog('a')
    const seen: unknown[] = []
    const sink: SinkTask = { put: (records) => void seen.push(...records.map(({ value }) => value)) }
    const task = startSink(broker, sink, {}, { 'topics.regex': '(?i)LI\\Qne\\Es' })
    await poll(() => seen).toEqual(['a'])
    await task.stop()
  })

  it('neither flushes nor commits after the sink has failed', async () => {
    const broker = await openLog('a')
    const calls: string[] = []
    const task = startSink(broker, {
      put: ([record]) => {
        calls.push(`put ${record?.value}`)
        if (record?.value === 'b') throw new Error('disk gone')
      },
      flush: (offsets) => {
        calls.push('flush')
        return offsets
      },
    })
    await poll(() => calls).toEqual(['put a'])
    await produceTexts(broker, 'lines', 'b')
    await poll(() => task.said.at(-1)?.type).toBe('failed')
    await task.stop()
    expect(calls).toEqual(['put a', 'put b'])
    expect(await broker.groups.offsets('connect-out')).toEqual([])
  })

  it('fails when the dead letter of a record cannot be written, and commits no offset past it', async () => {
    const broker = await openLog('not json')
    rejectRecordsFor(broker, 'dead')
    const task = startSink(broker, { put: () => undefined }, {}, { topics: 'lines', ...JSON_VALUES, ...DEAD_LETTERS })
    await poll(() => task.counters.deadLetterFailures).toBe(1)
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([])
  })

  it('reads no further while too many dead letters are not stored yet', { tags: ['slow'] }, async () => {
    const count = 60
    const broker = await openLog(...Array.from({ length: count }, () => `not json ${'x'.repeat(200_000)}`))
    const held: (() => void)[] = []
    holdRecordsFor(broker, 'dead', held)
    const task = startSink(broker, { put: () => undefined }, {}, { topics: 'lines', ...JSON_VALUES, ...DEAD_LETTERS })
    await poll(() => held.length).toBeGreaterThan(15)
    for (let turn = 0; turn < 500; turn++) await setImmediate()
    expect(held.length).toBeLessThan(30)
    await poll(() => {
      for (const release of held.splice(0)) release()
      return task.counters.deadLetters
    }).toBe(count)
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: count }])
  })

  it('starts at the positions that a sink with its own offset storage returns, whatever is committed', async () => {
    const broker = await openLog('a', 'b')
    // Rows and their positions are written in one transaction of a database.
    const database = { rows: [] as unknown[], next: 0 }
    const sink: SinkTask = {
      open: (partitions) => partitions.map((partition) => ({ ...partition, offset: database.next })),
      put: (records) => {
        database.rows.push(...records.map(({ value }) => value))
        database.next += records.length
      },
      flush: () => [],
    }
    const first = startSink(broker, sink)
    await poll(() => database.rows).toEqual(['a', 'b'])
    await first.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([])
    await produceTexts(broker, 'lines', 'c')
    const second = startSink(broker, sink)
    await poll(() => database.rows).toEqual(['a', 'b', 'c'])
    await second.stop()
  })
})

async function openLog(...values: readonly string[]): Promise<Broker> {
  const broker = await openTestBroker('lines')
  await produceTexts(broker, 'lines', ...values)
  return broker
}

/** A sink that reads ahead, and whose puts wait for the test. */
function gatedSink() {
  const puts: (PromiseWithResolvers<void> & { readonly values: readonly unknown[] })[] = []
  const sink: SinkTask = {
    readsAhead: true,
    put(records) {
      const gate = Promise.withResolvers<void>()
      puts.push({ ...gate, values: records.map(({ value }) => value) })
      return gate.promise
    },
  }
  return { puts, sink }
}

const JSON_VALUES = { 'value.converter': 'JsonConverter', 'key.converter': 'StringConverter' }

function startSink(
  broker: Broker,
  sink: SinkTask | ((context: SinkContext<unknown>) => SinkTask),
  worker: Partial<TaskDefaults> = {},
  config: RawConfig = { topics: 'lines' },
  task = 0,
) {
  const start = typeof sink === 'function' ? sink : () => sink
  const own = defineSink({ class: 'Own', version: '1', summary: 'Own.', config: z.object({}), start })
  return startTask(broker, own, config, { connector: 'out', task, worker: { ...TASK_DEFAULTS, ...worker } })
}
