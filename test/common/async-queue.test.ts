import { expect, it } from 'vitest'
import { AsyncQueue } from '../../src/common/async-queue.ts'

async function drain<Item>(queue: AsyncQueue<Item>): Promise<{ items: Item[]; error?: unknown }> {
  const items: Item[] = []
  try {
    for await (const item of queue) items.push(item)
  } catch (error) {
    return { items, error }
  }
  return { items }
}

it('passes the items of several producers in order, and lets producers wait while it is full', async () => {
  const queue = new AsyncQueue<number>(2)
  let pushed = 0
  const produce = async (items: readonly number[]) => {
    for (const item of items) {
      expect(await queue.push(item)).toBe(true)
      pushed += 1
    }
  }
  const producing = Promise.all([produce([1, 2, 3, 4]), produce([11, 12, 13])]).then(() => queue.end())
  await new Promise(setImmediate)
  expect(pushed).toBe(2)
  const { items } = await drain(queue)
  await producing
  expect(items.filter((item) => item < 10)).toEqual([1, 2, 3, 4])
  expect(items.filter((item) => item > 10)).toEqual([11, 12, 13])
})

it('rejects an item that is added while the others weigh as much as the limit; one item may exceed it', async () => {
  const queue = new AsyncQueue<string>(10)
  queue.add('light', 9)
  queue.add('heavy', 100)
  expect(() => queue.add('too much', 0)).toThrow('the queue is full: its limit is 10')
  queue.end()
  expect(await drain(queue)).toEqual({ items: ['light', 'heavy'] })
})

it('passes an error after the items that were added before it, and the first error only', async () => {
  const queue = new AsyncQueue<number>(10)
  const drained = drain(queue)
  queue.add(1)
  const error = new Error('first')
  queue.end(error)
  queue.end(new Error('second'))
  queue.add(2)
  expect(await drained).toEqual({ items: [1], error })
})

it('ends at once when it is closed, without items and error', async () => {
  const queue = new AsyncQueue<number>(1)
  queue.add(1)
  const waiting = queue.push(2)
  queue.end(new Error('no'))
  queue.close()
  expect(await waiting).toBe(false)
  expect(await drain(queue)).toEqual({ items: [] })
})

it('drops the items of producers when its consumer has left', async () => {
  const queue = new AsyncQueue<number>(1)
  queue.add(1)
  const waiting = queue.push(2)
  for await (const item of queue) if (item === 1) break
  expect(await queue.push(3)).toBe(false)
  expect(typeof (await waiting)).toBe('boolean')
  expect(await drain(queue)).toEqual({ items: [] })
})
