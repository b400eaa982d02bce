import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Compression } from '../../../src/broker/broker.ts'
import { compress, compressionNumber, decompress } from '../../../src/broker/record-batch/compression.ts'
import { propertyRuns } from '../../support/property-seed.ts'

const CODECS: readonly Compression[] = ['gzip', 'snappy', 'lz4', 'zstd']

it.each(CODECS)('%s decompresses what it has compressed', async (codec) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), fc.integer({ min: 1, max: 60 }), async (part, times) => {
      const bytes = Buffer.concat(Array.from({ length: times }, () => part))
      const small = await compress(codec, bytes)
      expect(Buffer.compare(await decompress(compressionNumber(codec), small), bytes)).toBe(0)
    }),
    { numRuns: propertyRuns(20) },
  )
})

it.each(CODECS)('%s reports damaged bytes', async (codec) => {
  const damaged = Buffer.from('this is nothing that a codec wrote, by any means')
  await expect(decompress(compressionNumber(codec), damaged)).rejects.toMatchObject({ code: 'corrupt_batch' })
})

it('reads the block format in which Java writes snappy', async () => {
  const blocks = await Promise.all(['one ', 'two ', 'three'].map((text) => compress('snappy', Buffer.from(text))))
  const header = blocks[0]!.subarray(0, 16)
  const stream = Buffer.concat([header, ...blocks.map((block) => block.subarray(16))])
  expect(String(await decompress(compressionNumber('snappy'), stream))).toBe('one two three')
})

it('rejects an unknown codec', async () => {
  await expect(decompress(7, Buffer.alloc(3))).rejects.toMatchObject({ code: 'unsupported' })
})

it.each<readonly [what: string, codec: Compression, bytes: () => Promise<Buffer> | Buffer]>([
  ['a snappy block that declares 4 GB', 'snappy', () => Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x61])],
  ['lz4 blocks that decompress to 280 MiB', 'lz4', () => lz4Frame(70, 16 * 1024)],
])('rejects %s before it allocates memory', async (_, codec, bytes) => {
  await expect(decompress(compressionNumber(codec), await bytes())).rejects.toMatchObject({
    code: 'corrupt_batch',
    message: expect.stringContaining('the decompressed size exceeds 268435456 bytes'),
  })
})

it.each([-4, 0, 1_000])("refuses a block of Java's snappy that gives a length of %i", async (length) => {
  const bytes = await compress('snappy', Buffer.from('one'))
  bytes.writeInt32BE(length, 16)
  await expect(decompress(compressionNumber('snappy'), bytes)).rejects.toMatchObject({ code: 'corrupt_batch' })
})

/** A frame that declares blocks of 4 MiB and holds this many bytes that are not valid blocks. */
function lz4Frame(blocks: number, blockBytes: number): Buffer {
  const block = Buffer.alloc(4 + blockBytes, 0xff)
  block.writeUInt32LE(blockBytes)
  const head = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73])
  return Buffer.concat([head, ...Array.from({ length: blocks }, () => block), Buffer.alloc(4)])
}
