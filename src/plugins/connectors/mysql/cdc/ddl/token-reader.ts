import type { TableId } from '../table-model.ts'
import { SqlSyntaxError, type SqlToken } from './sql-tokens.ts'

/** Reads the tokens of a statement. */
export class TokenReader {
  readonly #tokens: readonly SqlToken[]
  #at: number

  constructor(tokens: readonly SqlToken[], at = 0) {
    this.#tokens = tokens
    this.#at = at
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length
  }

  /** The token that is read next. */
  get next(): SqlToken | undefined {
    return this.#tokens[this.#at]
  }

  peek(offset: number): SqlToken | undefined {
    return this.#tokens[this.#at + offset]
  }

  take(): SqlToken {
    const token = this.#tokens[this.#at]
    if (token === undefined) throw new SqlSyntaxError('the statement ends too early')
    this.#at += 1
    return token
  }

  /** Whether the next tokens are these keywords. */
  isAt(...words: readonly string[]): boolean {
    return words.every((word, index) => isKeyword(this.#tokens[this.#at + index], word))
  }

  /** Passes these keywords if they follow. */
  accept(...words: readonly string[]): boolean {
    if (!this.isAt(...words)) return false
    this.#at += words.length
    return true
  }

  acceptOne(...words: readonly string[]): string | undefined {
    return words.find((word) => this.accept(word))
  }

  isAtSymbol(symbol: string): boolean {
    return this.next?.kind === 'symbol' && this.next.value === symbol
  }

  acceptSymbol(symbol: string): boolean {
    if (!this.isAtSymbol(symbol)) return false
    this.#at += 1
    return true
  }

  expectSymbol(symbol: string): void {
    if (!this.acceptSymbol(symbol)) throw this.unexpected(`'${symbol}'`)
  }

  /** A name, with or without quotes. */
  name(): string {
    const token = this.take()
    if (token.kind === 'word' || token.kind === 'name' || token.kind === 'text') return token.value
    throw this.unexpected('a name', token)
  }

  /** `table` or `database.table`. */
  tableId(database: string): TableId {
    const first = this.name()
    if (!this.acceptSymbol('.')) return { schema: database, name: first }
    return { schema: first, name: this.name() }
  }

  /** The tokens between parentheses, which follow; nested ones are included. */
  parentheses(): readonly SqlToken[] {
    this.expectSymbol('(')
    const start = this.#at
    for (let depth = 1; depth > 0; ) {
      const token = this.take()
      if (token.kind !== 'symbol') continue
      if (token.value === '(') depth += 1
      if (token.value === ')') depth -= 1
    }
    return this.#tokens.slice(start, this.#at - 1)
  }

  /** Passes everything up to a comma that is not in parentheses, or to the end. */
  skipToComma(): void {
    while (!this.isAtEnd && !this.isAtSymbol(',')) {
      if (this.isAtSymbol('(')) this.parentheses()
      else this.take()
    }
  }

  unexpected(wanted: string, found: SqlToken | undefined = this.next): SqlSyntaxError {
    return new SqlSyntaxError(`expected ${wanted}, not ${found === undefined ? 'the end' : found.raw}`)
  }
}

/** A keyword is not quoted. */
export function isKeyword(token: SqlToken | undefined, word: string): boolean {
  return token?.kind === 'word' && token.value.toUpperCase() === word
}

/** Splits tokens at commas that are not in parentheses. */
export function splitAtCommas(tokens: readonly SqlToken[]): readonly (readonly SqlToken[])[] {
  const parts: SqlToken[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.kind === 'symbol' && token.value === '(') depth += 1
    if (token.kind === 'symbol' && token.value === ')') depth -= 1
    if (depth === 0 && token.kind === 'symbol' && token.value === ',') parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts.filter((part) => part.length > 0)
}
