import { describe, expect, it } from 'vitest'
import {
  failureConsequence,
  type PluginRecord,
  type PreviewedRecord,
  pluginRecordText,
  summaryText,
} from '../../src/console/page/record-preview.ts'

const NULL = { text: 'null', isTruncated: false, schema: null, problem: null }
const RESULT: PluginRecord = { topic: 'orders', timestampMs: 0, key: NULL, value: NULL, headers: [] }
const FAILURE = { stage: 'TRANSFORMATION', className: 'X', exceptionClass: null, message: 'no' }

function record(more: Partial<PreviewedRecord>): PreviewedRecord {
  const stored = {} as PreviewedRecord['stored']
  return { topic: 'orders', stored, read: null, result: null, failure: null, problem: null, ...more }
}

describe('the preview of records', () => {
  it('is summed up by what happens to the records', () => {
    const report = { kind: 'sink', topics: ['orders'], notes: [] } as const
    const passes = record({ result: RESULT })
    expect(summaryText({ ...report, records: [] })).toBe('There is no record to show.')
    expect(summaryText({ ...report, records: [passes] })).toBe('The last record of orders: 1 passes.')
    expect(
      summaryText({
        ...report,
        topics: ['a', 'b'],
        records: [passes, passes, record({}), record({ failure: FAILURE }), record({ problem: 'large' })],
      }),
    ).toBe('The last 5 records of 2 topics: 2 pass, 1 is dropped, 1 fails, 1 is not processed.')
  })

  it.each([
    [{}, 'It would fail the task, because errors.tolerance is none.'],
    [{ 'errors.tolerance': 'all' }, 'It would be skipped, and kept nowhere.'],
    [
      { 'errors.tolerance': 'ALL', 'errors.deadletterqueue.topic.name': 'dlq' },
      'It would be sent to the dead-letter topic dlq.',
    ],
  ])('says what becomes of a record that fails with %o', (config, text) => {
    expect(failureConsequence(config)).toBe(text)
  })

  it('shows a record with one part a line, with schemas, and keeps digits', () => {
    const value = { text: '{"id":12345678901234567890}', isTruncated: false, schema: 'struct Order', problem: null }
    const headers = [
      { name: 'trace', value: { ...NULL, text: '"x', isTruncated: true } },
      { name: 'odd', value: { ...NULL, problem: 'expected int32' } },
    ]
    expect(pluginRecordText({ ...RESULT, value, headers })).toBe(
      `topic: orders
timestamp: 1970-01-01T00:00:00.000Z
key: null
value (struct Order): {
  "id": 12345678901234567890
}
header trace: "x…
header odd: cannot be shown: expected int32`,
    )
  })
})
