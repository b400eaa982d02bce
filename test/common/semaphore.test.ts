import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { Semaphore } from '../../src/common/semaphore.ts'

it('grants bytes in order of arrival', async () => {
  const budget = new Semaphore(10)
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
    const budget = new Semaphore(10)
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
  const budget = new Semaphore(10)
  const release = await budget.acquire(100, 1)
  expect(budget.tryAcquire(1)).toBeUndefined()
  release?.()
  release?.()
  expect(budget.tryAcquire(100)).toBeTypeOf('function')
})

it('never grants more than the budget and eventually serves every caller', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 30 }), async (wishes) => {
      const budget = new Semaphore(10)
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

it('runs at most the given number of jobs at once, in order of arrival, whether they fail or not', async () => {
  const semaphore = new Semaphore(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const run = (each: number) =>
    semaphore
      .run(async () => {
        begun.push(each)
        await new Promise<void>((resolve) => ends.push(resolve))
        if (each === 0) throw new Error('failed')
        return each
      })
      .catch(() => 'failed')
  const all = [0, 1, 2, 3, 4].map(run)
  await expect.poll(() => begun).toEqual([0, 1])
  ends[0]!()
  await expect.poll(() => begun).toEqual([0, 1, 2])
  ends[1]!()
  ends[2]!()
  await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4])
  ends[3]!()
  ends[4]!()
  expect(await Promise.all(all)).toEqual(['failed', 1, 2, 3, 4])
})

it('rejects callers when too many wait; with a time limit they get nothing', async () => {
  const semaphore = new Semaphore(1, { waitingMax: 1, full: () => new Error('busy') })
  const release = await semaphore.acquire()
  const waiting = semaphore.acquire()
  await expect(semaphore.acquire()).rejects.toThrow('busy')
  await expect(semaphore.run(() => 'never')).rejects.toThrow('busy')
  expect(await semaphore.acquire(1, 60_000)).toBeUndefined()
  release()
  expect(await waiting).toBeTypeOf('function')
})

it('gives nothing to those who do not wait while others do', async () => {
  const semaphore = new Semaphore(10)
  await semaphore.acquire(6)
  const waiting = semaphore.acquire(8)
  expect(semaphore.tryAcquire(1)).toBeUndefined()
  semaphore.release(4)
  expect(await waiting).toBeTypeOf('function')
})
