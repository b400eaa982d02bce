export type SqlToken = {
  /** `word`: a name or keyword without quotes. `name`: a quoted name. `text`: a literal. `symbol`: one character. `bits`: b'01', x'0f'. */
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'bits' | 'symbol'
  /** Without quotes. */
  readonly value: string
  /** As it is in the statement. */
  readonly raw: string
  /** Where it begins in the statement. */
  readonly start: number
  readonly end: number
}

export type SqlModes = {
  /** Whether a double quote begins a name. */
  readonly hasAnsiQuotes: boolean
  readonly hasNoBackslashEscapes: boolean
}

/** A statement that cannot be read. */
export class SqlSyntaxError extends Error {
  override readonly name = 'SqlSyntaxError'
}

const SPACE = /\s+|--[ \t\r\n][^\n]*|--$|#[^\n]*/y
/** A comment that the server executes: from a version on, and MariaDB's. */
const EXECUTED_COMMENT = /\/\*(?:M?!\d*)/y
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\p{L}\p{N}_$])/uy
const WORD = /[\p{L}\p{N}\p{M}_$@\u0080-\uffff]+/uy
const BITS = /(?:[bB]'[01]*'|[xX]'[\da-fA-F]*'|0x[\da-fA-F]+|0b[01]+)(?![\p{L}\p{N}_$])/uy

const PATTERNS = [
  ['bits', BITS],
  ['number', NUMBER],
  ['word', WORD],
] as const

/** Splits a statement into tokens, without comments; only the first ones if `countMax` is given. */
export function sqlTokens(sql: string, modes: SqlModes, countMax = Number.POSITIVE_INFINITY): readonly SqlToken[] {
  const tokens: SqlToken[] = []
  let at = skipSpace(sql, 0)
  while (at < sql.length && tokens.length < countMax) {
    const token = tokenAt(sql, at, modes)
    tokens.push(token)
    at = skipSpace(sql, token.end)
  }
  return tokens
}

/** Returns where the next token begins. The content of a comment that the server executes is no comment. */
function skipSpace(sql: string, start: number): number {
  for (let at = start; ; ) {
    const length = (matchAt(SPACE, sql, at) ?? matchAt(EXECUTED_COMMENT, sql, at) ?? commentAt(sql, at)).length
    if (length === 0) return at
    at += length
  }
}

function matchAt(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(sql)?.[0]
}

/** A comment, or the end of one that the server executes; empty if there is none. */
function commentAt(sql: string, at: number): string {
  if (sql.startsWith('*/', at)) return '*/'
  if (!sql.startsWith('/*', at)) return ''
  const end = sql.indexOf('*/', at + 2)
  if (end < 0) throw new SqlSyntaxError('a comment has no end')
  return sql.slice(at, end + 2)
}

function tokenAt(sql: string, at: number, modes: SqlModes): SqlToken {
  const token = (kind: SqlToken['kind'], raw: string, value = raw): SqlToken => ({
    kind,
    value,
    raw,
    start: at,
    end: at + raw.length,
  })
  const character = sql[at]!
  if (character === '`' || (character === '"' && modes.hasAnsiQuotes)) {
    const raw = quotedAt(sql, at, false)
    return token('name', raw, raw.slice(1, -1).replaceAll(character + character, character))
  }
  if (character === "'" || character === '"') {
    const raw = quotedAt(sql, at, !modes.hasNoBackslashEscapes)
    return token('text', raw, raw.slice(1, -1))
  }
  for (const [kind, pattern] of PATTERNS) {
    const raw = matchAt(pattern, sql, at)
    if (raw !== undefined) return token(kind, raw)
  }
  return token('symbol', character)
}

/** A text in quotes, in which a doubled quote is a quote. */
function quotedAt(sql: string, start: number, hasEscapes: boolean): string {
  const quote = sql[start]!
  for (let at = start + 1; at < sql.length; at += 1) {
    if (hasEscapes && sql[at] === '\\') at += 1
    else if (sql[at] === quote) {
      if (sql[at + 1] !== quote) return sql.slice(start, at + 1)
      at += 1
    }
  }
  throw new SqlSyntaxError(`the text that begins at character ${start + 1} has no end`)
}
