import { describe, expect, it } from 'vitest'
import { SourceOffsets, type SourceOffsetsOptions } from '../../../src/worker/tasks/source-offsets.ts'

describe('SourceOffsets', () => {
  it("encodes offsets as records of the worker's offsets topic, in the format of Kafka Connect", () => {
    const progress = [
      { partition: { file: 'a' }, offset: { at: 1 } },
      { partition: { file: 'b' }, offset: { at: 2, done: true } },
    ]
    expect(encode({}, progress)).toEqual([
      ['offsets', '["c",{"file":"a"}]', '{"at":1}'],
      ['offsets', '["c",{"file":"b"}]', '{"at":2,"done":true}'],
    ])
  })

  it('keeps the bytes of a stored key, whatever the order of its members', () => {
    const stored = { key: Buffer.from('["c", {"b":2,"a":1}]'), partition: { b: 2, a: 1 }, offset: { at: 1 } }
    const progress = [{ partition: { a: 1, b: 2 }, offset: { at: 2 } }]
    expect(encode({ offsets: [stored] }, progress)).toEqual([['offsets', '["c", {"b":2,"a":1}]', '{"at":2}']])
  })

  it('writes all offsets of a new partition with the same key, whatever the order of its members', () => {
    const progress = [
      { partition: { a: 1, b: 2 }, offset: { at: 1 } },
      { partition: { b: 2, a: 1 }, offset: { at: 2 } },
    ]
    expect(encode({}, progress).map(([, key]) => key)).toEqual(Array(2).fill('["c",{"a":1,"b":2}]'))
  })

  it.each([
    { own: 'own-offsets', topics: ['own-offsets', 'offsets'] },
    { own: 'offsets', topics: ['offsets'] },
  ])('writes to $topics when offsets.storage.topic is $own', ({ own, topics }) => {
    const progress = [{ partition: { file: 'a' }, offset: { at: 1 } }]
    const records = encode({ config: { 'offsets.storage.topic': own } }, progress)
    expect(records).toEqual(topics.map((topic) => [topic, '["c",{"file":"a"}]', '{"at":1}']))
  })
})

/** Topic, key and value of each record, as text. */
function encode(own: Partial<SourceOffsetsOptions>, progress: Parameters<SourceOffsets['encode']>[0]) {
  const offsets = new SourceOffsets({
    connector: 'c',
    config: {},
    offsets: [],
    worker: { offsetsTopic: 'offsets' },
    ...own,
  })
  return offsets.encode(progress).map(({ topic, key, value }) => [topic, String(key), String(value)])
}
