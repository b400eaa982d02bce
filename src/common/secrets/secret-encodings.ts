/** A transformed text: its bytes, and for each byte its range in the original. */
export type DecodedText = {
  readonly bytes: Buffer
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

const [PERCENT, BACKSLASH, AMPERSAND, SEMICOLON, SPACE] = [0x25, 0x5c, 0x26, 0x3b, 0x20]
const [LOWER_X, LOWER_U] = [0x78, 0x75]
/** The longest supported entity, `&quot;`, without the semicolon. */
const ENTITY_BYTES_MAX = 5
const ENTITIES: Readonly<Record<string, number>> = {
  '&amp': 0x26,
  '&lt': 0x3c,
  '&gt': 0x3e,
  '&quot': 0x22,
  '&apos': 0x27,
  '&#34': 0x22,
  '&#38': 0x26,
  '&#39': 0x27,
  '&#x27': 0x27,
}

/** Maps ASCII letters to lower case. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte))
/** Bytes that wrapping, joining and quoting add: whitespace, `+` (a space in forms), quotes and remains of escapes. */
const IS_PADDING = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= SPACE || '+"\'`\\'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

/** Converts ASCII letters to lower case. */
export function toLowerCaseAscii(bytes: Buffer): Buffer {
  const folded = Buffer.allocUnsafe(bytes.length)
  for (let at = 0; at < bytes.length; at++) folded[at] = FOLDED[bytes[at]!]!
  return folded
}

/** Whether `removeEscapes` may change the text. */
export function hasEscapes(bytes: Buffer): boolean {
  return bytes.includes(PERCENT) || bytes.includes(BACKSLASH) || bytes.includes(AMPERSAND)
}

/**
 * Removes the escapes of URLs (`%2F`), of JSON and other languages (`\n`, `\"`, `\u00e4`, `\x2f`) and of HTML
 * (`&amp;`), also if a text was escaped several times.
 */
export function removeEscapes(bytes: Buffer): DecodedText {
  const out: DecodedText = {
    bytes: Buffer.allocUnsafe(bytes.length),
    starts: new Uint32Array(bytes.length),
    ends: new Uint32Array(bytes.length),
  }
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    out.bytes[length] = bytes[at]!
    out.starts[length] = at
    out.ends[length] = at + 1
    length = reduce(out, length + 1)
  }
  return { ...out, bytes: out.bytes.subarray(0, length) }
}

/**
 * Replaces the escape at the end, repeatedly if the result is an escape again. Returns the new length. It is no recursion,
 * because a text of `%3` times 10,000 and `%35` would need the whole stack.
 */
function reduce(out: DecodedText, length: number): number {
  let end = length
  for (let found = escapeAt(out.bytes, end); found !== undefined; found = escapeAt(out.bytes, end)) {
    end = replaceEnd(out, end, found.count, found.by)
  }
  return end
}

function escapeAt(bytes: Buffer, length: number): Escape | undefined {
  return (
    (bytes[length - 1] === SEMICOLON ? entityAt(bytes, length) : hexAt(bytes, length)) ?? backslashAt(bytes, length)
  )
}

/** The number of bytes at the end, and their replacement. */
type Escape = { readonly count: number; readonly by: ArrayLike<number> }

/** `\n`, `\"`, `\\`; `\u` and `\x` are handled with their digits. */
function backslashAt(bytes: Buffer, length: number): Escape | undefined {
  const last = bytes[length - 1]!
  if (length < 2 || bytes[length - 2] !== BACKSLASH || last === LOWER_U || last === LOWER_X) return undefined
  return { count: 2, by: [CONTROL_ESCAPES.has(last) ? SPACE : last] }
}

const CONTROL_ESCAPES: ReadonlySet<number> = new Set(Buffer.from('nrtbfNRTBF'))

/** `%2F`, `\x2f`, `\u002f` */
function hexAt(bytes: Buffer, length: number): Escape | undefined {
  if (length < 3 || hexOf(bytes[length - 1]!) < 0 || hexOf(bytes[length - 2]!) < 0) return undefined
  const byte = hexOf(bytes[length - 2]!) * 16 + hexOf(bytes[length - 1]!)
  const before = bytes[length - 3]!
  if (before === PERCENT) return { count: 3, by: [byte] }
  if (before === LOWER_X && bytes[length - 4] === BACKSLASH) return { count: 4, by: [byte] }
  if (bytes[length - 5] !== LOWER_U || bytes[length - 6] !== BACKSLASH) return undefined
  const high = hexOf(bytes[length - 4]!) * 16 + hexOf(before)
  const isHex = hexOf(bytes[length - 4]!) >= 0 && hexOf(before) >= 0
  return isHex ? { count: 6, by: Buffer.from(String.fromCharCode(high * 256 + byte)) } : undefined
}

/** `&amp;` */
function entityAt(bytes: Buffer, length: number): Escape | undefined {
  let from = length - 2
  while (from > length - 2 - ENTITY_BYTES_MAX && bytes[from] !== AMPERSAND) from -= 1
  if (from < 0 || bytes[from] !== AMPERSAND) return undefined
  const byte = ENTITIES[bytes.toString('latin1', from, length - 1).toLowerCase()]
  return byte === undefined ? undefined : { count: length - from, by: [byte] }
}

/** Replaces the last bytes by `by`, which is not longer. Returns the new length. */
function replaceEnd(
  { bytes, starts, ends }: DecodedText,
  length: number,
  count: number,
  by: ArrayLike<number>,
): number {
  const [start, end] = [starts[length - count]!, ends[length - 1]!]
  for (let at = 0; at < by.length; at++) {
    bytes[length - count + at] = by[at]!
    starts[length - count + at] = start
    ends[length - count + at] = end
  }
  return length - count + by.length
}

/** Converts to lower case and removes padding. */
export function normalize({ bytes, starts, ends }: DecodedText): DecodedText {
  const packed = normalizeBytes(bytes)
  const out = { bytes: packed, starts: new Uint32Array(packed.length), ends: new Uint32Array(packed.length) }
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    if (IS_PADDING[bytes[at]!] === 1) continue
    out.starts[length] = starts[at]!
    out.ends[length] = ends[at]!
    length += 1
  }
  return out
}

export function normalizeBytes(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (IS_PADDING[byte] === 0) out[length++] = FOLDED[byte]!
  }
  return out.subarray(0, length)
}

/** A run of encoded bytes: its range, and what it may decode to. */
export type EncodedRun = { readonly start: number; readonly end: number; readonly decoded: readonly Buffer[] }

type Encoding = { readonly runs: RegExp; readonly decode: (run: string) => readonly Buffer[] }

const ENCODINGS: readonly Encoding[] = [
  // Base64 of both alphabets. The offset within a group of four is unknown if other text directly precedes it.
  {
    runs: /[\w+/-]{6,}/g,
    decode: (run) =>
      /[A-Z]/.test(run) && /[a-z]/.test(run)
        ? [0, 1, 2, 3].map((skipped) => Buffer.from(run.slice(skipped), 'base64'))
        : [],
  },
  {
    runs: /[\da-f]{8,}/gi,
    decode: (run) => [Buffer.from(run, 'hex'), Buffer.from(run.slice(1), 'hex')],
  },
  // <Buffer 68 75 6e>, 68:75:6e
  {
    runs: /(?<![\da-f])(?:[\da-f]{2}[ +:,-]){3,}[\da-f]{2}(?![\da-f])/gi,
    decode: (run) => [Buffer.from(run.replace(/[^\da-f]/gi, ''), 'hex')],
  },
  // {"type":"Buffer","data":[104,117,110]}
  {
    runs: /(?<!\d)(?:\d{1,3}[\s+]{0,9},[\s+]{0,9}){3,}\d{1,3}(?!\d)/g,
    decode: (run) => [Buffer.from(run.split(',').map((byte) => Number.parseInt(byte.replaceAll('+', ' '), 10)))],
  },
]

/** Finds possible base64, hexadecimal and byte lists in a text. */
export function findEncodedRuns(bytes: Buffer): readonly EncodedRun[] {
  const text = bytes.toString('latin1')
  return ENCODINGS.flatMap(({ runs, decode }) =>
    [...text.matchAll(runs)].map(({ index, 0: run }) => ({
      start: index,
      end: index + run.length,
      decoded: decode(run),
    })),
  )
}

function hexOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  if (byte >= 97 && byte <= 102) return byte - 87
  return byte >= 65 && byte <= 70 ? byte - 55 : -1
}
