import { describe, expect, it } from 'vitest'
import { parseTimeZone } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import { createPartitioner } from '../../../../src/plugins/connectors/object-storage/partitioner.ts'
import { parsePathFormat } from '../../../../src/plugins/connectors/object-storage/path-format.ts'
import { nextScheduledMs } from '../../../../src/plugins/connectors/object-storage/rotation.ts'
import type { TimestampSource } from '../../../../src/plugins/connectors/object-storage/timestamp-extractor.ts'
import { type SinkRecord, STRING, struct, TIMESTAMP } from '../../../../src/sdk/index.ts'
import { PartitionLog, sinkSettings } from '../../../support/object-sink-run.ts'

const HOUR_MS = 3_600_000
const record = (changed: Partial<SinkRecord>) => new PartitionLog().record(7, changed)

describe('folders by time', () => {
  const hourly = (zone: string, timestamp: TimestampSource) =>
    createPartitioner(
      {
        by: 'time',
        periodMs: HOUR_MS,
        path: parsePathFormat("'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH", 'en-US'),
        zone: parseTimeZone(zone),
        timestamp,
      },
      '/',
    )

  it('are in the time zone, also on the days on which clocks change', () => {
    const place = hourly('Europe/Berlin', { from: 'record' })
    const at = (text: string) => place(record({ timestampMs: Date.parse(text) }), 0).path
    expect(at('2026-03-29T00:59:59.999Z')).toBe('year=2026/month=03/day=29/hour=01')
    expect(at('2026-03-29T01:00:00Z')).toBe('year=2026/month=03/day=29/hour=03')
    expect(at('2026-10-25T00:30:00Z')).toBe('year=2026/month=10/day=25/hour=02')
    expect(at('2026-10-25T01:30:00Z')).toBe('year=2026/month=10/day=25/hour=02')
  })

  it.each([
    ['ms', 1_767_225_600_000],
    ['ms as text', '1767225600000'],
    ['a timestamp', new Date(1_767_225_600_000)],
    ['ISO 8601', '2026-01-01T00:00:00Z'],
    ['ISO 8601 with an offset', '2026-01-01T02:00:00.000+02:00'],
    ['ISO 8601 without an offset, in UTC', '2026-01-01T00:00'],
    ['a date', '2026-01-01'],
    ['a bigint', 1_767_225_600_000n],
  ])('come from a field with %s', (_, at) => {
    const place = hourly('UTC', { from: 'field', field: 'event.at' })
    const expected = { path: 'year=2026/month=01/day=01/hour=00', timestampMs: 1_767_225_600_000 }
    expect(place(record({ value: { event: { at } } }), 0)).toMatchObject(expected)
    expect(place(record({ value: new Map([['event', new Map([['at', at]])]]) }), 0)).toMatchObject(expected)
  })

  it('come from a field of a struct', () => {
    const valueSchema = struct('Order', { at: TIMESTAMP })
    const placed = hourly('UTC', { from: 'field', field: 'at' })(record({ value: { at: new Date(0) }, valueSchema }), 0)
    expect(placed.path).toBe('year=1970/month=01/day=01/hour=00')
  })

  it.each([undefined, null, 'soon', '2026-02-30', '2026-01-01T25:00', 1.5, true, {}])(
    'are refused for a field that is no time: %j',
    (at) => {
      expect(() => hourly('UTC', { from: 'field', field: 'at' })(record({ value: { at } }), 0)).toThrow(
        "the field 'at' has no timestamp",
      )
    },
  )

  it('are refused for times that have no date', () => {
    const place = hourly('UTC', { from: 'record' })
    expect(() => place(record({ timestampMs: 9e15 }), 0)).toThrow('out of range')
    expect(() => place(record({ timestampMs: null }), 0)).toThrow('has no timestamp')
  })
})

describe('a format of Joda-Time', () => {
  const wallMs = Date.UTC(2026, 0, 4, 15, 7, 9, 42)

  it.each([
    ['YYYY-MM-dd', '2026-01-04'],
    ["'dt'=yyyyMMdd", 'dt=20260104'],
    ['yy/M/d/H', '26/1/4/15'],
    ['hh a K k', '03 PM 3 15'],
    ["xxxx-'W'ww-e", '2026-W01-7'],
    ['EEE EEEE MMM MMMM', 'Sun Sunday Jan January'],
    ['DDD ss.SSS', '004 09.042'],
    ['HHmm Z ZZ', '1507 +0130 +01:30'],
    ["'it''s' ''", "it's '"],
  ])('%s', (format, text) => {
    expect(parsePathFormat(format, 'en-US')(wallMs, 90 * 60_000)).toBe(text)
  })

  it.each([
    ["'open", 'is not closed'],
    ['QQ', "the letters 'QQ' are not supported"],
  ])('is refused with what is wrong: %s', (format, problem) => {
    expect(() => parsePathFormat(format, 'en-US')).toThrow(problem)
  })
})

describe('folders by fields', () => {
  const place = createPartitioner({ by: 'fields', fields: ['country', 'shop.id'] }, '/')

  it('are named by texts, integers, booleans and null', () => {
    const pathOf = (value: unknown) => place(record({ value }), 0).path
    expect(pathOf({ country: 'de', shop: { id: 7 } })).toBe('country=de/shop.id=7')
    expect(pathOf({ country: null, shop: { id: 2n ** 60n } })).toBe('country=null/shop.id=1152921504606846976')
    expect(pathOf({ country: true, shop: { id: '' } })).toBe('country=true/shop.id=')
  })

  it('are refused for other values', () => {
    const valueSchema = struct('Order', { country: STRING })
    expect(() => place(record({ value: 'text' }), 0)).toThrow("expected a value with the field 'country'")
    expect(() => place(record({ value: { country: 'de' }, valueSchema }), 0)).toThrow("no field 'shop.id'")
    expect(() => place(record({ value: { country: 1.5, shop: { id: 1 } } }), 0)).toThrow('cannot name a folder')
  })
})

it('a schedule counts from midnight of the time zone, and begins again at each midnight', () => {
  const schedule = { intervalMs: 7 * HOUR_MS, zone: parseTimeZone('Europe/Berlin') }
  const next = (text: string) =>
    new Date(nextScheduledMs(Date.parse(text), { ...sinkSettings().rotation, schedule })!).toISOString()
  expect(next('2026-06-30T22:00:00Z')).toBe('2026-07-01T05:00:00.000Z')
  expect(next('2026-07-01T04:59:59Z')).toBe('2026-07-01T05:00:00.000Z')
  expect(next('2026-07-01T20:00:00Z')).toBe('2026-07-01T22:00:00.000Z')
  expect(next('2026-10-25T00:30:00Z')).toBe('2026-10-25T05:00:00.000Z')
})
