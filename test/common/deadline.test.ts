import { getEventListeners } from 'node:events'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startDeadline } from '../../src/common/deadline.ts'

describe('startDeadline', () => {
  it('aborts its signal after the time, with a TimeoutError', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { signal, hasPassed } = startDeadline(1_000)
    vi.advanceTimersByTime(999)
    expect([signal.aborted, hasPassed()]).toEqual([false, false])
    vi.advanceTimersByTime(1)
    expect([signal.aborted, hasPassed()]).toEqual([true, true])
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
  })

  it('aborts its signal with the other signal and its reason', () => {
    const stopping = new AbortController()
    const { signal, hasPassed } = startDeadline(1_000, stopping.signal)
    stopping.abort('stopping')
    expect([signal.aborted, signal.reason, hasPassed()]).toEqual([true, 'stopping', false])
    expect(startDeadline(1_000, stopping.signal).signal.reason).toBe('stopping')
  })

  it('keeps neither its timer nor its listener when it is cleared', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const stopping = new AbortController()
    const { signal, clear } = startDeadline(1_000, stopping.signal)
    clear()
    expect([vi.getTimerCount(), getEventListeners(stopping.signal, 'abort')]).toEqual([0, []])
    vi.advanceTimersByTime(1_000)
    expect(signal.aborted).toBe(false)
  })
})
