import { crc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PartitionReader, PartitionReaderOptions, PartitionRecords } from '../../../src/broker/broker.ts'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../../src/broker/broker-client.ts'
import { BrokerError, UnreadableBatchError } from '../../../src/broker/broker-error.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import {
  ATTRIBUTES_AT,
  BASE_OFFSET_AT,
  CONTROL,
  COUNT_AT,
  CRC_AT,
  HEADER_BYTES,
  LAST_OFFSET_DELTA_AT,
  LENGTH_AT,
  MAGIC_AT,
} from '../../../src/broker/record-batch/batch-header.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { createDamagedBackend, type Damage, damagedAt, flipBit } from '../../support/damaged-backend.ts'
import { propertyRuns } from '../../support/property-seed.ts'

const RECORDS_OF_BATCH = 5
const BATCHES = 6
const RECORDS = RECORDS_OF_BATCH * BATCHES
/** The base offset of the damaged batch, unless a test uses another one. */
const DAMAGED = 15

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => String(from + at).padStart(2, '0'))

describe('LogReader of a damaged partition', () => {
  const changed = (change: (batch: Buffer) => void) => (batch: Buffer) => {
    change(batch)
    return batch
  }
  const crcFitting = (change: (batch: Buffer) => void) => (batch: Buffer) => {
    change(batch)
    batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES_AT)), CRC_AT)
    return batch
  }
  const kinds: readonly [kind: string, change: (batch: Buffer) => Uint8Array, reason: RegExp][] = [
    ['a flipped bit in its last record', (batch) => flipBit(batch, batch.length * 8 - 1), /checksum/],
    [
      'a flipped bit that marks it as a control batch',
      (batch) => flipBit(batch, (ATTRIBUTES_AT + 1) * 8 + 5),
      /checksum/,
    ],
    [
      'a record format older than Kafka 0.11',
      (batch) => batch.fill(1, MAGIC_AT, MAGIC_AT + 1),
      /record format v1 is older/,
    ],
    ['a format that does not exist', (batch) => batch.fill(77, MAGIC_AT, MAGIC_AT + 1), /unknown record format v77/],
    ['a negative length', changed((batch) => batch.writeInt32BE(-1, LENGTH_AT)), /a length of 11 bytes/],
    [
      'a length beyond the response',
      changed((batch) => batch.writeInt32BE(2 ** 30, LENGTH_AT)),
      /ends inside the batch/,
    ],
    ['a count of more records than it holds', crcFitting((b) => b.writeInt32BE(4, COUNT_AT)), /bytes follow the last/],
    [
      'a count of more records than offsets',
      crcFitting((b) => b.writeInt32BE(99, COUNT_AT)),
      /99 records for 5 offsets/,
    ],
    ['a negative count', crcFitting((b) => b.writeInt32BE(-1, COUNT_AT)), /-1 records for 5 offsets/],
    ['no offsets', crcFitting((b) => b.writeInt32BE(-1, LAST_OFFSET_DELTA_AT)), /5 records for 0 offsets/],
    ['an offset before its own', changed((b) => b.writeBigInt64BE(3n, BASE_OFFSET_AT)), /offset 3 follows offset 14/],
    [
      'an offset far after its own',
      changed((b) => b.writeBigInt64BE(17n, BASE_OFFSET_AT)),
      /offset 20 follows offset 21/,
    ],
    ['a negative offset', changed((batch) => batch.writeBigInt64BE(-9n, BASE_OFFSET_AT)), /first offset is -9/],
    ['an unknown codec', crcFitting((b) => b.writeInt16BE(7, ATTRIBUTES_AT)), /codec 7/],
    ['a codec other than its own', crcFitting((b) => b.writeInt16BE(1, ATTRIBUTES_AT)), /gzip/],
    [
      'a record of negative length',
      crcFitting((b) => b.writeUInt8(0x01, HEADER_BYTES)),
      /does not have the declared length of -1 bytes/,
    ],
    ['records without an end', crcFitting((b) => b.fill(0xff, HEADER_BYTES)), /more than 10 bytes/],
    ['records of length 0', crcFitting((b) => b.fill(0, HEADER_BYTES)), /does not have the declared length of 0 bytes/],
  ]

  it.each(kinds)(
    'returns all records before %s, then the position and the reason, and none after it',
    async (_, change, reason) => {
      const { reader } = await open(damagedAt(DAMAGED, change))
      const { values, error } = await readOn(reader)
      expect(values).toEqual(numbers(0, DAMAGED))
      expect(error).toBeInstanceOf(UnreadableBatchError)
      expect(error).toMatchObject({ topic: 't', partition: 0, offset: DAMAGED, retriable: false })
      expect(error.message).toMatch(/^the record batch at offset 15 of t-0 cannot be read: /)
      expect(error.message).toMatch(reason)
    },
  )

  it('reports the damage at each poll until it seeks to another offset', { tags: ['slow'] }, async () => {
    const { reader } = await open(damagedAt(DAMAGED, (batch) => flipBit(batch, batch.length * 8 - 1)))
    const { error } = await readOn(reader)
    for (let poll = 0; poll < 3; poll++) await expect(reader.poll(0)).rejects.toBe(error)
    reader.pause([{ topic: 't', partition: 0 }])
    expect(await reader.poll(0)).toEqual([])
    reader.resume([{ topic: 't', partition: 0 }])
    await expect(reader.poll(0)).rejects.toBe(error)
    reader.seek([{ topic: 't', partition: 0, offset: DAMAGED + RECORDS_OF_BATCH }])
    expect(await valuesOf(reader, 10)).toEqual(numbers(20, RECORDS))
    reader.seek([{ topic: 't', partition: 0, offset: 0 }])
    expect((await readOn(reader)).error).toMatchObject({ offset: DAMAGED })
  })

  it('returns all records before the damage over several polls before it reports the damage', async () => {
    const damage = damagedAt(DAMAGED, (batch) => flipBit(batch, batch.length * 8 - 1))
    const { reader } = await open(damage, { pollRecordsMax: 2 })
    expect(await readOn(reader)).toMatchObject({ values: numbers(0, DAMAGED), error: { offset: DAMAGED } })
  })

  it('reports damage that the broker has detected', async () => {
    const backend = await filledBackend()
    const fetch: BrokerBackend['fetch'] = async (request) =>
      (await backend.fetch(request)).map((one) => ({
        ...one,
        bytes: new Uint8Array(0),
        error: { code: 'corrupt_batch', message: 'reading t-0: CORRUPT_MESSAGE' },
      }))
    const reader = readerOf(
      new Proxy(backend, {
        get: (_, name: keyof BrokerBackend) => (name === 'fetch' ? fetch : backend[name].bind(backend)),
      }),
    )
    for (let poll = 0; poll < 2; poll++) await expect(readOn(reader)).resolves.toMatchObject({ error: { offset: 0 } })
  })

  it('rejects a truncated first batch: neither waits for the rest nor skips it', async () => {
    const { reader } = await open((batch, offset) => (offset === 0 ? batch.subarray(0, 40) : Buffer.alloc(0)))
    expect(await readOn(reader)).toMatchObject({ values: [], error: { offset: 0, code: 'corrupt_batch' } })
  })

  it('returns a prefix of the records for any damage and reports where it ends', async () => {
    const backend = await filledBackend()
    const size = (await backend.fetch(FETCH))[0]!.bytes.length / BATCHES
    const damages = fc.oneof(
      fc.integer({ min: 0, max: size * 8 - 1 }).map((bit) => (batch: Buffer) => flipBit(batch, bit)),
      fc.integer({ min: 0, max: size - 1 }).map((length) => (batch: Buffer) => batch.subarray(0, length)),
      fc
        .uint8Array({ minLength: 1, maxLength: 200 })
        .map((garbage) => (batch: Buffer) => Buffer.concat([garbage, batch])),
      fc
        .uint8Array({ minLength: 1, maxLength: 200 })
        .map((garbage) => (batch: Buffer) => Buffer.concat([batch, garbage])),
    )
    const runs = propertyRuns(100)
    let found = 0
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: BATCHES - 1 }), damages, async (at, change) => {
        const reader = readerOf(createDamagedBackend(backend, damagedAt(at * RECORDS_OF_BATCH, change)))
        const { values, error } = await readOn(reader)
        expect(values).toEqual(numbers(0, values.length))
        // The leader epoch is not read and not covered by the checksum.
        if (error.code === 'timeout') expect(values.length).toBe(RECORDS)
        else {
          found += 1
          expect(error).toBeInstanceOf(UnreadableBatchError)
          expect(values.length).toBe((error as UnreadableBatchError).offset)
          expect(values.length - at * RECORDS_OF_BATCH).toSatisfy((more) => more === 0 || more === RECORDS_OF_BATCH)
        }
        await reader.close()
      }),
      { numRuns: runs },
    )
    expect(found).toBeGreaterThan(runs / 2)
  })

  it('reports a damaged batch that looks like a control batch', async () => {
    const hide = (batch: Buffer) => {
      batch.writeInt16BE(CONTROL, ATTRIBUTES_AT)
      return batch
    }
    const { reader } = await open(damagedAt(DAMAGED, hide))
    expect(await readOn(reader)).toMatchObject({ values: numbers(0, DAMAGED), error: { offset: DAMAGED } })
  })
})

const FETCH = {
  node: 0,
  partitions: [{ topic: 't', partition: 0, offset: 0 }],
  waitMsMax: 0,
  bytesMin: 1,
  bytesMax: 1e6,
  isolation: 'read_committed',
} as const

describe('LogReader at the end of a partition', () => {
  it.each([
    ['starts the next fetch before it returns the records', true, 2],
    ['starts the next fetch with the next poll if prefetchesAtEnd is false', false, 1],
  ])('%s', async (_, prefetchesAtEnd, expected) => {
    const backend = await filledBackend()
    let fetches = 0
    const fetch: BrokerBackend['fetch'] = (request) => {
      fetches += 1
      return backend.fetch(request)
    }
    const counting = new Proxy(backend, {
      get: (_, name: keyof BrokerBackend) => (name === 'fetch' ? fetch : backend[name].bind(backend)),
    })
    const reader = readerOf(counting, { prefetchesAtEnd })
    expect(await valuesOf(reader, RECORDS)).toEqual(numbers(0, RECORDS))
    expect(fetches).toBe(expected)
    const next = valuesOf(reader, 1)
    await brokerOf(backend)
      .producer()
      .then((producer) => producer.send([{ topic: 't', key: null, value: Buffer.from('x') }]))
    expect(await next).toEqual(['x'])
    await reader.close()
  })
})

async function open(
  damage: Damage,
  options: PartitionReaderOptions = {},
): Promise<{ readonly reader: PartitionReader }> {
  return { reader: readerOf(createDamagedBackend(await filledBackend(), damage), options) }
}

/** Creates a topic `t` with this number of batches and records per batch. */
async function filledBackend(): Promise<BrokerBackend> {
  const backend = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
  onTestFinished(() => backend.close())
  await backend.createTopic({ name: 't', partitions: 1 })
  const producer = await brokerOf(backend).producer()
  for (let from = 0; from < RECORDS; from += RECORDS_OF_BATCH)
    await producer.send(
      numbers(from, from + RECORDS_OF_BATCH).map((value) => ({
        topic: 't',
        key: null,
        value: Buffer.from(value),
        timestampMs: 0,
      })),
    )
  return backend
}

function brokerOf(backend: BrokerBackend) {
  const address = () => Promise.reject(new Error('it has no address'))
  return createBrokerClient(backend, { logger: silentLogger(), address })
}

function readerOf(backend: BrokerBackend, options: PartitionReaderOptions = {}): PartitionReader {
  const reader = brokerOf(backend).reader(options)
  reader.seek([{ topic: 't', partition: 0, offset: 0 }])
  return reader
}

const textsOf = (polled: readonly PartitionRecords[]) =>
  polled.flatMap(({ records }) => records.map(({ value }) => String(value)))

/** Reads until an error occurs; after all records, the error is a `timeout`. */
async function readOn(
  reader: PartitionReader,
): Promise<{ readonly values: readonly string[]; readonly error: BrokerError }> {
  const values: string[] = []
  while (values.length < RECORDS) {
    try {
      values.push(...textsOf(await reader.poll(1_000)))
    } catch (error) {
      return { values, error: error as BrokerError }
    }
  }
  return { values, error: new BrokerError('timeout', 'it did not fail') }
}

async function valuesOf(reader: PartitionReader, count: number): Promise<readonly string[]> {
  const values: string[] = []
  while (values.length < count) values.push(...textsOf(await reader.poll(1_000)))
  return values
}
