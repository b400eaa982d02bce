import { describe, expect, it } from 'vitest'
import { LogRateLimiter } from '../../../src/common/logging/log-rate-limiter.ts'

describe('log rate limiter', () => {
  it('admits a burst of ten seconds, then the rate, and counts the dropped lines', () => {
    const { limiter, clock } = setUp({ linesPerSecond: 10, bytesPerSecond: 1_000_000 })
    expect(write(limiter, 'a', 30, 500)).toBe(100)
    expect(limiter.takeDropped()).toEqual([{ source: 'a', level: 30, lines: 400, bytes: 4_000 }])
    expect(limiter.takeDropped()).toEqual([])
    clock.ms += 2_000
    expect(write(limiter, 'a', 30, 500)).toBe(20)
    clock.ms += 3_600_000
    expect(write(limiter, 'a', 30, 500)).toBe(100)
  })

  it('limits bytes; a line that exceeds the rest of the budget is admitted and reduces the later budget', () => {
    const { limiter, clock } = setUp({ linesPerSecond: 1_000, bytesPerSecond: 100 })
    expect(limiter.admits('a', 30, 5_000)).toBe(true)
    expect(limiter.admits('a', 30, 1)).toBe(false)
    clock.ms += 39_000
    expect(limiter.admits('a', 30, 1)).toBe(false)
    clock.ms += 2_000
    expect(limiter.admits('a', 30, 1)).toBe(true)
  })

  it('limits each source and level separately', () => {
    const { limiter } = setUp({ linesPerSecond: 1, bytesPerSecond: 1_000 })
    write(limiter, 'a', 20, 1_000)
    expect(write(limiter, 'a', 40, 5)).toBe(5)
    expect(write(limiter, 'b', 20, 5)).toBe(5)
    expect(limiter.takeDropped()).toEqual([{ source: 'a', level: 20, lines: 990, bytes: 9_900 }])
  })

  it('forgets inactive sources', () => {
    const { limiter, clock } = setUp({ linesPerSecond: 1, bytesPerSecond: 1_000 })
    for (let at = 0; at < 1_000; at++) write(limiter, `source ${at}`, 30, 1)
    expect(limiter.size).toBe(1_000)
    clock.ms += 60_000
    limiter.takeDropped()
    expect(limiter.size).toBe(0)
  })
})

function setUp(limits: ConstructorParameters<typeof LogRateLimiter>[0]) {
  const clock = { ms: 0 }
  return { clock, limiter: new LogRateLimiter(limits, () => clock.ms) }
}

/** The number of admitted lines out of these, ten bytes each. */
function write(limiter: LogRateLimiter, source: string, level: number, lines: number): number {
  let admitted = 0
  for (let line = 0; line < lines; line++) if (limiter.admits(source, level, 10)) admitted += 1
  return admitted
}
