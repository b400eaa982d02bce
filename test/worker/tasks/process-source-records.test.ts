import { describe, expect, it } from 'vitest'
import {
  CELL,
  decimal,
  INT32,
  INT64,
  optional,
  type RowBatch,
  type SourceBatch,
  type SourceRecord,
  STRING,
  struct,
  TIMESTAMP,
  toSourceRecords,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { ErrorPolicy } from '../../../src/worker/tasks/error-policy.ts'
import { toDeadLetter, toRecordFailure } from '../../../src/worker/tasks/failed-source-record.ts'
import { type FailedSourceRecord, processSourceRecords } from '../../../src/worker/tasks/process-source-records.ts'
import { createRecordPipeline } from '../../../src/worker/tasks/record-pipeline.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'

const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const STRINGS = { 'key.converter': 'StringConverter', 'value.converter': 'StringConverter' }
const TO_INT = { transforms: 'c', 'transforms.c.type': 'Cast$Value', 'transforms.c.spec': 'int32' }

/** Converts a batch as the task of a source does, with its error policy and dead letters. */
async function convert(config: Readonly<Record<string, string>>, records: readonly Partial<SourceRecord>[]) {
  const batch = records.map((record, index) => ({
    topic: 'lines',
    value: null,
    sourcePartition: { file: 'f' },
    sourceOffset: { line: index },
    ...record,
  }))
  const { converted, failures } = await convertBatch(config, batch)
  return { values: converted.map(({ value }) => String(value)), deadLetters: failures.map(toDeadLetter) }
}

async function convertBatch(config: Readonly<Record<string, string>>, batch: SourceBatch) {
  const policy = new ErrorPolicy({
    config: parseTaskConfig(config).errors,
    counters: countersIn(),
    log: SILENT_LOG,
    clock: new FakeClock(),
    signal: new AbortController().signal,
  })
  const failures: FailedSourceRecord[] = []
  const { records: converted, sources } = await processSourceRecords(batch, {
    pipeline: createRecordPipeline(shippedCatalog(), config, STRINGS, UNRESTRICTED),
    policy,
    recordBytesMax: 1_000_000,
    onFailedRecord: (failed) => {
      policy.tolerate(toRecordFailure(failed))
      failures.push(failed)
    },
  })
  return { converted, sources, failures }
}

const headersOf = ({ record }: ReturnType<typeof toDeadLetter>) =>
  Object.fromEntries((record.headers ?? []).map(([name, value]) => [name, String(value)]))

describe('conversion of source records', () => {
  it('fails the task for a record that cannot be converted when errors.tolerance is none', async () => {
    const converting = convert(TO_INT, [{ value: 'x' }])
    await expect(converting).rejects.toThrow('Tolerance exceeded in error handler: Value (x)')
  })

  it('skips a record that cannot be transformed; its dead letter has the original key and value as JSON', async () => {
    const { values, deadLetters } = await convert({ 'errors.tolerance': 'all', ...TO_INT }, [
      { value: '1' },
      { value: 'x', key: 7, keySchema: INT32, timestampMs: 1_000 },
      { value: '3' },
    ])
    expect(values).toEqual(['1', '3'])
    const [deadLetter] = deadLetters
    expect(deadLetters).toHaveLength(1)
    expect(deadLetter).toMatchObject({
      stage: 'TRANSFORMATION',
      className: 'org.apache.kafka.connect.transforms.Cast$Value',
      position: [
        ['topic', 'lines'],
        ['source.partition', '{"file":"f"}'],
        ['source.offset', '{"line":1}'],
      ],
    })
    expect([String(deadLetter!.record.key), String(deadLetter!.record.value)]).toEqual(['7', '"x"'])
    expect(deadLetter!.record.timestampMs).toBe(1_000)
    expect(headersOf(deadLetter!)).toEqual({ '__connect.errors.content': 'json' })
  })

  it('skips a converted record that is larger than the topic accepts; its dead letter has the converted bytes', async () => {
    const headers = [{ key: 'h', value: 'v', schema: null }]
    const { values, deadLetters } = await convert({ 'errors.tolerance': 'all' }, [
      { value: 'x'.repeat(1_000_001), headers },
      { value: 'small' },
    ])
    expect(values).toEqual(['small'])
    expect(deadLetters).toMatchObject([{ stage: 'KAFKA_PRODUCE', error: { code: 'record_too_large' } }])
    expect(deadLetters[0]!.record.value).toHaveLength(1_000_001)
    expect(headersOf(deadLetters[0]!)).toEqual({ h: 'v', '__connect.errors.content': 'bytes' })
  })
})

describe('source records that cannot be written', () => {
  const invalid: readonly (readonly [string, Partial<SourceRecord>])[] = [
    ['a negative partition', { partition: -1 }],
    ['a partition that is not a whole number', { partition: 0.5 }],
    ['a partition that is not a number', { partition: Number.NaN }],
    ['a partition above the range of Kafka', { partition: 2 ** 31 }],
    ['a fraction of a millisecond as timestamp', { timestampMs: 1.5 }],
    ['a timestamp that is not a number', { timestampMs: Number.NaN }],
    ['a timestamp that is too large for a number', { timestampMs: 1e300 }],
    ['a 64-bit timestamp of a Java connector', { timestampMs: (2n ** 60n) as unknown as number }],
    ['a negative timestamp', { timestampMs: -2 }],
    ['a header without a name', { headers: [{ key: 5 as unknown as string, value: 'x', schema: null }] }],
  ]

  it.each(invalid)('are handled by errors.tolerance: %s', async (_, record) => {
    const records = [{ value: 'a' }, { value: 'b', ...record }, { value: 'c' }]
    const { values, deadLetters } = await convert({ 'errors.tolerance': 'all' }, records)
    expect(values).toEqual(['a', 'c'])
    expect(deadLetters).toMatchObject([{ stage: 'KAFKA_PRODUCE', error: { code: 'invalid_record' } }])
    await expect(convert({}, records)).rejects.toThrow('Tolerance exceeded in error handler')
  })

  it('do not include those with the timestamp -1, which is none', async () => {
    const batch = [{ topic: 'lines', value: 'a', timestampMs: -1, sourcePartition: {}, sourceOffset: {} }]
    const { converted } = await convertBatch({}, batch)
    expect(converted).toEqual([{ topic: 'lines', key: null, value: Buffer.from('a') }])
  })

  it('include the results of a converter that are no bytes', async () => {
    const catalog = shippedCatalog()
    const pipeline = createRecordPipeline(catalog, {}, STRINGS, UNRESTRICTED)
    const failures: FailedSourceRecord[] = []
    const broken = {
      className: 'Broken',
      converter: { ...pipeline.value.converter, fromConnect: () => 'text' as never },
    }
    const { records } = await processSourceRecords(
      [{ topic: 'lines', value: 'a', sourcePartition: {}, sourceOffset: {} }],
      {
        pipeline: { ...pipeline, value: broken },
        policy: undefined as never,
        recordBytesMax: 1_000,
        onFailedRecord: (failed) => failures.push(failed),
      },
    )
    expect(records).toEqual([])
    expect(failures).toMatchObject([{ error: { code: 'invalid_record' } }])
  })
})

/** Five rows; no converter can write the number of the second one, and the text of the third one is large. */
function fiveRows(): RowBatch {
  const texts = ['a', 'é', 'x'.repeat(1_000_001), '', '𝄞'].map((text) => Buffer.from(text))
  const ends = texts.map((_, index) => texts.slice(0, index + 1).reduce((sum, { length }) => sum + length, 0))
  const numbers = (list: readonly number[]) => Float64Array.from(list)
  return {
    topic: 'rows',
    valueSchema: struct('Row', {
      id: INT64,
      at: TIMESTAMP,
      price: optional(decimal(2)),
      text: optional(STRING),
      other: INT32,
    }),
    length: 5,
    columns: [
      { kind: 'numbers', numbers: numbers([1, 2 ** 60, 3, 4, 5]), cells: new Uint8Array(5), others: new Map() },
      { kind: 'numbers', numbers: numbers([0, 1, 2, 3, -1]), cells: new Uint8Array(5), others: new Map() },
      {
        kind: 'numbers',
        numbers: numbers([1, 2, 3, 0, -205]),
        cells: Uint8Array.of(CELL.compact, CELL.compact, CELL.compact, CELL.other, CELL.compact),
        others: new Map([[3, { unscaled: 2n ** 70n, scale: 2 }]]),
      },
      {
        kind: 'texts',
        bytes: Buffer.concat(texts),
        starts: Int32Array.from([0, ...ends.slice(0, -1)]),
        ends: Int32Array.from(ends),
        cells: Uint8Array.of(0, 0, 0, CELL.null, 0),
        others: new Map(),
      },
      { kind: 'values', values: [1, 2, 3, 4, 5] },
    ],
    sourcePartition: { table: 't' },
    offsetOf: (row) => ({ incrementing: row }),
  }
}

describe('conversion of the rows of a batch', () => {
  it.each([
    ['Avro', { 'value.converter': 'AvroConverter' }],
    ['JSON Schema', { 'value.converter': 'JsonSchemaConverter' }],
    ['JSON', { 'value.converter': 'JsonConverter' }],
    [
      'Avro after a transformation',
      {
        'value.converter': 'AvroConverter',
        transforms: 'r',
        'transforms.r.type': 'MaskField$Value',
        'transforms.r.fields': 'other',
      },
    ],
  ])('has the records, the failures and the sources of their records with %s', async (_, plugins) => {
    const registry = await startTestRegistry()
    try {
      const config = { 'errors.tolerance': 'all', 'value.converter.schema.registry.url': registry.url, ...plugins }
      const batch = fiveRows()
      const [rows, records] = [await convertBatch(config, batch), await convertBatch(config, toSourceRecords(batch))]
      expect(rows.converted).toEqual(records.converted)
      expect(rows.converted).toHaveLength(3)
      expect(rows.failures).toEqual(records.failures)
      expect(rows.failures.map(toDeadLetter)).toEqual(records.failures.map(toDeadLetter))
      const offsetsOf = ({ sources, converted }: typeof rows) => [
        converted.map((_, index) => sources.at(index)),
        converted.map((_, index) => sources.withoutContent().at(index)),
      ]
      expect(offsetsOf(rows)).toEqual(offsetsOf(records))
    } finally {
      await registry.stop()
    }
  })

  it('fails at the row that cannot be converted when errors.tolerance is none', async () => {
    const registry = await startTestRegistry()
    try {
      const config = { 'value.converter': 'AvroConverter', 'value.converter.schema.registry.url': registry.url }
      await expect(convertBatch(config, fiveRows())).rejects.toThrow('Tolerance exceeded in error handler')
    } finally {
      await registry.stop()
    }
  })
})
