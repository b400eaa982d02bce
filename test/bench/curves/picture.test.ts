import { describe, expect, it } from 'vitest'
import { type Curve, sizesUpTo } from './curve.ts'
import { toSvg } from './picture.ts'

const curve: Curve = {
  title: 'Tasks & memory',
  size: 'number of tasks',
  panels: [
    {
      title: 'memory',
      unit: 'MB',
      lines: [
        {
          name: 'Weir',
          points: [
            [0, 100],
            [200, 400],
          ],
        },
        {
          name: 'Java Connect',
          points: [
            [0, 200],
            [200, 300],
          ],
        },
      ],
    },
  ],
}

describe('the picture of a curve', () => {
  const svg = toSvg(curve, 'Measured on 2026-11-23: 2 cores')

  it('describes the machine, the date and all values', () => {
    expect(svg).toContain('<title id="title">Tasks &amp; memory</title>')
    expect(svg).toMatch(/<desc [^>]*>Measured on 2026-11-23: 2 cores\..* memory, Weir: 0: 100 MB, 200: 400 MB\./)
  })

  it('draws each line from the point of the smallest size to that of the largest one', () => {
    // The axes end at 200 tasks and 400 MB.
    expect(svg).toContain('points="56,149 316,44"')
    expect(svg).toContain('points="56,114 316,79"')
  })

  it('has sizes that grow up to the largest one', () => {
    expect(sizesUpTo(3_000)).toEqual([100, 300, 1_000, 3_000])
    expect(sizesUpTo(50_000)).toEqual([2_000, 5_000, 20_000, 50_000])
  })
})
