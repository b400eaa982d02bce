import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { ByteSemaphore } from '../../src/http/byte-semaphore.ts'

it('grants bytes in order of arrival', async () => {
  const budget = new ByteSemaphore(10)
  const granted: string[] = []
  const acquire = (name: string, bytes: number) =>
    budget.acquire(bytes, 60_000).then((release) => {
      granted.push(name)
      return release
    })
  const first = await acquire('first', 8)
  const rest = [acquire('second', 5), acquire('third', 1)]
  await Promise.resolve()
  // The third would fit, but the second arrived first.
  expect(granted).toEqual(['first'])
  first?.()
  for (const release of await Promise.all(rest)) release?.()
  expect(granted).toEqual(['first', 'second', 'third'])
})

it('returns undefined after the timeout and serves the callers behind', async () => {
  vi.useFakeTimers()
  try {
    const budget = new ByteSemaphore(10)
    await budget.acquire(6, 1)
    const large = budget.acquire(5, 1_000)
    const small = budget.acquire(4, 2_000)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await large).toBeUndefined()
    expect(await small).toBeTypeOf('function')
  } finally {
    vi.useRealTimers()
  }
})

it('grants the whole budget to a larger request when nothing is in use', async () => {
  const budget = new ByteSemaphore(10)
  const release = await budget.acquire(100, 1)
  expect(budget.tryAcquire(1)).toBeUndefined()
  release?.()
  release?.()
  expect(budget.tryAcquire(100)).toBeTypeOf('function')
})

it('never grants more than the budget and eventually serves every caller', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 30 }), async (wishes) => {
      const budget = new ByteSemaphore(10)
      let used = 0
      await Promise.all(
        wishes.map(async (wish) => {
          const release = await budget.acquire(wish, 60_000)
          used += Math.min(wish, 10)
          expect(used).toBeLessThanOrEqual(10)
          await Promise.resolve()
          used -= Math.min(wish, 10)
          release?.()
        }),
      )
      expect(used).toBe(0)
      expect(budget.tryAcquire(10)).toBeTypeOf('function')
    }),
  )
})
