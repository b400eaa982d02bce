import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { crc32, deflateRawSync } from 'node:zlib'
import { BinaryWriter } from '../../common/binary-writer.ts'
import { avroFormat, type ParsedAvro } from '../../formats/avro/avro-format.ts'
import type { AvroWrite } from '../../formats/avro/writer.ts'
import type { Schema } from '../../sdk/index.ts'
import { type ToAvroOptions, toAvroText } from './to-avro.ts'
import { valueWriter } from './value-writer.ts'

export const AVRO_CODECS = ['null', 'deflate', 'snappy'] as const
export type AvroCodec = (typeof AVRO_CODECS)[number]

const MAGIC = Buffer.from('Obj\u0001')
/** As Java's writer: a block ends with the value that makes it at least as long. */
const BLOCK_BYTES = 64_000

/**
 * Writes an object container file of Avro with the values of one Connect schema. The same values make the same bytes: the marker between
 * blocks, which others choose at random, is derived from `name`.
 */
export class AvroFileWriter {
  readonly #write: AvroWrite
  readonly #codec: AvroCodec
  readonly #marker: Buffer
  readonly #block = new BinaryWriter()
  #values = 0
  #lastStart = 0
  #ready: Buffer[]
  #readyBytes: number

  /** Throws a `DataError` if Avro cannot represent the schema. */
  constructor(schema: Schema, name: string, codec: AvroCodec, options: ToAvroOptions) {
    const text = toAvroText(schema, options)
    const { schema: avro } = avroFormat.parse({ text }, { validation: 'loose' }) as ParsedAvro
    this.#write = valueWriter(schema, avro, { scrub: options.scrub === true, keepNulls: false })
    this.#codec = codec
    this.#marker = createHash('sha256').update(name).digest().subarray(0, 16)
    const header = headerOf(text, codec, this.#marker)
    this.#ready = [header]
    this.#readyBytes = header.length
  }

  /** Throws a `DataError` for a value that does not fit, and adds nothing of it. */
  add(value: unknown): void {
    if (this.#block.length >= BLOCK_BYTES) this.#endBlock()
    this.#lastStart = this.#block.length
    try {
      this.#write(this.#block, value)
    } catch (error) {
      this.#block.truncate(this.#lastStart)
      throw error
    }
    this.#values += 1
  }

  /** Removes the value that was added last. Can be called once after each `add`. */
  removeLast(): void {
    this.#block.truncate(this.#lastStart)
    this.#values -= 1
  }

  /** Bytes that were not taken. */
  get length(): number {
    return this.#readyBytes + this.#block.length
  }

  /** The complete blocks since the last call. */
  take(): Buffer {
    const taken = Buffer.concat(this.#ready)
    this.#ready = []
    this.#readyBytes = 0
    return taken
  }

  /** The rest of the file. */
  end(): Buffer {
    if (this.#values > 0) this.#endBlock()
    return this.take()
  }

  #endBlock(): void {
    const data = compress(this.#block.take(), this.#codec)
    const head = new BinaryWriter(32)
    head.zigzag(this.#values)
    head.zigzag(data.length)
    this.#ready.push(head.take(), data, this.#marker)
    this.#readyBytes += data.length + 32
    this.#values = 0
    this.#lastStart = 0
  }
}

function headerOf(schema: string, codec: AvroCodec, marker: Buffer): Buffer {
  const metadata = { 'avro.schema': schema, 'avro.codec': codec }
  const writer = new BinaryWriter()
  writer.zigzag(Object.keys(metadata).length)
  for (const text of Object.entries(metadata).flat()) writer.zigzagText(text)
  writer.zigzag(0)
  return Buffer.concat([MAGIC, writer.take(), marker])
}

function compress(block: Buffer, codec: AvroCodec): Buffer {
  switch (codec) {
    case 'null':
      return block
    case 'deflate':
      return deflateRawSync(block)
    case 'snappy': {
      const checksum = Buffer.alloc(4)
      checksum.writeUInt32BE(crc32(block))
      return Buffer.concat([snappy().compressSync(block), checksum])
    }
  }
}

let loaded: typeof import('snappy') | undefined

/** Loaded with the first block, because it is native code. */
function snappy(): typeof import('snappy') {
  loaded ??= createRequire(import.meta.url)('snappy') as typeof import('snappy')
  return loaded
}
