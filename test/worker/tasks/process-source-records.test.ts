import { describe, expect, it } from 'vitest'
import { INT32, type SourceRecord, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { ErrorPolicy } from '../../../src/worker/tasks/error-policy.ts'
import { toDeadLetter, toRecordFailure } from '../../../src/worker/tasks/failed-source-record.ts'
import { type FailedSourceRecord, processSourceRecords } from '../../../src/worker/tasks/process-source-records.ts'
import { createRecordPipeline } from '../../../src/worker/tasks/record-pipeline.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'

const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const STRINGS = { 'key.converter': 'StringConverter', 'value.converter': 'StringConverter' }
const TO_INT = { transforms: 'c', 'transforms.c.type': 'Cast$Value', 'transforms.c.spec': 'int32' }

/** Converts a batch as the task of a source does, with its error policy and dead letters. */
async function convert(config: Readonly<Record<string, string>>, records: readonly Partial<SourceRecord>[]) {
  const policy = new ErrorPolicy({
    config: parseTaskConfig(config).errors,
    counters: countersIn(),
    log: SILENT_LOG,
    clock: new FakeClock(),
    signal: new AbortController().signal,
  })
  const failures: FailedSourceRecord[] = []
  const batch = records.map((record, index) => ({
    topic: 'lines',
    value: null,
    sourcePartition: { file: 'f' },
    sourceOffset: { line: index },
    ...record,
  }))
  const { records: converted } = await processSourceRecords(batch, {
    pipeline: createRecordPipeline(shippedCatalog(), config, STRINGS, UNRESTRICTED),
    policy,
    recordBytesMax: 1_000_000,
    onFailedRecord: (failed) => {
      policy.tolerate(toRecordFailure(failed))
      failures.push(failed)
    },
  })
  return { values: converted.map(({ value }) => String(value)), deadLetters: failures.map(toDeadLetter) }
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
