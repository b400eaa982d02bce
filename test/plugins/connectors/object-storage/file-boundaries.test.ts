import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeBoundaries, parseBoundaries } from '../../../../src/plugins/connectors/object-storage/file-boundaries.ts'

describe('the boundaries of files in the metadata of an offset', () => {
  it('are read as they were written', () => {
    const length = fc.record({
      records: fc.integer({ min: 1, max: 1_000_000 }),
      clockMs: fc.option(fc.integer({ min: 0, max: 8_640_000_000_000_000 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 50 }),
        fc.array(length, { minLength: 1, maxLength: 40 }),
        (offset, lengths) => {
          let endOffset = offset
          const boundaries = lengths.map(({ records, clockMs }) => {
            endOffset += records
            return { endOffset, ...(clockMs !== undefined && { clockMs }) }
          })
          const { text, count } = encodeBoundaries(offset, boundaries)
          expect(parseBoundaries(offset, text)).toEqual(boundaries.slice(0, count))
        },
      ),
    )
  })

  it('are as many as fit in the metadata that brokers accept', () => {
    const boundaries = Array.from({ length: 5_000 }, (_, at) => ({
      endOffset: at + 1,
      clockMs: 1_700_000_000_000 + at,
    }))
    const { text, count } = encodeBoundaries(0, boundaries)
    expect(text.length).toBeLessThanOrEqual(4_096)
    expect(count).toBeGreaterThan(200)
    expect(count).toBeLessThan(5_000)
  })

  it('are none in the metadata of other programs', () => {
    expect(parseBoundaries(7, undefined)).toEqual([])
    expect(parseBoundaries(7, 'some text')).toEqual([])
  })

  it.each(['', '0', '-1', 'zz zz', '1,,2', '1@', '1@@2'])('are not guessed when damaged: %j', (items) => {
    expect(() => parseBoundaries(7, `weir-files-1:${items}`)).toThrow('is damaged')
  })
})
