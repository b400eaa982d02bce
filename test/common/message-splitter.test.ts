import { describe, expect, it } from 'vitest'
import { MessageSplitter, withLength } from '../../src/common/message-splitter.ts'

const splitter = () => new MessageSplitter({ min: 1, max: 100 }, (length) => new RangeError(`${length}`))
const STREAM = Buffer.concat(['a', 'bcd', 'x'.repeat(100)].map((text) => withLength(Buffer.from(text))))

describe('messages after their lengths', () => {
  it.each([1, 3, 5, STREAM.length])('are split, however they arrive: in chunks of %i bytes', (size) => {
    const split = splitter()
    const found: string[] = []
    for (let at = 0; at < STREAM.length; at += size)
      for (const message of split.push(STREAM.subarray(at, at + size))) found.push(message.toString())
    expect(found).toEqual(['a', 'bcd', 'x'.repeat(100)])
  })

  it.each([0, 101, -1])('are refused with a length of %i, before their bytes arrive', (length) => {
    const head = Buffer.alloc(4)
    head.writeInt32BE(length)
    expect(() => [...splitter().push(head)]).toThrow(new RangeError(`${length}`))
  })
})
