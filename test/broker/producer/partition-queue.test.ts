import { describe, expect, it } from 'vitest'
import type { NewRecord } from '../../../src/broker/broker.ts'
import { compareSequences, PartitionQueue } from '../../../src/broker/producer/partition-queue.ts'
import { collectGarbage } from '../../support/collect-garbage.ts'

const CALLBACK = { onStored: () => {}, onFailed: () => {} }
const RECORD_BYTES = 31 + 1

describe('PartitionQueue', () => {
  it('takes records in their order while others are added', () => {
    const queue = new PartitionQueue('t', 0)
    const taken: number[] = []
    for (let index = 0; index < 1_000; index++) {
      queue.add(record(), index, CALLBACK, 0)
      if (index % 3 === 2) taken.push(...queue.take(2 * RECORD_BYTES).entries.map((entry) => entry.index))
    }
    while (queue.hasEntries) taken.push(...queue.take(7 * RECORD_BYTES).entries.map((entry) => entry.index))
    expect(taken).toEqual(Array.from({ length: 1_000 }, (_, index) => index))
    expect(queue.drain()).toEqual([])
  })

  it('releases the memory of taken records although it is never empty', { tags: ['slow'] }, async () => {
    const queue = new PartitionQueue('t', 0)
    const first = fillAndTakeFirst(queue)
    for (let index = 1; index < 100; index++) {
      queue.add(record(), index, CALLBACK, 0)
      queue.take(RECORD_BYTES)
    }
    expect(queue.hasEntries).toBe(true)
    await collectGarbage()
    expect(first.deref()).toBeUndefined()
  })
})

it('Sequence numbers are in the order of their batches, also when they restart at 0', () => {
  const last = 2 ** 31 - 1
  expect([5, last, 0, last - 3].toSorted(compareSequences)).toEqual([last - 3, last, 0, 5])
  expect([7, 3, 5].toSorted(compareSequences)).toEqual([3, 5, 7])
})

function fillAndTakeFirst(queue: PartitionQueue): WeakRef<NewRecord> {
  const first = record()
  queue.add(first, 0, CALLBACK, 0)
  for (let index = 0; index < 10; index++) queue.add(record(), index, CALLBACK, 0)
  queue.take(RECORD_BYTES)
  return new WeakRef(first)
}

function record(): NewRecord {
  return { topic: 't', key: null, value: new Uint8Array(1) }
}
