import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pause, TIMER_MS_MAX } from '../../../../src/plugins/connectors/jdbc/pause.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('pause', () => {
  it('waits for times beyond the range of timers, which would fire at once', async () => {
    const onEnd = vi.fn()
    const waiting = pause(TIMER_MS_MAX + 1_000, new AbortController().signal).then(onEnd)
    await vi.advanceTimersByTimeAsync(TIMER_MS_MAX + 999)
    expect(onEnd).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await waiting
    expect(onEnd).toHaveBeenCalled()
  })

  it('ends when it is aborted', async () => {
    const stopping = new AbortController()
    const waiting = pause(10 * TIMER_MS_MAX, stopping.signal)
    stopping.abort()
    await waiting
    expect(vi.getTimerCount()).toBe(0)
  })
})
