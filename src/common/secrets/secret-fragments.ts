/** A secret of at least this many bytes is recognized by any fragment of this length; a shorter one as a whole. */
export const FRAGMENT_BYTES = 12
/** A shorter secret matches whole words only, so that `prod` does not mask part of `product`. */
const WORD_BYTES = 8
/** A shorter value cannot be distinguished from other text. */
export const SECRET_BYTES_MIN = 4
/** Only the beginning of a longer value is recognized, to bound memory. */
const PATTERN_BYTES_MAX = 16_384
const FILTER_BITS_PER_FRAGMENT = 32

/** A range of bytes: `start` inclusive, `end` exclusive. */
export type Span = { readonly start: number; readonly end: number }

/**
 * Finds fragments of all secrets in one pass over a text: a filter over four bytes selects few positions, where
 * fragments of each length are looked up. The time depends on the text, not on the number of secrets.
 */
export class SecretFragments {
  /** Reference count of each fragment, by its bytes as Latin-1. */
  readonly #counts = new Map<string, number>()
  /** Number of fragments of each length. */
  readonly #lengths = new Uint32Array(FRAGMENT_BYTES + 1)
  #filter = new Uint32Array(32)
  #filterShift = 32 - 10

  get size(): number {
    return this.#counts.size
  }

  add(pattern: Buffer): void {
    for (const fragment of fragmentsOf(pattern)) {
      const count = this.#counts.get(fragment) ?? 0
      this.#counts.set(fragment, count + 1)
      if (count > 0) continue
      this.#lengths[fragment.length]! += 1
      if (this.#counts.size * FILTER_BITS_PER_FRAGMENT > this.#filter.length * 32) this.#growFilter()
      else this.#admit(fragment)
    }
  }

  remove(pattern: Buffer): void {
    for (const fragment of fragmentsOf(pattern)) {
      const count = this.#counts.get(fragment) ?? 0
      if (count > 1) this.#counts.set(fragment, count - 1)
      else if (this.#counts.delete(fragment)) this.#lengths[fragment.length]! -= 1
    }
  }

  /**
   * The ranges of fragments in a text, merged and in order. `isGap` tells whether something was removed before a byte.
   */
  find(text: Buffer, isGap: (at: number) => boolean = () => false): readonly Span[] {
    const spans: { start: number; end: number }[] = []
    if (this.#counts.size === 0 || text.length < SECRET_BYTES_MIN) return spans
    let window = (text[0]! << 8) | (text[1]! << 16) | (text[2]! << 24)
    for (let at = 0; at + SECRET_BYTES_MIN <= text.length; at++) {
      window = (window >>> 8) | (text[at + 3]! << 24)
      if (!this.#mayBegin(window)) continue
      const length = this.#longestAt(text, at, isGap)
      if (length === 0) continue
      const last = spans.at(-1)
      if (last !== undefined && at < last.end) last.end = Math.max(last.end, at + length)
      else spans.push({ start: at, end: at + length })
    }
    return spans
  }

  /** Whether `find` would find anything, including short words inside other words. */
  has(text: Buffer): boolean {
    return this.find(text, () => true).length > 0
  }

  #longestAt(text: Buffer, at: number, isGap: (at: number) => boolean): number {
    for (let length = Math.min(FRAGMENT_BYTES, text.length - at); length >= SECRET_BYTES_MIN; length--) {
      if (this.#lengths[length] === 0 || !this.#counts.has(text.toString('latin1', at, at + length))) continue
      if (length >= WORD_BYTES || isWord(text, at, at + length, isGap)) return length
    }
    return 0
  }

  #mayBegin(window: number): boolean {
    const bit = Math.imul(window, HASH_FACTOR) >>> this.#filterShift
    return (this.#filter[bit >>> 5]! & (1 << (bit & 31))) !== 0
  }

  #admit(fragment: string): void {
    const window =
      fragment.charCodeAt(0) |
      (fragment.charCodeAt(1) << 8) |
      (fragment.charCodeAt(2) << 16) |
      (fragment.charCodeAt(3) << 24)
    const bit = Math.imul(window, HASH_FACTOR) >>> this.#filterShift
    this.#filter[bit >>> 5]! |= 1 << (bit & 31)
  }

  #growFilter(): void {
    this.#filter = new Uint32Array(this.#filter.length * 4)
    this.#filterShift -= 2
    for (const fragment of this.#counts.keys()) this.#admit(fragment)
  }
}

const HASH_FACTOR = 0x9e3779b1

function fragmentsOf(pattern: Buffer): ReadonlySet<string> {
  const bytes = Math.min(pattern.length, PATTERN_BYTES_MAX)
  if (bytes < SECRET_BYTES_MIN) return new Set()
  const length = Math.min(bytes, FRAGMENT_BYTES)
  return new Set(
    Array.from({ length: bytes - length + 1 }, (_, at) => pattern.toString('latin1', at, at + length)).filter(
      (fragment) => !COMMON_TEXTS.has(fragment),
    ),
  )
}

/** Common text of configurations, which is not secret. */
const COMMON_TEXTS: ReadonlySet<string> = new Set(
  [
    'org.apache.kafka.common.security.scram.scramloginmodule required username=',
    'org.apache.kafka.common.security.plain.plainloginmodule required username=',
    'org.apache.kafka.common.security.oauthbearer.oauthbearerloginmodule required',
    'org.apache.kafka.connect.json.jsonconverter',
    'org.apache.kafka.connect.storage.stringconverter',
    'io.confluent.connect.avro.avroconverter',
    'io.confluent.connect.protobuf.protobufconverter',
    'jdbc:postgresql://localhost:5432/',
    'jdbc:sqlserver://',
    'http://localhost:',
    'https://localhost:',
    '-----begin private key-----',
    '-----begin encrypted private key-----',
    '-----begin rsa private key-----',
    '-----begin certificate-----',
    '-----end private key-----',
    '-----end certificate-----',
  ].flatMap((text) =>
    Array.from({ length: text.length - FRAGMENT_BYTES + 1 }, (_, at) => text.slice(at, at + FRAGMENT_BYTES)),
  ),
)

function isWord(text: Buffer, start: number, end: number, isGap: (at: number) => boolean): boolean {
  const begins = start === 0 || isGap(start) || !isWordByte(text[start - 1]!) || !isWordByte(text[start]!)
  return begins && (end === text.length || isGap(end) || !isWordByte(text[end]!) || !isWordByte(text[end - 1]!))
}

/** ASCII letters and digits. */
function isWordByte(byte: number): boolean {
  return (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
}
