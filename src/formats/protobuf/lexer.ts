import { unquoteLiterals } from './string-literal.ts'

/** Thrown for an invalid .proto file. The message of a syntax error starts with line and column, both from 1. */
export class ProtoSyntaxError extends Error {
  override readonly name = 'ProtoSyntaxError'
}

export type Token = {
  readonly kind: 'word' | 'string' | 'symbol' | 'end'
  /** For a string: the value without quotes, with resolved escapes. */
  readonly text: string
  readonly offset: number
}

// Each match is one piece, and strings are unrolled, because the regular expression engine needs stack space for every
// repetition of a group.
const BLANK = /[\s﻿]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const WORD = /[-+]?[A-Za-z0-9_.](?:[A-Za-z0-9_.]|(?<=[eE])[-+])*/y
const QUOTED = /"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"|'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'/y

/** Whether the text is a single word token, such as a name or a number. */
export function isWord(text: string): boolean {
  WORD.lastIndex = 0
  return text !== '' && WORD.exec(text)?.[0] === text
}

/** Reads the tokens of a .proto text, with a lookahead of one token. Methods throw a `ProtoSyntaxError`. */
export class Lexer {
  readonly #text: string
  #at = 0
  #next: Token

  constructor(text: string) {
    this.#text = text
    this.#next = this.#read()
  }

  peek(): Token {
    return this.#next
  }

  take(): Token {
    const token = this.#next
    if (token.kind !== 'end') this.#next = this.#read()
    return token
  }

  /** Takes the next token if it is this symbol or word, and returns whether it was. */
  skip(text: string): boolean {
    if (this.#next.kind === 'string' || this.#next.text !== text || this.#next.kind === 'end') return false
    this.take()
    return true
  }

  expect(text: string): void {
    const found = this.peek()
    if (!this.skip(text)) this.fail(`expected '${text}'`, found)
  }

  word(what: string): string {
    const token = this.take()
    if (token.kind !== 'word') this.fail(`expected ${what}`, token)
    return token.text
  }

  string(what: string): string {
    const token = this.take()
    if (token.kind !== 'string') this.fail(`expected ${what} in quotes`, token)
    return token.text
  }

  fail(message: string, at: Token = this.#next): never {
    const before = this.#text.slice(0, at.offset).split('\n')
    const found = at.kind === 'end' ? 'the end of the file' : `'${at.text}'`
    throw new ProtoSyntaxError(`${before.length}:${(before.at(-1)?.length ?? 0) + 1}: ${message}, found ${found}`)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const text = pattern.exec(this.#text)?.[0]
    if (text !== undefined) this.#at += text.length
    return text
  }

  #skipBlanks(): void {
    while (this.#match(BLANK) !== undefined);
  }

  #read(): Token {
    this.#skipBlanks()
    const offset = this.#at
    if (offset >= this.#text.length) return { kind: 'end', text: '', offset }
    const word = this.#match(WORD)
    if (word !== undefined) return { kind: 'word', text: word, offset }
    if (this.#text[offset] === '"' || this.#text[offset] === "'") return this.#readString(offset)
    this.#at += 1
    return { kind: 'symbol', text: this.#text[offset] ?? '', offset }
  }

  /** Reads a string. Adjacent strings are concatenated. */
  #readString(offset: number): Token {
    const literals: string[] = []
    for (let quoted = this.#match(QUOTED); ; quoted = this.#match(QUOTED)) {
      if (quoted === undefined)
        this.fail('a string is not closed on its line', { kind: 'symbol', text: this.#text[this.#at] ?? '', offset })
      literals.push(quoted)
      const end = this.#at
      this.#skipBlanks()
      const next = this.#text[this.#at]
      if (next === '"' || next === "'") continue
      this.#at = end
      return { kind: 'string', text: unquoteLiterals(literals), offset }
    }
  }
}
