/** The dialect that decides what `.` and `\s` match. */
export type RegexDialect = 'java' | 'ecma'

/** Line terminators, which `.` does not match. */
const TERMINATORS: Readonly<Record<RegexDialect, string>> = {
  java: String.raw`\n\r\x{85}\x{2028}\x{2029}`,
  ecma: String.raw`\n\r\x{2028}\x{2029}`,
}

/** What `\s` and `\S` match, as members of a character class. */
const SPACES: Readonly<Record<RegexDialect, { readonly s: string; readonly S: string }>> = {
  java: { s: String.raw`\t-\r\x20`, S: String.raw`\x00-\x08\x0e-\x1f!-\x{10ffff}` },
  ecma: {
    s: String.raw`\t-\r\x20\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`,
    S:
      String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
      String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`,
  },
}

/** Tokens: surrogate pairs, other escapes and single characters; outside of a class also the start of groups. */
const INSIDE =
  /\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[A-Za-z]|\\[pP]\{\w+\}|\\.|[\s\S]/uy
const OUTSIDE =
  /\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[A-Za-z]|\\[pP]\{\w+\}|\\.|\(\?<?[^<]|[\s\S]/uy

/** Escapes with the same meaning in both syntaxes, outside and inside of a class. */
const SAME_OUTSIDE = /^\\(?:[dDwWbBfnrtv]|[^\sa-zA-Z0-9])$/
const SAME_INSIDE = /^\\(?:[dDwWfnrtv]|[^\sa-zA-Z0-9])$/
/** Groups that RE2 supports; look-ahead is not supported. */
const GROUP = /^\(\?(?::|[ims-]|<[=!A-Za-z_])$/

export type Re2SyntaxOptions = { readonly dialect: RegexDialect; readonly dotAll: boolean; readonly unicode: boolean }

/**
 * Translates a valid ECMAScript expression to the syntax of RE2. Returns undefined if RE2 cannot express it or the
 * translation might differ in meaning. One difference is accepted: with the flag `m`, only `\n` ends a line.
 */
export function toRe2Syntax(source: string, options: Re2SyntaxOptions): string | undefined {
  let isInClass = false
  let translated = ''
  for (let at = 0; at < source.length; ) {
    const pattern: RegExp = isInClass ? INSIDE : OUTSIDE
    pattern.lastIndex = at
    const [token = '', high, low]: readonly (string | undefined)[] = pattern.exec(source) ?? []
    at = pattern.lastIndex
    // RE2 treats a leading `]` as a member of the class; in ECMAScript the class is empty.
    if (!isInClass && token === '[' && /^\^?\]/.test(source.slice(at, at + 2))) return undefined
    const text = pairOf(high, low) ?? (isInClass ? insideClass(token, options) : outsideClass(token, options))
    if (text === undefined) return undefined
    translated += text
    isInClass = token === '[' || (isInClass && token !== ']')
  }
  return translated
}

function pairOf(high: string | undefined, low: string | undefined): string | undefined {
  if (high === undefined || low === undefined) return undefined
  const char = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16))
  return hex(char.codePointAt(0) ?? 0)
}

function outsideClass(token: string, { dialect, dotAll, unicode }: Re2SyntaxOptions): string | undefined {
  if (token === '.') return dotAll ? '.' : `[^${TERMINATORS[dialect]}]`
  if (token === '\\s') return `[${SPACES[dialect].s}]`
  if (token === '\\S') return `[${SPACES[dialect].S}]`
  if (token.startsWith('(?')) return GROUP.test(token) ? token : undefined
  if (!token.startsWith('\\') || SAME_OUTSIDE.test(token)) return token
  return escapedCharacter(token, unicode)
}

function insideClass(token: string, { dialect, unicode }: Re2SyntaxOptions): string | undefined {
  // In RE2, `[:alpha:]` inside a class is a named class.
  if (token === '[') return '\\['
  if (token === '\\b') return '\\x08'
  if (token === '\\s') return SPACES[dialect].s
  if (token === '\\S') return SPACES[dialect].S
  if (!token.startsWith('\\') || SAME_INSIDE.test(token)) return token
  return escapedCharacter(token, unicode)
}

function escapedCharacter(token: string, unicode: boolean): string | undefined {
  const [, kind = '', digits = ''] = /^\\([ucxpP0])\{?(.*?)\}?$/.exec(token) ?? []
  if (kind === 'p' || kind === 'P') return unicode ? token : undefined
  if (kind === 'c') return hex(digits.charCodeAt(0) % 32)
  if (kind === '0') return hex(0)
  if (kind === '' || digits === '') return undefined
  return token.includes('{') && !unicode ? undefined : hex(Number.parseInt(digits, 16))
}

function hex(code: number): string {
  return `\\x{${code.toString(16)}}`
}

const INSTRUCTION = /\\[pPx]\{[^}]*\}|\\.|\[\^?(?:\\[pPx]\{[^}]*\}|\\.|[^\\\]])*\]|\(|\)|\{(\d+)(?:,(\d*))?\}|[\s\S]/gu

/** Maximum number of instructions of the compiled program of an RE2 expression: repetitions are expanded. */
export function programSizeOf(re2: string): number {
  const sizes = [0]
  let last = 0
  for (const [token, least, most] of re2.matchAll(INSTRUCTION)) {
    if (token === '(') {
      sizes.push(1)
      last = 0
    } else if (token === ')' && sizes.length > 1) {
      last = sizes.pop() ?? 0
      sizes.push((sizes.pop() ?? 0) + last)
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most || 0), 1)
      sizes.push((sizes.pop() ?? 0) + last * (times - 1))
      last *= times
    } else {
      last = 1
      sizes.push((sizes.pop() ?? 0) + 1)
    }
  }
  return sizes.reduce((sum, size) => sum + size, 0)
}
