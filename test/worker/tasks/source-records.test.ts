import { describe, expect, it } from 'vitest'
import { shippedCatalog } from '../../../src/plugins/shipped.ts'
import { INT32, type SourceRecord, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { ErrorPolicy } from '../../../src/worker/tasks/error-policy.ts'
import { toDeadLetter, toRecordFailure } from '../../../src/worker/tasks/failed-source-record.ts'
import { createRecordPipeline } from '../../../src/worker/tasks/record-pipeline.ts'
import { convertSourceRecords, type FailedSourceRecord } from '../../../src/worker/tasks/source-records.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const STRINGS = { 'key.converter': 'StringConverter', 'value.converter': 'StringConverter' }
const TO_INT = { transforms: 'c', 'transforms.c.type': 'Cast$Value', 'transforms.c.spec': 'int32' }

async function run(config: Readonly<Record<string, string>>, records: readonly Partial<SourceRecord>[]) {
  const policy = new ErrorPolicy({
    config: parseTaskConfig(config).errors,
    counters: countersIn(),
    log: SILENT,
    clock: new FakeClock(),
    signal: new AbortController().signal,
  })
  const lost: FailedSourceRecord[] = []
  const batch = records.map((record, index) => ({
    topic: 'lines',
    value: null,
    sourcePartition: { file: 'f' },
    sourceOffset: { line: index },
    ...record,
  }))
  const { records: made } = await convertSourceRecords(
    batch,
    createRecordPipeline(shippedCatalog(), config, STRINGS, UNRESTRICTED),
    policy,
    {
      recordBytesMax: 1_000_000,
      lost: (one) => {
        policy.tolerate(toRecordFailure(one))
        lost.push(one)
      },
    },
  )
  return { values: made.map(({ value }) => String(value)), letters: lost.map(toDeadLetter) }
}

const headersOf = ({ record }: ReturnType<typeof toDeadLetter>) =>
  Object.fromEntries((record.headers ?? []).map(([name, value]) => [name, String(value)]))

describe("a source's records that can't be written", () => {
  it('fail the task when none may be lost', async () => {
    await expect(run(TO_INT, [{ value: 'x' }])).rejects.toThrow('Tolerance exceeded in error handler: Value (x)')
  })

  it('are stepped over and dead-lettered as JSON, as the source gave them', async () => {
    const { values, letters } = await run({ 'errors.tolerance': 'all', ...TO_INT }, [
      { value: '1' },
      { value: 'x', key: 7, keySchema: INT32, timestampMs: 1_000 },
      { value: '3' },
    ])
    expect(values).toEqual(['1', '3'])
    const [letter] = letters
    expect(letters).toHaveLength(1)
    expect(letter).toMatchObject({
      stage: 'TRANSFORMATION',
      className: 'org.apache.kafka.connect.transforms.Cast$Value',
      place: [
        ['topic', 'lines'],
        ['source.partition', '{"file":"f"}'],
        ['source.offset', '{"line":1}'],
      ],
    })
    expect([String(letter!.record.key), String(letter!.record.value)]).toEqual(['7', '"x"'])
    expect(letter!.record.timestampMs).toBe(1_000)
    expect(headersOf(letter!)).toEqual({ '__connect.errors.content': 'json' })
  })

  it('are dead-lettered as bytes when a converter got that far: too large for the log', async () => {
    const headers = [{ key: 'h', value: 'v', schema: null }]
    const { values, letters } = await run({ 'errors.tolerance': 'all' }, [
      { value: 'x'.repeat(1_000_001), headers },
      { value: 'small' },
    ])
    expect(values).toEqual(['small'])
    expect(letters).toMatchObject([{ stage: 'KAFKA_PRODUCE', error: { code: 'record_too_large' } }])
    expect(letters[0]!.record.value).toHaveLength(1_000_001)
    expect(headersOf(letters[0]!)).toEqual({ h: 'v', '__connect.errors.content': 'bytes' })
  })
})
