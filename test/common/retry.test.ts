import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/common/clock.ts'
import { retry } from '../../src/common/retry.ts'

function steppingClock(): Clock & { readonly sleptMs: number[] } {
  let nowMs = 0
  const sleptMs: number[] = []
  return {
    sleptMs,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms) => {
      sleptMs.push(ms)
      nowMs += ms
    },
  }
}

const options = { backoff: { firstMs: 100, maxMs: 400 }, withinMs: 10_000, retriable: () => true, random: () => 0 }

describe('retry', () => {
  it('increases the delay up to the maximum until the call succeeds', async () => {
    const clock = steppingClock()
    let failures = 4
    const result = await retry(async () => (failures-- > 0 ? Promise.reject(new Error('not yet')) : 'done'), {
      ...options,
      clock,
    })
    expect([result, clock.sleptMs]).toEqual(['done', [100, 200, 400, 400]])
  })

  it('throws the last error after the timeout', async () => {
    const clock = steppingClock()
    const attempt = () => Promise.reject(new Error(`at ${clock.nowMs()}`))
    await expect(retry(attempt, { ...options, withinMs: 350, clock })).rejects.toThrow('at 300')
  })

  it('does not retry a programming error', async () => {
    const clock = steppingClock()
    await expect(retry(() => Promise.reject(new TypeError('bug')), { ...options, clock })).rejects.toThrow('bug')
    expect(clock.sleptMs).toEqual([])
  })

  it('does not retry a permanent error', async () => {
    const clock = steppingClock()
    const attempt = () => Promise.reject(new Error('no'))
    await expect(retry(attempt, { ...options, retriable: () => false, clock })).rejects.toThrow('no')
    expect(clock.sleptMs).toEqual([])
  })
})
