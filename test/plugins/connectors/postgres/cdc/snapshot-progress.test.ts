import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addPageRange,
  missingPageRanges,
  OPEN_END,
  parsePageRanges,
  printPageRanges,
  splitPageRanges,
  type TablePageRange,
} from '../../../../../src/plugins/connectors/postgres/cdc/snapshot/page-ranges.ts'
import { SnapshotProgress } from '../../../../../src/plugins/connectors/postgres/cdc/snapshot/snapshot-progress.ts'

const pages = fc
  .tuple(fc.nat(40), fc.integer({ min: 1, max: 9 }))
  .map(([from, length]) => ({ from, to: from + length }))
const contains = (ranges: readonly TablePageRange[], page: number) =>
  ranges.some(({ from, to }) => page >= from && page < to)

describe('page ranges', () => {
  it('contain the pages that were added, and are the complement of the missing ones', () => {
    fc.assert(
      fc.property(fc.array(pages), (added) => {
        const ranges = added.reduce<readonly TablePageRange[]>(addPageRange, [])
        const missing = missingPageRanges(ranges)
        for (let page = 0; page < 60; page += 1) {
          expect(contains(ranges, page)).toBe(contains(added, page))
          expect(contains(missing, page)).toBe(!contains(added, page))
        }
        expect(parsePageRanges(printPageRanges(ranges))).toEqual(ranges)
        expect(parsePageRanges(printPageRanges(missing))).toEqual(missing)
      }),
    )
  })

  it('are split without a gap, with an open end in the last part only', () => {
    fc.assert(
      fc.property(fc.array(pages), fc.integer({ min: 1, max: 7 }), fc.nat(50), (added, pagesMax, size) => {
        const missing = missingPageRanges(added.reduce<readonly TablePageRange[]>(addPageRange, []))
        const parts = splitPageRanges(missing, size, pagesMax)
        expect(parts.reduce<readonly TablePageRange[]>(addPageRange, [])).toEqual(missing)
        expect(parts.filter(({ to }) => to === OPEN_END)).toHaveLength(1)
        for (const { from, to } of parts)
          if (to !== OPEN_END && from < size) expect(Math.min(to, size) - from).toBeLessThanOrEqual(pagesMax)
      }),
    )
  })

  it('are refused in another form', () => {
    for (const text of ['1', '1-1', '2-1', 'x-2', '1-2,', '-3']) expect(parsePageRanges(text), text).toBeUndefined()
  })
})

describe('SnapshotProgress', () => {
  it('is parsed back', () => {
    const progress = SnapshotProgress.start('4294967300:4294967310:4294967301,4294967305')
    // Rows have the lower 32 bits of a transaction id.
    expect(progress.bounds).toEqual({ xmin: 4, xmax: 14, running: [5, 9] })
    for (const id of [16_385, 16_386, 16_387, 16_400]) progress.addPages(id, id, { from: 0, to: OPEN_END })
    progress.addPages(16_401, 17_000, { from: 8, to: 16 })
    progress.addPages(16_401, 17_000, { from: 32, to: OPEN_END })
    progress.addRows(12)
    const text = progress.print()
    expect(text).toContain('"done":"16385-16387,16400"')
    const parsed = SnapshotProgress.parse(text)
    expect(parsed.print()).toBe(text)
    expect(parsed.rows).toBe(12)
    expect(parsed.missing(16_386, 16_386)).toEqual([])
    expect(parsed.missing(16_401, 17_000)).toEqual([
      { from: 0, to: 8 },
      { from: 16, to: 32 },
    ])
    expect(parsed.read(16_401, 17_000)).toHaveLength(2)
  })

  it('reads a table again that was rewritten', () => {
    const progress = SnapshotProgress.start('1:1:')
    progress.addPages(16_401, 17_000, { from: 8, to: 16 })
    expect(progress.missing(16_401, 17_001)).toEqual([{ from: 0, to: OPEN_END }])
    expect(progress.read(16_401, 17_001)).toEqual([])
    progress.addPages(16_401, 17_001, { from: 0, to: 8 })
    expect(progress.missing(16_401, 17_001)).toEqual([{ from: 8, to: OPEN_END }])
  })

  it('is refused when it is damaged, because rows would be missing', () => {
    const whole = SnapshotProgress.start('1:1:').print()
    expect(SnapshotProgress.parse(whole).print()).toBe(whole)
    for (const [from, to] of [
      ['"xmin":1', '"xmin":-1'],
      ['"running":[]', '"running":["1"]'],
      ['"done":""', '"done":"1-99999999999"'],
      ['"done":""', '"done":"1-2000000000"'],
      ['"reading":{}', '"reading":{"1":[1,"2-1"]}'],
      ['"reading":{}', '"reading":{"x":[1,"1-2"]}'],
      ['{', ''],
    ] as const) {
      expect(() => SnapshotProgress.parse(whole.replace(from, to)), to).toThrow('progress of the snapshot is damaged')
    }
  })
})
