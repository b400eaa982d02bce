import { describe, expect, it } from 'vitest'
import type { Broker, CommittedOffset } from '../../src/broker/broker.ts'
import { addReplayMarks, isMarked, readReplayMarks } from '../../src/dead-letters/replay-marks.ts'

/** The offsets of one group. */
function fakeBroker(...committed: readonly CommittedOffset[]) {
  let stored: readonly CommittedOffset[] = committed
  const groups = {
    offsets: async () => stored,
    setOffsets: async (_group: string, offsets: readonly CommittedOffset[]) => {
      stored = [...stored.filter((one) => !offsets.some(({ partition }) => partition === one.partition)), ...offsets]
    },
  }
  return { broker: { groups } as unknown as Broker, stored: () => stored }
}

const at = (offset: number, partition = 0) => ({ partition, offset })

describe('the marks of replayed dead letters', () => {
  it('are kept as ranges of offsets in the metadata of a group', async () => {
    const { broker, stored } = fakeBroker()
    await addReplayMarks(broker, 'dead', [at(5), at(3), at(4), at(9), at(1, 2)])
    await addReplayMarks(broker, 'dead', [at(8), at(9)])
    expect(stored().toSorted((a, b) => a.partition - b.partition)).toEqual([
      { topic: 'dead', partition: 0, offset: 10, metadata: '3-5,8-9' },
      { topic: 'dead', partition: 2, offset: 2, metadata: '1' },
    ])
    const marks = await readReplayMarks(broker, 'dead')
    expect([2, 3, 5, 6, 9].map((offset) => isMarked(marks, at(offset)))).toEqual([false, true, true, false, true])
    expect([isMarked(marks, at(1, 2)), isMarked(marks, at(1, 1))]).toEqual([true, false])
  })

  it('of the oldest records are forgotten before Kafka refuses the metadata', async () => {
    const { broker, stored } = fakeBroker()
    const positions = Array.from({ length: 2_000 }, (_, index) => at(1_000_000 + index * 2))
    await addReplayMarks(broker, 'dead', positions)
    expect(stored()[0]?.metadata?.length).toBeLessThanOrEqual(4_000)
    const marks = await readReplayMarks(broker, 'dead')
    expect([positions.at(-1)!, positions[0]!].map((position) => isMarked(marks, position))).toEqual([true, false])
  })

  it('of other topics, and metadata that has no ranges, are ignored', async () => {
    const metadata = 'x,3,-,4-,,5-6,99999999999999999999'
    const { broker } = fakeBroker(
      { topic: 'dead', partition: 0, offset: 1, metadata },
      { topic: 'other', partition: 1, offset: 1, metadata: '1' },
    )
    expect([...(await readReplayMarks(broker, 'dead'))]).toEqual([
      [
        0,
        [
          [3, 3],
          [5, 6],
        ],
      ],
    ])
  })
})
