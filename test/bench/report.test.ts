import { describe, expect, it } from 'vitest'
import type { Figure } from './figures.ts'
import { type PartResult, toJson, toMarkdown, toTable } from './report.ts'

const rate: Figure = {
  name: 'file → topic',
  unit: 'rec/s',
  ours: [30_000, 20_000, 10_000],
  against: { name: 'Java Connect', values: [10_000, 10_000, 10_000] },
  aim: 1,
}
const memory: Figure = { name: 'memory', unit: 'MB', ours: [120], against: { name: 'allowed', values: [100] }, aim: 1 }
const results: readonly PartResult[] = [
  { part: 'worker', seconds: 1, result: [rate, memory] },
  { part: 'log', seconds: 2, failure: 'the broker is gone\nand more' },
]

describe('the table of the benchmark', () => {
  it('shows the median of the ratios, their spread, and whether the aim is reached', () => {
    const [, first, second] = toTable(results).split('\n')
    expect(first).toMatch(/^worker +file → topic +20 k\/s +10 k\/s Java Connect +2\.00 +1\.00 to 3\.00 +≥ 1\.00 +yes$/)
    expect(second).toMatch(/^worker +memory +120 MB +100 MB allowed +1\.20 +≤ 1\.00 +no$/)
  })

  it('has a row for a part that failed', () => {
    expect(toTable(results).split('\n')[3]).toMatch(/^log +FAILED: the broker is gone +no$/)
  })

  it('has the same rows in Markdown', () => {
    expect(toMarkdown('title', results).trim().split('\n')).toHaveLength(2 + 2 + 3)
  })

  it('says in JSON whether a larger or a smaller value is better', () => {
    const { parts } = JSON.parse(toJson('title', results)) as {
      parts: [{ result: readonly { better: string; ratio: number; reached: boolean }[] }, unknown]
    }
    expect(parts[0].result).toMatchObject([
      { better: 'larger', ratio: 2, reached: true },
      { better: 'smaller', ratio: 1.2, reached: false },
    ])
    expect(parts[1]).toMatchObject({ part: 'log', failure: 'the broker is gone\nand more' })
  })
})
