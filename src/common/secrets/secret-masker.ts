import { isUtf8 } from 'node:buffer'
import {
  type DecodedText,
  findEncodedRuns,
  hasEscapes,
  normalize,
  normalizeBytes,
  removeEscapes,
  toLowerCaseAscii,
} from './secret-encodings.ts'
import { FRAGMENT_BYTES, SECRET_BYTES_MIN, SecretFragments, type Span } from './secret-fragments.ts'
import { credentialsIn, MASK } from './secret-keys.ts'

/** How long a value is still masked after its last holder released it: messages with it may still be in transit. */
const KEPT_MS = 3_600_000
/** Maximum total size of released values; the oldest are forgotten first. */
const KEPT_CHARS_MAX = 262_144
/** Maximum depth of nested encodings. */
const DECODED_DEPTH = 3

/**
 * Masks secret values in texts as they become known. A value is found in any spelling: trimmed, wrapped, quoted,
 * escaped (URLs, forms, JSON, HTML; also repeatedly), in base64, hexadecimal or as bytes, alone or inside other encoded
 * text, in other case, truncated, or split like a list.
 */
export class SecretMasker {
  readonly #fragments = new SecretFragments()
  readonly #held = new Map<string, ReadonlySet<string>>()
  /** Number of holders of each value. */
  readonly #holders = new Map<string, number>()
  /** Released values and until when they are masked, oldest first. */
  readonly #kept = new Map<string, number>()
  #keptChars = 0
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Adds values permanently. */
  add(values: Iterable<string>): void {
    this.hold('', [...(this.#held.get('') ?? []), ...values])
  }

  /** Sets the values of a holder; its previous values are masked for another hour. */
  hold(holder: string, values: Iterable<string>): void {
    const before = this.#held.get(holder) ?? new Set<string>()
    const current = new Set([...values].map((value) => value.trim()).filter(isLongEnough))
    for (const value of current) if (!before.has(value)) this.#take(value)
    if (current.size > 0) this.#held.set(holder, current)
    else this.#held.delete(holder)
    for (const value of before) if (!current.has(value)) this.#keep(value)
    this.#forgetOld()
  }

  /** Masks values without a holder for an hour, such as those of a configuration that is only validated. */
  notice(values: Iterable<string>): void {
    this.hold(NO_HOLDER, values)
    this.hold(NO_HOLDER, [])
  }

  /** Number of released values that are still masked. */
  get noticed(): number {
    return this.#kept.size
  }

  mask(text: string): string {
    if (this.#fragments.size === 0 || text.length < SECRET_BYTES_MIN) return text
    const bytes = Buffer.from(text)
    const spans = this.#find(bytes, DECODED_DEPTH)
    if (spans.length === 0) return text
    let masked = ''
    let end = 0
    for (const span of merged(spans, bytes)) {
      masked += `${bytes.toString('utf8', end, span.start)}${MASK}`
      end = span.end
    }
    return masked + bytes.toString('utf8', end)
  }

  /** Masks all strings of the data, including object keys. */
  maskData<T>(data: T): T {
    return this.#fragments.size === 0 ? data : (mapTexts(data, (text) => this.mask(text)) as T)
  }

  #find(bytes: Buffer, depth: number): Span[] {
    const plain = hasEscapes(bytes) ? removeEscapes(bytes) : { bytes }
    const spans: Span[] = [...this.#fragments.find(toLowerCaseAscii(bytes))]
    // Most texts contain no secret: the positions in the original are only computed for the others.
    if (this.#fragments.has(normalizeBytes(plain.bytes))) {
      const packed = normalize('starts' in plain ? plain : removeEscapes(bytes))
      const isGap = (at: number) => packed.starts[at] !== packed.ends[at - 1]
      for (const span of this.#fragments.find(packed.bytes, isGap)) spans.push(spanIn(packed, span))
    }
    if (depth === 0) return spans
    for (const { start, end, decoded } of findEncodedRuns(plain.bytes)) {
      if (!decoded.some((one) => this.#isIn(one, depth - 1))) continue
      spans.push('starts' in plain ? spanIn(plain, { start, end }) : { start, end })
    }
    return spans
  }

  /** Decoded text may be encoded again. */
  #isIn(decoded: Buffer, depth: number): boolean {
    if (this.#fragments.has(toLowerCaseAscii(decoded))) return true
    return isText(decoded) && this.#find(decoded, depth).length > 0
  }

  #take(value: string): void {
    const holders = this.#holders.get(value) ?? 0
    this.#holders.set(value, holders + 1)
    if (holders === 0) for (const pattern of patternsOf(value)) this.#fragments.add(pattern)
  }

  #keep(value: string): void {
    if (this.#kept.delete(value)) this.#release(value)
    else this.#keptChars += value.length
    this.#kept.set(value, this.#nowMs() + KEPT_MS)
  }

  #forgetOld(): void {
    const nowMs = this.#nowMs()
    for (const [value, untilMs] of this.#kept) {
      if (untilMs > nowMs && this.#keptChars <= KEPT_CHARS_MAX) return
      this.#kept.delete(value)
      this.#keptChars -= value.length
      this.#release(value)
    }
  }

  #release(value: string): void {
    const holders = (this.#holders.get(value) ?? 1) - 1
    if (holders > 0) {
      this.#holders.set(value, holders)
      return
    }
    this.#holders.delete(value)
    for (const pattern of patternsOf(value)) this.#fragments.remove(pattern)
  }
}

const NO_HOLDER = 'nobody'

function isLongEnough(value: string): boolean {
  return value.length >= SECRET_BYTES_MIN
}

function spanIn({ starts, ends }: DecodedText, { start, end }: Span): Span {
  return { start: starts[start]!, end: ends[end - 1]! }
}

/** Merges ranges and extends them to whole characters. */
function merged(spans: readonly Span[], bytes: Buffer): readonly Span[] {
  const whole = spans.map(({ start, end }) => {
    while (start > 0 && isInside(bytes, start)) start -= 1
    while (end < bytes.length && isInside(bytes, end)) end += 1
    return { start, end }
  })
  const ordered: { start: number; end: number }[] = []
  for (const span of whole.sort((a, b) => a.start - b.start)) {
    const last = ordered.at(-1)
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end)
    else ordered.push(span)
  }
  return ordered
}

/** Most text that is decoded with the wrong encoding is binary. */
function isText(bytes: Buffer): boolean {
  let printable = 0
  for (const byte of bytes) if (byte >= 0x20 && byte < 0x7f) printable += 1
  return printable * 4 >= bytes.length * 3 || isUtf8(bytes)
}

function isInside(bytes: Buffer, at: number): boolean {
  return (bytes[at]! & 0xc0) === 0x80
}

/**
 * The patterns of a value: as it is and without escapes, as a whole and in parts, in the cases that ASCII folding does
 * not cover.
 */
function patternsOf(value: string): readonly Buffer[] {
  const cases = /[^\0-\x7f]/.test(value) ? [value, value.toLowerCase(), value.toUpperCase()] : [value]
  const texts = [...cases, ...partsOf(value)].map((text) => Buffer.from(text))
  const spelled = texts.flatMap((bytes) => [
    toLowerCaseAscii(bytes),
    Buffer.from(normalize(removeEscapes(bytes)).bytes),
  ])
  const distinct = new Map(spelled.map((pattern) => [pattern.toString('latin1'), pattern]))
  return [...distinct.values()]
}

/** Short parts of lists, lines and settings with credentials. Longer parts are found as fragments. */
function partsOf(value: string): readonly string[] {
  const listed = value.split(/[,;\n]/).map((part) => part.trim())
  const parts = [...(listed.length > 1 ? listed : []), ...credentialsIn(value)]
  return parts.filter((part) => isLongEnough(part) && Buffer.byteLength(part) < FRAGMENT_BYTES)
}

function mapTexts(data: unknown, map: (text: string) => string): unknown {
  if (typeof data === 'string') return map(data)
  if (Array.isArray(data)) return data.map((item) => mapTexts(item, map))
  if (typeof data === 'number' || typeof data === 'bigint' || data instanceof Number) {
    return map(String(data)) === String(data) ? data : MASK
  }
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [map(key), mapTexts(value, map)]))
}
