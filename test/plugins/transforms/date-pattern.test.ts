import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseDatePattern } from '../../../src/plugins/transforms/date-pattern.ts'

// The expected values are those of `SimpleDateFormat` in Java 17 with the time zone UTC.

describe('a date pattern', () => {
  it.each([
    ['yyyy-MM-dd', '0001-01-01', -62_135_769_600_000],
    ['yyyy-MM-dd', '1000-01-01', -30_609_792_000_000],
    ['yyyy-MM-dd', '1500-02-29', -14_825_894_400_000],
    ['yyyy-MM-dd', '1582-10-04', -12_219_379_200_000],
    ['yyyy-MM-dd', '1582-10-10', -12_218_860_800_000],
    ['yyyy-MM-dd', '1582-10-15', -12_219_292_800_000],
    ['yyyy-MM-dd', '1581-22-50', -12_215_404_800_000],
    ['yyyy-DDD', '1582-300', -12_217_392_000_000],
    ['G yyyy-MM-dd', 'BC 0044-03-15', -63_517_996_800_000],
  ])('%s reads %s in the Julian calendar until 1582', (pattern, text, ms) => {
    expect(parseDatePattern(pattern).parse(text)).toBe(ms)
  })

  it.each([
    [-62_135_596_800_000, 'AD 0001-01-03 3 2 0001'],
    [-62_135_769_600_000, 'AD 0001-01-01 1 1 0001'],
    [-62_167_219_200_000, 'BC 0001-01-03 3 1 0000'],
    [-30_610_224_000_000, 'AD 0999-12-27 361 52 0999'],
    [-12_219_292_800_001, 'AD 1582-10-04 277 40 1582'],
    [-12_219_292_800_000, 'AD 1582-10-15 278 40 1582'],
    [1_609_459_199_999, 'AD 2020-12-31 366 1 2021'],
  ])('writes %d as Java does: %s', (ms, text) => {
    expect(parseDatePattern('G yyyy-MM-dd D w YYYY').format(ms)).toBe(text)
  })

  it.each([
    ['+0100', 11],
    ['GMT+1:00', 11],
    ['gmt-01:00', 13],
    ['GMT', 12],
    ['Greenwich Mean Time', 12],
    ['Coordinated Universal Time', 12],
    ['GMT+1', undefined],
    ['GMT-0100', undefined],
    ['+01:00', undefined],
    ['+100', undefined],
    ['+2400', undefined],
    ['+1260', undefined],
    ['Z', undefined],
    ['UT', undefined],
  ])('reads the zone %s with z and Z as Java does', (zone, hour) => {
    for (const letter of ['z', 'Z']) {
      const ms = parseDatePattern(`H ${letter}`).parse(`12 ${zone}`)
      expect(ms).toBe(hour === undefined ? undefined : hour * 3_600_000)
    }
  })

  it('reads a year of two digits as one from 80 years before now, to the day', () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 27) })
    const { parse } = parseDatePattern('yy-MM-dd')
    const years = ['46-11-26', '46-11-27', '45-12-31', '47-01-01'].map((text) =>
      new Date(parse(text)!).getUTCFullYear(),
    )
    expect(years).toEqual([2046, 1946, 2045, 1947])
  })
})

afterEach(() => {
  vi.useRealTimers()
})
