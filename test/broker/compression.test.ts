import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Compression } from '../../src/broker/broker.ts'
import { compress, compressionNumber, decompress } from '../../src/broker/compression.ts'

const CODECS: readonly Compression[] = ['gzip', 'snappy', 'lz4', 'zstd']

it.each(CODECS)('%s gives back what it was given', async (codec) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), fc.integer({ min: 1, max: 60 }), async (part, times) => {
      const bytes = Buffer.concat(Array.from({ length: times }, () => part))
      const small = await compress(codec, bytes)
      expect(Buffer.compare(await decompress(compressionNumber(codec), small), bytes)).toBe(0)
    }),
    { numRuns: 20 },
  )
})

it.each(CODECS)('%s says that bytes are damaged', async (codec) => {
  const damaged = Buffer.from('this is nothing that a codec wrote, by any means')
  await expect(decompress(compressionNumber(codec), damaged)).rejects.toMatchObject({ code: 'corrupt_batch' })
})

it('reads the blocks in which Java writes snappy', async () => {
  const blocks = await Promise.all(['one ', 'two ', 'three'].map((text) => compress('snappy', Buffer.from(text))))
  const header = blocks[0]!.subarray(0, 16)
  const stream = Buffer.concat([header, ...blocks.map((block) => block.subarray(16))])
  expect(String(await decompress(compressionNumber('snappy'), stream))).toBe('one two three')
})

it('refuses a codec that nobody knows', async () => {
  await expect(decompress(7, Buffer.alloc(3))).rejects.toMatchObject({ code: 'unsupported' })
})
