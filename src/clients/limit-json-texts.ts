/** Limits of the strings in a JSON document, in bytes as they are written. */
export type JsonTextLimits = {
  /** The limit of each string, by the name of its member or of its array; `*`: of any other member. Absent: no limit. */
  readonly bytesMax: Readonly<Record<string, number>>
  /** Limit of all limited strings together; each further one keeps `SHORT_BYTES`. */
  readonly totalBytesMax: number
}

/** The least limit of a string. A name of a member may be limited as well, so it is longer than those that the programs use. */
const SHORT_BYTES = 256
const NAME_BYTES_MAX = 128
/** An escape sequence is at most this long, and begins with a backslash. */
const ESCAPE_BYTES_MAX = 6

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET = 0x5b
const BACKSLASH = 0x5c
const LETTER_U = 0x75
/** A line break inside of a string. */
const LINE_BREAK = '\\n'

/**
 * Shortens the strings of a JSON document that are longer than their limits while it is read, so that they are never in
 * memory as a whole. The beginning and the end of a string are kept, because a stack trace begins with the failure and ends
 * with its root cause. A document that is not JSON is passed on as it is.
 */
export async function* limitJsonTexts(
  document: AsyncIterable<Buffer>,
  limits: JsonTextLimits,
): AsyncGenerator<Buffer, void> {
  const limiter = new JsonTextLimiter(limits)
  for await (const chunk of document) yield* limiter.take(chunk)
  yield* limiter.end()
}

class JsonTextLimiter {
  readonly #limits: JsonTextLimits
  #usedBytes = 0
  #isInText = false
  #isEscaped = false
  /** The text that is being read, if it is limited. */
  #limited: LimitedText | undefined
  /** The beginning of the last text, which is a name if a colon follows. */
  #lastText = ''
  #member = ''
  /** The last byte outside of texts that is no white space. */
  #before = 0

  constructor(limits: JsonTextLimits) {
    this.#limits = limits
  }

  *take(chunk: Buffer): Generator<Buffer, void> {
    let from = 0
    for (let at = this.#nextQuote(chunk, from); at >= 0; at = this.#nextQuote(chunk, from)) {
      yield* this.#takePart(chunk.subarray(from, at))
      yield* this.end()
      yield chunk.subarray(at, at + 1)
      from = at + 1
      this.#isInText = !this.#isInText
      if (this.#isInText) this.#beginText()
    }
    yield* this.#takePart(chunk.subarray(from))
  }

  #nextQuote(chunk: Buffer, from: number): number {
    return this.#isInText ? this.#closingQuote(chunk, from) : this.#openingQuote(chunk, from)
  }

  #closingQuote(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) return at
    }
    return -1
  }

  #openingQuote(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === QUOTE) return at
      if (byte <= SPACE) continue
      if (byte === COLON) this.#member = this.#lastText
      this.#before = byte
    }
    return -1
  }

  /** Ends the text that is being read. */
  *end(): Generator<Buffer, void> {
    const text = this.#limited?.end()
    this.#limited = undefined
    if (text === undefined) return
    this.#usedBytes += text.length
    yield text
  }

  #beginText(): void {
    this.#lastText = ''
    const isValue = this.#before === COLON || this.#before === COMMA || this.#before === BRACKET
    const { bytesMax, totalBytesMax } = this.#limits
    const limit = isValue ? (bytesMax[this.#member] ?? bytesMax['*']) : undefined
    if (limit === undefined) return
    this.#limited = new LimitedText(Math.max(SHORT_BYTES, this.#usedBytes < totalBytesMax ? limit : 0))
  }

  /** A part of a text, or of what is between two texts. */
  *#takePart(bytes: Buffer): Generator<Buffer, void> {
    if (this.#isInText && this.#lastText.length < NAME_BYTES_MAX)
      this.#lastText += bytes.toString('latin1', 0, NAME_BYTES_MAX - this.#lastText.length)
    if (this.#limited === undefined) yield bytes
    else this.#limited.take(bytes)
  }
}

/** Keeps the beginning and the end of a text. */
class LimitedText {
  readonly #bytesMax: number
  #bytes = 0
  /** The first `bytesMax` bytes. */
  #first: Buffer = Buffer.alloc(0)
  /** The last bytes of those that follow. */
  #last: Buffer = Buffer.alloc(0)

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  take(bytes: Buffer): void {
    const free = this.#bytesMax - this.#first.length
    if (free > 0) this.#first = Buffer.concat([this.#first, bytes.subarray(0, free)])
    const rest = bytes.subarray(Math.max(0, free))
    if (rest.length > 0) this.#last = endOf(Buffer.concat([this.#last, endOf(rest, this.#bytesMax)]), this.#bytesMax)
    this.#bytes += bytes.length
  }

  end(): Buffer {
    if (this.#bytes <= this.#bytesMax) return this.#first
    const half = Math.floor(this.#bytesMax / 2)
    const beginning = this.#first.subarray(0, half)
    const end = endOf(Buffer.concat([this.#first, this.#last]), half)
    const kept = [beginning.subarray(0, cutBefore(beginning)), end.subarray(cutAfter(end))] as const
    const omitted = this.#bytes - kept[0].length - kept[1].length
    return Buffer.concat([kept[0], Buffer.from(`… (${omitted} more bytes) …`), kept[1]])
  }
}

function endOf(bytes: Buffer, length: number): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - length))
}

/** Where the beginning of a text is cut: at the last line break of its second half, so that no word is divided, or at any character. */
function cutBefore(beginning: Buffer): number {
  const lineBreak = beginning.lastIndexOf(LINE_BREAK)
  if (lineBreak > beginning.length / 2 && isBoundary(beginning, lineBreak)) return lineBreak
  let at = 0
  for (let next = 0; next <= beginning.length; next += characterBytes(beginning, next)) at = next
  return at
}

/** The length of the character or of the escape sequence at a position. */
function characterBytes(bytes: Buffer, at: number): number {
  const byte = bytes[at]!
  if (byte === BACKSLASH) return bytes[at + 1] === LETTER_U ? ESCAPE_BYTES_MAX : 2
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}

function cutAfter(end: Buffer): number {
  const lineBreak = end.indexOf(LINE_BREAK, ESCAPE_BYTES_MAX)
  if (lineBreak >= 0 && lineBreak < end.length / 2 && isBoundary(end, lineBreak)) return lineBreak
  let at = ESCAPE_BYTES_MAX
  while (at < end.length && !isBoundary(end, at)) at += 1
  return at
}

/**
 * Whether the position is certainly between two characters: not inside of a character of UTF-8 or of an escape sequence. Only
 * the bytes before it are known.
 */
function isBoundary(bytes: Buffer, at: number): boolean {
  if (((bytes[at] ?? 0) & 0xc0) === 0x80) return false
  return !bytes.subarray(Math.max(0, at - ESCAPE_BYTES_MAX + 1), at).includes(BACKSLASH)
}
