import { describe, expect, it } from 'vitest'
import { FrameWriter } from '../../src/java/frame-writer.ts'
import { writeSinkRecords } from '../../src/java/record-codec.ts'
import type { SinkRecord } from '../../src/sdk/index.ts'

const recordOf = (bytes: number): SinkRecord => ({
  ...{ topic: 't', partition: 0, offset: 0, key: null, keySchema: null, valueSchema: null, headers: [] },
  value: Buffer.alloc(bytes),
  timestampMs: 1.5,
  origin: { topic: 't', partition: 0, offset: 0 },
})

describe('a frame of sink records', () => {
  it.each([
    ['500 small records', Array<SinkRecord>(1_200).fill(recordOf(1)), [500, 500, 200]],
    ['about 4 MiB', Array<SinkRecord>(10).fill(recordOf(1024 * 1024)), [4, 4, 2]],
    ['one record that is larger', Array<SinkRecord>(2).fill(recordOf(5 * 1024 * 1024)), [1, 1]],
  ])('has %s', { tags: ['slow'] }, (_, records, expected) => {
    const counts: number[] = []
    for (let rest: readonly SinkRecord[] = records; rest.length > 0; ) {
      const count = writeSinkRecords(new FrameWriter(() => 0), rest)
      counts.push(count)
      rest = rest.slice(count)
    }
    expect(counts).toEqual(expected)
  })
})
