import { describe, expect, it } from 'vitest'
import { type MainThread, OwnTime, readMainThread, readResidentBytes } from '../../src/common/process-times.ts'

describe('the own time of a process', () => {
  const stepOf = (before: MainThread | undefined, after: MainThread | undefined, elapsedMs: number, isBusy = false) => {
    let [now, ms] = [before, 0]
    const time = new OwnTime(
      () => now,
      () => isBusy,
      () => ms,
      200,
    )
    now = after
    ms = elapsedMs
    return time.step()
  }

  it.each([
    ['a loop', { state: 'R', cpuMs: 20 }, { state: 'R', cpuMs: 120 }, 100, false, 100],
    ['a loop on a busy machine', { state: 'R', cpuMs: 20 }, { state: 'R', cpuMs: 30 }, 100, false, 10],
    ['a wait in native code', { state: 'S', cpuMs: 20 }, { state: 'S', cpuMs: 20 }, 100, false, 100],
    ['a wait for a helper thread that is not run', { state: 'S', cpuMs: 20 }, { state: 'S', cpuMs: 20 }, 100, true, 0],
    ['a wait for a disk', { state: 'S', cpuMs: 20 }, { state: 'D', cpuMs: 20 }, 100, false, 0],
    ['a stopped process', { state: 'T', cpuMs: 20 }, { state: 'T', cpuMs: 20 }, 100, false, 0],
    [
      'a wait while the worker itself was not run',
      { state: 'S', cpuMs: 20 },
      { state: 'S', cpuMs: 20 },
      9_000,
      false,
      200,
    ],
    ['a system without /proc', undefined, undefined, 100, false, 100],
  ] as const)('of %s', (_name, before, after, elapsedMs, isBusy, expected) => {
    expect(stepOf(before, after, elapsedMs, isBusy)).toBe(expected)
  })

  it('is read for this process, with its memory', () => {
    if (process.platform !== 'linux') return
    expect(readMainThread(process.pid)).toMatchObject({ state: expect.any(String), cpuMs: expect.any(Number) })
    expect(readResidentBytes(process.pid)).toBeGreaterThan(1_000_000)
    expect(readMainThread(2 ** 30)).toBeUndefined()
  })
})
