import { expect, it } from 'vitest'
import { limitConcurrency } from '../../../src/operator/controller/concurrency-limit.ts'

it('runs at most the given number of tasks at once, in order of arrival, whether they fail or not', async () => {
  const within = limitConcurrency(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const run = (each: number) =>
    within(async () => {
      begun.push(each)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (each === 0) throw new Error('failed')
      return each
    }).catch(() => 'failed')
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
