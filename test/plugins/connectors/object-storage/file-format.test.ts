import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import avsc from 'avsc'
import { uncompressSync } from 'snappy'
import { describe, expect, it } from 'vitest'
import { AVRO_CODECS } from '../../../../src/java-compat/avro/avro-file.ts'
import { type FormatSettings, fileFormat } from '../../../../src/plugins/connectors/object-storage/file-format.ts'
import { INT32, OPTIONAL_STRING, struct } from '../../../../src/sdk/index.ts'

const ORDER = struct('shop.Order', { id: INT32, note: OPTIONAL_STRING })
const avro = (codec: (typeof AVRO_CODECS)[number]) =>
  ({ format: 'avro', codec, options: { metadata: true, enums: true } }) as const
const JSON_LINES = { format: 'json', decimals: 'BASE64' } as const
const BYTES = { format: 'bytes', extension: '.bin', separator: '|' } as const

function encoded(settings: FormatSettings, values: readonly unknown[], name = 'name'): Buffer {
  const encoder = fileFormat(settings).open(ORDER, name)
  const taken: Buffer[] = []
  for (const value of values) {
    encoder.add(value, ORDER)
    if (encoder.length > 100_000) taken.push(encoder.take())
  }
  return Buffer.concat([...taken, encoder.end()])
}

const orders = Array.from({ length: 20_000 }, (_, id) => ({ id, note: id % 3 === 0 ? null : `note ${id}` }))

describe('a file of Avro', () => {
  it.each(AVRO_CODECS)('is read by another implementation with the codec %s', async (codec) => {
    const file = encoded(avro(codec), orders)
    const read: { readonly id: number; readonly note: string | null }[] = []
    const codecs = {
      // A block ends with the checksum of its values.
      snappy: (block: Buffer, done: (error: Error | null, values?: Buffer) => void) => {
        const values = uncompressSync(block.subarray(0, -4)) as Buffer
        expect(crc32(values)).toBe(block.readUInt32BE(block.length - 4))
        done(null, values)
      },
    }
    const decoder = new avsc.streams.BlockDecoder({
      codecs: { ...avsc.streams.BlockDecoder.defaultCodecs?.(), ...codecs },
    })
    for await (const order of Readable.from([file]).pipe(decoder)) read.push(order)
    expect(read.map(({ id, note }) => ({ id, note }))).toEqual(orders)
  })

  it('has the same bytes each time, and another marker for each name', () => {
    expect(encoded(avro('deflate'), orders).equals(encoded(avro('deflate'), orders))).toBe(true)
    expect(encoded(avro('null'), [], 'a').equals(encoded(avro('null'), [], 'b'))).toBe(false)
  })

  it('is as before after a value that does not fit, and after one that is removed', () => {
    const encoder = fileFormat(avro('null')).open(ORDER, 'name')
    encoder.add(orders[0], ORDER)
    expect(() => encoder.add({ id: 'text' }, ORDER)).toThrow()
    encoder.add(orders[1], ORDER)
    encoder.removeLast()
    encoder.add(orders[2], ORDER)
    expect(encoder.end().equals(encoded(avro('null'), [orders[0], orders[2]]))).toBe(true)
  })

  it('is refused for values without a schema', () => {
    expect(() => fileFormat(avro('null')).open(null, 'name')).toThrow('without a schema')
  })
})

describe('a file of lines', () => {
  it('has a line of JSON for each value', () => {
    expect(encoded(JSON_LINES, orders.slice(0, 2)).toString()).toBe('{"id":0,"note":null}\n{"id":1,"note":"note 1"}\n')
  })

  it('is as before after a value that does not fit, and after one that is removed', () => {
    const encoder = fileFormat(JSON_LINES).open(ORDER, 'name')
    encoder.add(orders[0], ORDER)
    expect(() => encoder.add({ id: 'text' }, ORDER)).toThrow()
    encoder.add(orders[1], ORDER)
    encoder.removeLast()
    expect(encoder.end().toString()).toBe('{"id":0,"note":null}\n')
  })
})

describe('a file of bytes', () => {
  it('has the separator after each value', () => {
    const encoder = fileFormat(BYTES).open(null, 'name')
    encoder.add(Buffer.from('a'), null)
    encoder.add(Buffer.from('b'), null)
    encoder.removeLast()
    encoder.add(Buffer.from('c'), null)
    expect(() => encoder.add('text', null)).toThrow('expected bytes')
    expect(encoder.length).toBe(4)
    expect(encoder.end().toString()).toBe('a|c|')
  })
})
