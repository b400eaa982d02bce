/** An error in a Terraform file. */
export class HclSyntaxError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** A text, or its source if it contains a template, such as `"${var.name}-value"`. */
export type HclText = { readonly value: string } | { readonly source: string }

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' }
const IDENTIFIER = /[\p{L}_][\p{L}\p{N}_-]*/uy
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const HEREDOC = /<<(-?)([\p{L}_][\p{L}\p{N}_-]*)[ \t]*\r?\n/uy
const BLANKS = /[ \t]+/y
const LINES = /(?:[ \t\r\n]|#[^\n]*|\/\/[^\n]*)+/y
const LINE_COMMENT = /#[^\n]*|\/\/[^\n]*/y
const END_OF_EXPRESSION = /[\r\n,}\]]|#|\/\/|$/y
/** Templates within texts within templates. */
const TEMPLATE_DEPTH_MAX = 200
const OPENING = '([{'
const CLOSING = ')]}'

/** Reads the words of HashiCorp's configuration language, native syntax. */
export class HclScanner {
  position = 0
  #templateDepth = 0
  readonly #text: string
  readonly #lineStarts: readonly number[]

  constructor(text: string) {
    this.#text = text.startsWith('\uFEFF') ? text.slice(1) : text
    this.#lineStarts = [0, ...[...this.#text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  }

  get isAtEnd(): boolean {
    return this.position >= this.#text.length
  }

  /** The current line, from 1. */
  get line(): number {
    let [low, high] = [0, this.#lineStarts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#lineStarts[middle]! <= this.position) low = middle
      else high = middle - 1
    }
    return low + 1
  }

  get isAtEndOfExpression(): boolean {
    const start = this.position
    this.skipBlanks()
    const isAtEnd = this.#isBeforeEndOfExpression()
    this.position = start
    return isAtEnd
  }

  /** Whether a list or map is computed by `for`. */
  get isFor(): boolean {
    return /^for\s/.test(this.#text.slice(this.position, this.position + 4))
  }

  error(message: string): HclSyntaxError {
    return new HclSyntaxError(this.line, message)
  }

  skipBlanks(): void {
    this.#skip(BLANKS)
  }

  skipLines(): void {
    this.#skip(LINES)
  }

  next(character: string): boolean {
    if (this.#text[this.position] !== character) return false
    // `==` and `=>` are operators.
    if (character === '=' && /[=>]/.test(this.#text[this.position + 1] ?? '')) return false
    this.position += 1
    return true
  }

  identifier(): string {
    const found = this.#match(IDENTIFIER)
    if (found === undefined) throw this.error(`expected the name of a block or an argument`)
    return found
  }

  label(): string {
    const text = this.string()
    if (text === undefined) return this.identifier()
    if ('source' in text) throw this.error('a template is not allowed as a label')
    return text.value
  }

  /** Undefined if the key is computed. */
  mapKey(): string | undefined {
    const text = this.string()
    if (text !== undefined) return 'value' in text ? text.value : undefined
    return this.#match(IDENTIFIER) ?? this.#match(NUMBER)
  }

  scalar(): number | bigint | boolean | null | undefined {
    const number = this.#match(NUMBER)
    if (number !== undefined) {
      const isExact = !/^-?\d+$/.test(number) || Number.isSafeInteger(Number(number))
      return isExact ? Number(number) : BigInt(number)
    }
    const start = this.position
    const word = this.#match(IDENTIFIER)
    if (word === 'true' || word === 'false') return word === 'true'
    if (word === 'null') return null
    this.position = start
    return undefined
  }

  /** A text in quotes; undefined if there is none here. */
  string(): HclText | undefined {
    const start = this.position
    if (!this.next('"')) return undefined
    let value = ''
    let hasTemplate = false
    while (!this.next('"')) {
      if (/[\n]|^$/.test(this.#text[this.position] ?? '')) throw this.#errorAt(start, 'a text is not closed')
      const part = this.#textPart()
      if (part === undefined) hasTemplate = true
      else value += part
    }
    return hasTemplate ? { source: this.#text.slice(start, this.position) } : { value }
  }

  /** A text of several lines: `<<EOT` or, without the common indentation, `<<-EOT`. */
  heredoc(): HclText | undefined {
    const start = this.position
    HEREDOC.lastIndex = start
    const [opening, dash, word] = HEREDOC.exec(this.#text) ?? []
    if (opening === undefined) return undefined
    this.position += opening.length
    const lines: string[] = []
    for (;;) {
      const end = this.#text.indexOf('\n', this.position)
      const next = end < 0 ? this.#text.length : end + 1
      const line = this.#text.slice(this.position, next)
      if (line.trim() === word) {
        this.position += line.trimEnd().length
        break
      }
      if (end < 0) throw this.#errorAt(start, `<<${word} is not closed`)
      lines.push(line.replace(/\r?\n$/, '\n'))
      this.position = next
    }
    if (lines.some((line) => /(?<!\$)\$\{|(?<!%)%\{/.test(line)))
      return { source: this.#text.slice(start, this.position) }
    const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length)
    const indent = dash === '' ? 0 : Math.min(...indents)
    const text = lines.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length))).join('')
    return { value: text.replaceAll('$${', '${').replaceAll('%%{', '%{') }
  }

  /** The source of an expression, up to the end of its line or the separator that follows it. */
  expression(): string {
    this.skipBlanks()
    const start = this.position
    let depth = 0
    while (this.position < this.#text.length) {
      const end = this.position
      this.skipBlanks()
      if (depth === 0 && this.#isBeforeEndOfExpression()) {
        this.position = end
        break
      }
      const character = this.#text[this.position]
      if (character === undefined) break
      if (this.string() !== undefined || this.heredoc() !== undefined || this.#skipComment()) continue
      if (OPENING.includes(character)) depth += 1
      if (CLOSING.includes(character)) depth -= 1
      this.position += 1
    }
    const source = this.#text.slice(start, this.position).trim()
    if (source === '' || depth > 0) throw this.#errorAt(start, 'expected a value')
    return source
  }

  /** The next character of a text in quotes, without its escape. Skips a template and returns undefined. */
  #textPart(): string | undefined {
    const ahead = this.#text.slice(this.position, this.position + 3)
    if (ahead === '$${' || ahead === '%%{') {
      this.position += 3
      return ahead.slice(1)
    }
    if (/^[$%]\{/.test(ahead)) {
      this.#skipTemplate()
      return undefined
    }
    if (ahead.startsWith('\\')) return this.#escape()
    this.position += 1
    return ahead[0]
  }

  #skipTemplate(): void {
    const start = this.position
    this.position += 2
    this.#templateDepth += 1
    if (this.#templateDepth > TEMPLATE_DEPTH_MAX)
      throw this.#errorAt(start, `templates are nested more than ${TEMPLATE_DEPTH_MAX} levels deep`)
    for (let depth = 1; depth > 0; ) {
      if (this.position >= this.#text.length) throw this.#errorAt(start, 'a template is not closed')
      if (this.string() !== undefined) continue
      const character = this.#text[this.position]
      if (character === '{') depth += 1
      if (character === '}') depth -= 1
      this.position += 1
    }
    this.#templateDepth -= 1
  }

  #escape(): string {
    const [sequence = '', short = '', long = '', code = ''] =
      /^\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([nrt"\\]))/.exec(
        this.#text.slice(this.position, this.position + 10),
      ) ?? []
    if (sequence === '') throw this.error(`${this.#text.slice(this.position, this.position + 2)} is not an escape`)
    this.position += sequence.length
    if (code !== '') return ESCAPES[code]!
    const point = Number.parseInt(short || long, 16)
    if (point > 0x10ffff) throw this.error(`${sequence} is not a character`)
    return String.fromCodePoint(point)
  }

  /** Returns false if there is no comment here. */
  #skipComment(): boolean {
    if (this.#match(LINE_COMMENT) !== undefined || this.#skipBlockComment()) return true
    if (this.#text.startsWith('/*', this.position)) throw this.error('a comment is not closed')
    return false
  }

  /** Skips what matches, and comments that are closed. */
  #skip(pattern: RegExp): void {
    do this.#match(pattern)
    while (this.#skipBlockComment())
  }

  /** Returns false if no closed comment begins here. Uses `indexOf`, because a pattern would backtrack over several ends. */
  #skipBlockComment(): boolean {
    const end = this.#text.startsWith('/*', this.position) ? this.#text.indexOf('*/', this.position + 2) : -1
    if (end < 0) return false
    this.position = end + 2
    return true
  }

  #isBeforeEndOfExpression(): boolean {
    END_OF_EXPRESSION.lastIndex = this.position
    return END_OF_EXPRESSION.test(this.#text)
  }

  #errorAt(position: number, message: string): HclSyntaxError {
    this.position = position
    return this.error(message)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.#text)?.[0]
    if (found === undefined || found === '') return undefined
    this.position += found.length
    return found
  }
}
