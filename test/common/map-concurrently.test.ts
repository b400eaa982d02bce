import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { mapConcurrently } from '../../src/common/map-concurrently.ts'

it('mapConcurrently returns the results in the order of the items, with at most 16 calls at a time', async () => {
  let running = 0
  let runningMax = 0
  const results = await mapConcurrently(
    Array.from({ length: 40 }, (_, at) => at),
    async (item) => {
      runningMax = Math.max(runningMax, ++running)
      await nextTurn()
      running -= 1
      return item * 2
    },
  )
  expect(results).toEqual(Array.from({ length: 40 }, (_, at) => at * 2))
  expect(runningMax).toBe(16)
})

it('mapConcurrently rejects after an error when all calls have ended, and starts no further ones', async () => {
  const ended: number[] = []
  const items = Array.from({ length: 40 }, (_, at) => at)
  const mapped = mapConcurrently(items, async (item) => {
    if (item === 0) throw new Error('the first call failed')
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    ended.push(item)
  })
  await expect(mapped).rejects.toThrow('the first call failed')
  expect(ended).toHaveLength(15)
})
