import { describe, expect, it } from 'vitest'
import { ServerMessageSplitter } from '../../../../../src/plugins/connectors/postgres/cdc/replication/server-message-splitter.ts'

function frame(type: string, text: string): Buffer {
  const bytes = Buffer.alloc(5)
  bytes.write(type)
  bytes.writeUInt32BE(text.length + 4, 1)
  return Buffer.concat([bytes, Buffer.from(text)])
}

describe('the messages of a connection', () => {
  const bytes = Buffer.concat([frame('d', 'first'), frame('k', ''), frame('d', 'x'.repeat(100)), frame('Z', 'I')])
  const expected = [
    ['d', 'first'],
    ['k', ''],
    ['d', 'x'.repeat(100)],
    ['Z', 'I'],
  ]

  it.each([1, 2, 3, 5, 7, 64, 1000])('are the same in chunks of %s bytes', (size) => {
    const splitter = new ServerMessageSplitter(1000)
    const found: string[][] = []
    for (let at = 0; at < bytes.length; at += size) {
      for (const { type, body } of splitter.push(bytes.subarray(at, at + size))) found.push([type, body.toString()])
    }
    expect(found).toEqual(expected)
  })

  it('that are too large are rejected when their length is known', () => {
    const splitter = new ServerMessageSplitter(1000)
    const header = Buffer.from('d\0\0\x10\0')
    expect(() => splitter.push(header)).toThrow("type 'd' with 4096 bytes; at most 1000 bytes can be read")
  })

  it('that are too large are rejected behind another one', () => {
    const splitter = new ServerMessageSplitter(1000)
    expect(() => splitter.push(Buffer.concat([frame('k', ''), Buffer.from('d\0\0\x10\0')]))).toThrow('4096 bytes')
  })

  it('with a length that does not include itself are rejected', () => {
    expect(() => new ServerMessageSplitter(1000).push(Buffer.from('d\0\0\0\x03'))).toThrow('invalid length 3')
  })

  it('in many small chunks are copied once', () => {
    const splitter = new ServerMessageSplitter(2 ** 20)
    const large = frame('d', 'x'.repeat(2 ** 19))
    const before = process.memoryUsage().arrayBuffers
    let count = 0
    for (let at = 0; at < large.length; at += 64) count += splitter.push(large.subarray(at, at + 64)).length
    expect(count).toBe(1)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * large.length)
  })
})
