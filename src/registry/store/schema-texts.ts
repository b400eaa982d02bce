import { createRequire } from 'node:module'

/** Size of a block before compression, in characters. A longer text has a block of its own. */
const BLOCK_CHARS = 32 * 1024
/** Loaded when the first block is full. LZ4 takes a tenth of the time of zstd and zlib for blocks of this size. */
let lz4: typeof import('lz4-napi') | undefined

/** Texts that are compressed together. */
type Block = {
  readonly number: number
  /** The texts by their start, until the block is full. */
  open: Map<number, string> | undefined
  chars: number
  /** Compressed, when the block is full. */
  bytes: Buffer
  encoding: 'latin1' | 'utf16le'
}

/** Reads a text. It remains readable after it was removed from the store. */
export type StoredText = { readonly block: Block; readonly start: number; readonly length: number }

/**
 * Stores texts in compressed blocks, because a registry has many similar schemas and reads few of them. The last used
 * texts are cached uncompressed.
 */
export class SchemaTexts {
  readonly #cachedMax: number
  /** Least recently used first. The key has the number of the block and the start in it. */
  readonly #cached = new Map<number, string>()
  #open = newBlock(0)
  /** The block that was decompressed last. The next text is often from the same. */
  #decompressed: { readonly block: Block; readonly bytes: Buffer } | undefined

  /** `cachedMax`: maximum number of texts in the cache. */
  constructor(cachedMax: number) {
    this.#cachedMax = cachedMax
  }

  add(text: string): StoredText {
    if (this.#open.chars > 0 && this.#open.chars + text.length > BLOCK_CHARS) this.#close()
    const block = this.#open
    const stored = { block, start: block.chars, length: text.length }
    if (text === '') return stored
    block.open?.set(stored.start, text)
    block.chars += text.length
    return stored
  }

  read({ block, start, length }: StoredText): string {
    const open = openText(block, start, length)
    if (open !== undefined) return open
    // A block of more than `BLOCK_CHARS` has one text, which starts at 0.
    const key = block.number * (BLOCK_CHARS + 1) + start
    const cached = this.#cached.get(key)
    if (cached !== undefined) this.#cached.delete(key)
    const text = cached ?? this.#decompress(block, start, length)
    const oldest = this.#cached.keys().next().value
    if (oldest !== undefined && this.#cached.size >= this.#cachedMax) this.#cached.delete(oldest)
    this.#cached.set(key, text)
    return text
  }

  /** Reads a text that is not read again soon: it is not cached. */
  readOnce({ block, start, length }: StoredText): string {
    return openText(block, start, length) ?? this.#decompress(block, start, length)
  }

  #decompress(block: Block, start: number, length: number): string {
    if (this.#decompressed?.block !== block) this.#decompressed = { block, bytes: codec().uncompressSync(block.bytes) }
    const { bytes } = this.#decompressed
    const width = block.encoding === 'latin1' ? 1 : 2
    // Copies the characters: a slice of a string would keep the whole string in memory.
    return bytes.toString(block.encoding, start * width, (start + length) * width)
  }

  #close(): void {
    const block = this.#open
    const text = [...block.open!.values()].join('')
    // UTF-8 would replace lone surrogates.
    block.encoding = Buffer.byteLength(text) === text.length ? 'latin1' : 'utf16le'
    block.bytes = codec().compressSync(Buffer.from(text, block.encoding))
    block.open = undefined
    this.#open = newBlock(block.number + 1)
  }
}

/** The text if it is not compressed. */
function openText(block: Block, start: number, length: number): string | undefined {
  return length === 0 ? '' : block.open?.get(start)
}

function codec(): typeof import('lz4-napi') {
  lz4 ??= createRequire(import.meta.url)('lz4-napi') as typeof import('lz4-napi')
  return lz4
}

function newBlock(number: number): Block {
  return { number, open: new Map(), chars: 0, bytes: Buffer.alloc(0), encoding: 'latin1' }
}
