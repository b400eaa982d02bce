import { describe, expect, it } from 'vitest'
import {
  cellText,
  endPositions,
  RECORDS_MAX,
  type RecordRow,
  type RecordText,
  recordJson,
  recordQuery,
  recordsPath,
  stopText,
  timeText,
  withNewer,
} from '../../src/console/page/records.ts'
import { bytesText, offsetSpan, retentionText, topicListPath } from '../../src/console/page/topics.ts'

const payload = (form: RecordText['form'], text = '', more: Partial<RecordText> = {}): RecordText => ({
  form,
  text,
  bytes: text.length,
  isTruncated: false,
  schema: null,
  masked: [],
  problem: null,
  ...more,
})
const row = (offset: number, value = payload('text', 'x')): RecordRow => ({
  partition: 0,
  offset,
  timestampMs: 0,
  key: payload('null'),
  value,
  headers: [],
  moreHeaders: 0,
})

describe('what is read of a topic', () => {
  it.each([
    [{}, 'end'],
    [{ from: 'beginning' }, 'beginning'],
    [{ from: 'offset', at: '12' }, 'offset:12'],
    [{ from: 'offset', at: 'x' }, 'end'],
    [{ from: 'time', at: '1970-01-01T00:00:01Z' }, 'time:1000'],
    [{ from: 'time', at: 'soon' }, 'end'],
    [{ from: 'anything' }, 'end'],
  ])('by the URL %j begins at %s', (filters, from) => {
    expect(recordQuery(filters).from).toBe(from)
  })

  it('is requested with what is chosen only', () => {
    expect(recordsPath('/t', recordQuery({ search: 'a b', partition: '../1' }))).toBe('/t/records?from=end&search=a+b')
    expect(recordsPath('/t', recordQuery({ partition: '3' }), { positions: '3:7' })).toBe(
      '/t/records?from=end&partition=3&positions=3%3A7',
    )
    expect(endPositions({ partitions: [{ partition: 1, earliest: 0, end: 5 }] })).toBe('1:5')
  })
})

describe('a record', () => {
  it('is copied as JSON, with the digits of its numbers and without what is withheld', () => {
    const text = recordJson({
      ...row(7, payload('json', '{"big":12345678901234567890}')),
      key: payload('withheld', '', { problem: 'no schema' }),
      headers: [{ name: 'h"', value: payload('hex', 'ff') }],
    })
    expect(text).toBe(
      '{"partition":0,"offset":7,"timestamp":"1970-01-01T00:00:00.000Z","key":{"withheld":"no schema"},"value":{"big":12345678901234567890},"headers":[{"name":"h\\"","value":{"hex":"ff"}}]}',
    )
    expect(JSON.parse(recordJson(row(1, payload('json', '{"cut', { isTruncated: true }))))).toMatchObject({
      value: { beginning: '{"cut' },
    })
  })

  it('has a cell of bounded length, and any timestamp', () => {
    expect(cellText(payload('hex', 'f'.repeat(999))).length).toBe(202)
    expect(cellText(payload('text', 'x'.repeat(999))).length).toBe(300)
    expect([cellText(payload('null')), cellText(payload('withheld'))]).toEqual(['null', 'withheld'])
    expect([timeText(-1), timeText(1e20)]).toEqual(['1969-12-31T23:59:59.999Z', '100000000000000000000'])
    expect(stopText({ stoppedBy: 'cpu' })).toBe('It ended at a limit: the CPU time of one request.')
    expect(stopText({ stoppedBy: null })).toBe('')
  })

  it('that is new is shown first, once, and the page keeps a bounded number', () => {
    expect(withNewer([row(2), row(1)], [row(2), row(3), row(4)]).map(({ offset }) => offset)).toEqual([4, 3, 2, 1])
    const many = Array.from({ length: RECORDS_MAX }, (_, at) => row(at))
    expect(withNewer(many, [row(9_999_999)])).toHaveLength(RECORDS_MAX)
  })
})

describe('a topic', () => {
  it.each([
    [null, 'unknown'],
    [0, '0 B'],
    [999, '999 B'],
    [1_200, '1.2 kB'],
    [2_500_000_000, '2.5 GB'],
  ])('of %s bytes has the size %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text)
  })

  it.each([
    [null, 'unknown'],
    [{ 'cleanup.policy': 'delete', 'retention.ms': '604800000', 'retention.bytes': '-1' }, '7 d'],
    [{ 'cleanup.policy': 'delete', 'retention.ms': '90000', 'retention.bytes': '50000000' }, '90 s or 50 MB'],
    [{ 'cleanup.policy': 'delete', 'retention.ms': '-1' }, 'all'],
    [{ 'cleanup.policy': 'compact', 'retention.ms': '604800000' }, 'compacted'],
    [{ 'cleanup.policy': 'compact,delete', 'retention.ms': '3600000' }, 'compacted, 1 h'],
  ])('with %j keeps %s', (configs, text) => {
    expect(retentionText(configs)).toBe(text)
  })

  it('is listed by what the URL says', () => {
    expect(topicListPath('/x', { search: 'a&b', offset: '200', sort: 'no' })).toBe(
      '/x/ui/api/topics?limit=200&search=a%26b&offset=200',
    )
    const partition = { partition: 0, leader: 1, replicas: 1, bytes: null }
    expect(offsetSpan({ ...partition, earliest: 2, end: 5 })).toBe(3)
    expect(offsetSpan({ ...partition, earliest: null, end: 5 })).toBeNull()
  })
})
