import { describe, expect, it } from 'vitest'
import type { Compression } from '../../src/broker/broker.ts'
import { poll } from '../support/concurrent-tests.ts'
import type { OpenBroker } from './broker.ts'
import { bytes, newTopic, opened, pollUntil, readAll, records, textOf, uniqueName } from './broker-support.ts'

export function describeLog(open: OpenBroker): void {
  describe('topics', () => {
    it('are created once, described, listed, extended by partitions, reconfigured and deleted', async () => {
      const broker = await opened(open)
      const name = uniqueName('topic')
      const wanted = { name, partitions: 2, replicationFactor: 1, configs: { 'cleanup.policy': 'compact' } }
      expect([await broker.topics.create(wanted), await broker.topics.create(wanted)]).toEqual([true, false])
      expect(await broker.topics.list()).toContain(name)
      await broker.topics.addPartitions(name, 3)
      await broker.topics.setConfigs(name, { 'retention.ms': '86400000' })
      const found = await broker.topics.describe(name)
      expect(found?.partitions.map(({ partition }) => partition).sort()).toEqual([0, 1, 2])
      expect(await broker.topics.configs(name)).toMatchObject({ 'cleanup.policy': 'compact' })
      const own = () => broker.topics.ownConfigs(name)
      await poll(own).toEqual({ 'cleanup.policy': 'compact', 'retention.ms': '86400000' })
      const configs = () => broker.topics.configs(name)
      await poll(configs).toMatchObject({ 'retention.ms': '86400000' })
      await broker.topics.delete(name)
      expect(await broker.topics.describe(name)).toBeUndefined()
    })

    it('report some configs of many topics, and the bytes of their partitions', async () => {
      const broker = await opened(open)
      const [name, other] = [await newTopic(broker, { partitions: 2 }), await newTopic(broker)]
      await broker.topics.setConfigs(name, { 'retention.ms': '86400000' })
      const missing = uniqueName('missing')
      const names = ['cleanup.policy', 'retention.ms']
      const configs = async () => {
        const found = await broker.topics.configValues([name, other, missing], names)
        return Object.fromEntries(found.map(({ topic, values, error }) => [topic, error?.code ?? values]))
      }
      await poll(configs).toEqual({
        [name]: { 'cleanup.policy': 'delete', 'retention.ms': '86400000' },
        [other]: { 'cleanup.policy': 'delete', 'retention.ms': '604800000' },
        [missing]: 'topic_not_found',
      })
      const described = await broker.topics.describeAll()
      expect(described.find((one) => one.name === name)?.partitions).toHaveLength(2)
      expect((await broker.topics.describeAll([other])).map((one) => one.name)).toEqual([other])
      const partitions = [0, 1].map((partition) => ({ topic: name, partition }))
      const sizes = async () => (await broker.topics.sizes(partitions)).map(({ bytes }) => bytes > 1_000).sort()
      await poll(sizes).toEqual([false, false])
      const producer = await broker.producer()
      await producer.send([{ topic: name, partition: 1, key: null, value: bytes('x'.repeat(1_000)) }])
      await poll(sizes).toEqual([false, true])
    })

    it('have at most one replica for each node when the maximum is requested', async () => {
      const broker = await opened(open)
      const name = await newTopic(broker, { replicationFactorMax: 3 })
      expect((await broker.topics.describe(name))?.partitions.map(({ replicas }) => replicas)).toEqual([1])
    })

    it.each([
      ['an invalid name', { name: 'a b' }, 'invalid_topic'],
      ['an unknown config', { configs: { 'no.such.config': '1' } }, 'invalid_config'],
      ['an invalid config value', { configs: { 'retention.ms': 'soon' } }, 'invalid_config'],
    ])('are rejected with %s', async (_, wrong, code) => {
      const broker = await opened(open)
      await expect(newTopic(broker, wrong)).rejects.toMatchObject({ code, retriable: false })
    })

    it('are reported when they do not exist', async () => {
      const broker = await opened(open)
      const name = uniqueName('missing')
      expect(await broker.topics.describe(name)).toBeUndefined()
      await expect(broker.topics.delete(name)).rejects.toMatchObject({ code: 'topic_not_found' })
      await expect(broker.topics.offsets(name, 'latest')).rejects.toMatchObject({ code: 'topic_not_found' })
      const producer = await broker.producer({ maxBlockMs: 0 })
      await expect(producer.send(records(name, ['x']))).rejects.toMatchObject({
        code: 'topic_not_found',
        message: `topic '${name}' does not exist`,
      })
    })

    it('are reported when they are still missing after max.block.ms', async () => {
      const broker = await opened(open)
      const name = uniqueName('missing')
      const producer = await broker.producer({ maxBlockMs: 50 })
      await expect(producer.send(records(name, ['x']))).rejects.toMatchObject({
        code: 'topic_not_found',
        message: `topic '${name}' does not exist: no broker knew it within 50 ms (max.block.ms)`,
      })
    })

    it('are waited for by producers until they are created', async () => {
      const broker = await opened(open)
      const name = uniqueName('late')
      const producer = await broker.producer()
      const sending = producer.send(records(name, ['x']))
      await newTopic(broker, { name })
      await sending
      expect((await readAll(broker, name)).map(textOf)).toEqual(['x'])
    })

    it('are waited for by producers until they have the partition of a record', async () => {
      const broker = await opened(open)
      const name = await newTopic(broker)
      const [producer, quick] = [await broker.producer(), await broker.producer({ maxBlockMs: 0 })]
      await expect(quick.send(records(name, ['x'], { partition: 2 }))).rejects.toMatchObject({
        code: 'topic_not_found',
        message: `topic '${name}' has no partition 2: its partitions are 0 to 0`,
      })
      const sending = producer.send(records(name, ['x'], { partition: 2 }))
      await broker.topics.addPartitions(name, 3)
      expect((await sending).partitions).toEqual(Int32Array.of(2))
    })

    it('are written again when they were deleted and recreated while a producer was open', async () => {
      const broker = await opened(open)
      const name = await newTopic(broker)
      const producer = await broker.producer()
      await producer.send(records(name, ['before', 'also before']))
      await broker.topics.delete(name)
      const sending = producer.send(records(name, ['after']))
      await newTopic(broker, { name })
      await sending
      await producer.send(records(name, ['later']))
      expect((await readAll(broker, name)).map(textOf)).toEqual(['after', 'later'])
    })

    it('return the earliest and the latest offset and offsets by timestamp', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer()
      const nowMs = Date.now()
      for (const [at, value] of ['a', 'b', 'c'].entries())
        await producer.send(records(topic, [value], { timestampMs: nowMs + at * 1_000 }))
      const offsetAt = async (at: Parameters<typeof broker.topics.offsets>[1]) =>
        (await broker.topics.offsets(topic, at))[0]?.offset
      expect([await offsetAt('earliest'), await offsetAt('latest')]).toEqual([0, 3])
      expect([await offsetAt(nowMs + 500), await offsetAt(nowMs + 2_000), await offsetAt(nowMs + 60_000)]).toEqual([
        1, 2, 3,
      ])
    })
  })

  describe('records', () => {
    it('are read as they were written: keys, tombstones, headers, timestamps, offsets', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer()
      const timestampMs = Date.now() - 5_000
      const headers = [
        ['h', bytes('1')],
        ['h', null],
        ['ü', bytes('')],
      ] as const
      const sent = await producer.send([
        { topic, key: bytes('k'), value: bytes('v'), headers, timestampMs },
        { topic, key: bytes(''), value: null },
        { topic, key: null, value: bytes('') },
      ])
      expect([[...sent.partitions], [...sent.offsets]]).toEqual([
        [0, 0, 0],
        [0, 1, 2],
      ])
      const [first, second, third] = await readAll(broker, topic)
      expect(first).toMatchObject({ offset: 0, timestampMs, key: Buffer.from('k'), value: Buffer.from('v') })
      expect(first?.headers.map(([name, value]) => [name, value && Buffer.from(value).toString()])).toEqual([
        ['h', '1'],
        ['h', null],
        ['ü', ''],
      ])
      expect(second).toMatchObject({ key: Buffer.alloc(0), value: null, headers: [] })
      expect(third).toMatchObject({ key: null, value: Buffer.alloc(0) })
    })

    it.each<Compression>(['none', 'gzip', 'snappy', 'lz4', 'zstd'])(
      'are written and read with the codec %s',
      async (compression) => {
        const broker = await opened(open)
        const topic = await newTopic(broker)
        const producer = await broker.producer({ compression })
        const values = Array.from({ length: 500 }, (_, at) => `${'value '.repeat(20)}${at}`)
        await producer.send(records(topic, values))
        expect((await readAll(broker, topic)).map(textOf)).toEqual(values)
      },
    )

    it('keep the order of overlapping send calls of any size', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer({ batchBytesMax: 20_000 })
      const filler = 'x'.repeat(500)
      const calls = Array.from({ length: 30 }, (_, call) =>
        records(
          topic,
          Array.from({ length: 100 }, (__, at) => `${call}.${at} ${filler}`),
        ),
      )
      await Promise.all(calls.map((call) => producer.send(call)))
      const expected = calls.flatMap((call) => call.map(({ value }) => Buffer.from(value ?? []).toString()))
      expect((await readAll(broker, topic)).map(textOf)).toEqual(expected)
    })

    it('wait until the buffer has space', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer({ bufferBytesMax: 10_000 })
      const values = Array.from({ length: 50 }, (_, at) => `${at} ${'x'.repeat(2_000)}`)
      await Promise.all(values.map((value) => producer.send(records(topic, [value]))))
      expect((await readAll(broker, topic)).map(textOf)).toEqual(values)
    })

    it('are assigned to partitions by key as in Java', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker, { partitions: 7 })
      const producer = await broker.producer()
      const keys = ['a', 'order-1', 'order-2', 'ключ', '']
      const { partitions } = await producer.send(keys.map((key) => ({ topic, key: bytes(key), value: null })))
      expect([...partitions]).toEqual([4, 3, 2, 6, 5].map((_, at) => partitions[at]))
      const second = await producer.send(keys.map((key) => ({ topic, key: bytes(key), value: null })))
      expect([...second.partitions]).toEqual([...partitions])
    })

    it('are rejected with their topic when they are too large, without an effect on others', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer()
      const large = { topic, key: null, value: Buffer.alloc(3_000_000) }
      await expect(producer.send([large])).rejects.toMatchObject({
        code: 'record_too_large',
        message: expect.stringContaining(topic),
      })
      await producer.send(records(topic, ['small']))
      expect((await readAll(broker, topic)).map(textOf)).toEqual(['small'])
    })

    it('are rejected when they are too large for the topic; the producer can send further records', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker, { configs: { 'max.message.bytes': '2000' } })
      const producer = await broker.producer()
      await producer.send(records(topic, ['one']))
      await expect(producer.send(records(topic, ['x'.repeat(5_000)]))).rejects.toMatchObject({
        code: 'record_too_large',
      })
      await producer.send(records(topic, ['two']))
      expect((await readAll(broker, topic)).map(textOf)).toEqual(['one', 'two'])
    })

    it('are split into smaller batches, once and in order, when together they are too large for the topic', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker, { configs: { 'max.message.bytes': '2000' } })
      const producer = await broker.producer()
      const values = Array.from({ length: 60 }, (_, at) => `${at} ${'x'.repeat(300)}`)
      const sends = [values.slice(0, 40), values.slice(40, 50), values.slice(50)]
      const sent = await Promise.all(sends.map((some) => producer.send(records(topic, some))))
      expect([...(sent[1]?.offsets ?? [])]).toEqual([40, 41, 42, 43, 44, 45, 46, 47, 48, 49])
      expect((await readAll(broker, topic)).map(textOf)).toEqual(values)
    })

    it('are reported one by one on request when the broker rejects them, and the others are stored', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker, { configs: { 'max.message.bytes': '2000' } })
      const producer = await broker.producer()
      const rejections: unknown[] = []
      const sends = [
        ['a', 'x'.repeat(5_000), 'b'],
        ['c', 'd', 'y'.repeat(5_000)],
      ].map((values, call) =>
        producer.send(records(topic, values), (index, { code }) => rejections.push([call, index, code])),
      )
      const [first, second] = await Promise.all(sends)
      expect(rejections).toEqual([
        [0, 1, 'record_too_large'],
        [1, 2, 'record_too_large'],
      ])
      expect([first?.offsets[2], second?.offsets[1]]).toEqual([1, 3])
      expect((await readAll(broker, topic)).map(textOf)).toEqual(['a', 'b', 'c', 'd'])
    })

    it('may be larger than the maximum batch when sent alone', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer({ batchBytesMax: 1_000, recordBytesMax: 5_000 })
      const values = ['a', 'x'.repeat(4_000), 'b']
      await producer.send(records(topic, values))
      expect((await readAll(broker, topic)).map(textOf)).toEqual(values)
      await expect(producer.send(records(topic, ['x'.repeat(6_000)]))).rejects.toMatchObject({
        code: 'record_too_large',
      })
    })
  })

  describe('reader', () => {
    it('follows partitions as they grow and seeks', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker, { partitions: 2 })
      const producer = await broker.producer()
      const reader = broker.reader()
      reader.seek([0, 1].map((partition) => ({ topic, partition, offset: 0 })))
      const seen: string[] = []
      const until = (count: number) =>
        pollUntil(
          (waitMs) => reader.poll(waitMs),
          (polled) => {
            for (const { partition, records: got } of polled)
              for (const record of got) seen.push(`${partition}:${textOf(record)}`)
            return seen.length >= count
          },
        )
      for (const value of ['a', 'b']) {
        await producer.send([0, 1].map((partition) => ({ topic, partition, key: null, value: bytes(value) })))
        await until(seen.length + 2)
      }
      reader.seek([{ topic, partition: 1, offset: 1 }])
      await until(5)
      reader.drop([{ topic, partition: 0 }])
      reader.pause([{ topic, partition: 1 }])
      await producer.send([0, 1].map((partition) => ({ topic, partition, key: null, value: bytes('c') })))
      expect((await reader.poll(300)).flatMap(({ records: got }) => got)).toEqual([])
      reader.resume([{ topic, partition: 1 }])
      await until(6)
      expect(seen.toSorted()).toEqual(['0:a', '0:b', '1:a', '1:b', '1:b', '1:c'])
      await reader.close()
      await expect(reader.poll(1)).rejects.toMatchObject({ code: 'closed' })
    })

    it('returns at most pollRecordsMax records at once, then the rest', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker, { partitions: 2 })
      const values = Array.from({ length: 7 }, (_, at) => String(at))
      for (const partition of [0, 1])
        await (await broker.producer()).send(
          values.map((value) => ({ topic, partition, key: null, value: bytes(value) })),
        )
      const reader = broker.reader({ pollRecordsMax: 3 })
      reader.seek([0, 1].map((partition) => ({ topic, partition, offset: 0 })))
      const seen: [string[], string[]] = [[], []]
      await pollUntil(
        (waitMs) => reader.poll(waitMs),
        (polled) => {
          expect(polled.flatMap(({ records: got }) => got).length).toBeLessThanOrEqual(3)
          for (const { partition, records: got, nextOffset } of polled) {
            const of = seen[partition as 0 | 1]
            of.push(...got.map((record) => textOf(record) ?? ''))
            expect(nextOffset).toBe(of.length)
          }
          return seen.flat().length >= 14
        },
      )
      expect(seen).toEqual([values, values])
      await reader.close()
    })

    it('ends a wait when it is woken', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const reader = broker.reader()
      reader.seek([{ topic, partition: 0, offset: 0 }])
      // Longer than a test may take.
      const polled = reader.poll(3_600_000)
      reader.wake()
      expect(await polled).toEqual([])
    })

    it('continues at the earliest or latest offset, or fails, when its offset no longer exists', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer()
      await producer.send(records(topic, ['a', 'b']))
      const first = async (outOfRange: 'earliest' | 'latest' | 'error') => {
        const reader = broker.reader({ outOfRange })
        reader.seek([{ topic, partition: 0, offset: 99 }])
        const values: (string | null)[] = []
        await producer.send(records(topic, [outOfRange]))
        await pollUntil(
          (waitMs) => reader.poll(waitMs),
          (polled) => {
            values.push(...polled.flatMap(({ records: got }) => got.map(textOf)))
            return values.length > 0
          },
        ).finally(() => reader.close())
        return values[0]
      }
      expect(await first('earliest')).toBe('a')
      await expect(first('error')).rejects.toMatchObject({ code: 'offset_out_of_range' })
    })
  })

  it('has the same content for each broker that opens it', async () => {
    const [one, other] = [await opened(open), await opened(open)]
    const topic = await newTopic(one)
    expect(await other.clusterId()).toBe(await one.clusterId())
    await (await other.producer()).send(records(topic, ['from the other']))
    expect((await readAll(one, topic)).map(textOf)).toEqual(['from the other'])
  })
}
