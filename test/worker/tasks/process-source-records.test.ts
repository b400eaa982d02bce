import { describe, expect, it } from 'vitest'
import { INT32, type SourceRecord } from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { ErrorPolicy } from '../../../src/worker/tasks/error-policy.ts'
import { toDeadLetter, toRecordFailure } from '../../../src/worker/tasks/failed-source-record.ts'
import { PluginStep } from '../../../src/worker/tasks/plugin-step.ts'
import { type FailedSourceRecord, processSourceRecords } from '../../../src/worker/tasks/process-source-records.ts'
import { RecordPipeline } from '../../../src/worker/tasks/record-pipeline.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { openTestPipeline } from '../../support/record-pipeline.ts'

const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
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

async function convertBatch(config: Readonly<Record<string, string>>, batch: readonly SourceRecord[]) {
  const policy = new ErrorPolicy({
    config: parseTaskConfig(config).errors,
    counters: countersIn(),
    log: SILENT_LOG,
    clock: new FakeClock(),
    signal: new AbortController().signal,
  })
  const failures: FailedSourceRecord[] = []
  const { records: converted } = await processSourceRecords(batch, {
    pipeline: await openTestPipeline('source', config),
    policy,
    recordBytesMax: 1_000_000,
    onFailedRecord: (failed) => {
      policy.tolerate(toRecordFailure(failed))
      failures.push(failed)
    },
  })
  return { converted, failures }
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
    const failures: FailedSourceRecord[] = []
    const broken = new PluginStep('value_converter', 'Broken', (item) => {
      item.value = 'text' as never
      return true
    })
    const { records } = await processSourceRecords(
      [{ topic: 'lines', value: 'a', sourcePartition: {}, sourceOffset: {} }],
      {
        pipeline: new RecordPipeline([broken]),
        policy: undefined as never,
        recordBytesMax: 1_000,
        onFailedRecord: (failed) => failures.push(failed),
      },
    )
    expect(records).toEqual([])
    expect(failures).toMatchObject([{ error: { code: 'invalid_record' } }])
  })
})
