/** Letters that form an escape by themselves: classes, boundaries, control characters. */
const SIMPLE_ESCAPES = new Set('aAbBdDefGhHnrRsStvVwWXzZ')
/** The ones of these that a character class cannot contain: boundaries, and what matches more than one character. */
const OUTSIDE_ONLY = new Set('AbBGRXzZ')
const NESTING_MAX = 500

/**
 * Why `java.util.regex.Pattern` refuses an expression; undefined when it compiles. Names of Unicode properties and
 * characters are not checked.
 */
export function javaSyntaxError(source: string): string | undefined {
  try {
    new JavaSyntax(source).check()
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}

/** Reads an expression by the grammar of `java.util.regex.Pattern`, and keeps nothing of it but the names of groups. */
class JavaSyntax {
  readonly #source: string
  readonly #groupNames = new Set<string>()
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  check(): void {
    this.#alternatives()
    if (this.#at < this.#source.length) throw this.#error("Unmatched closing ')'")
  }

  #alternatives(): void {
    this.#depth += 1
    if (this.#depth > NESTING_MAX) throw this.#error(`nested deeper than ${NESTING_MAX}`)
    do this.#sequence()
    while (this.#take('|'))
    this.#depth -= 1
  }

  #sequence(): void {
    for (let next = this.#peek(); next !== '' && next !== '|' && next !== ')'; next = this.#peek()) {
      if (next === '*' || next === '+' || next === '?') throw this.#error(`Dangling meta character '${next}'`)
      const isRepeatable = this.#atom(next)
      if (isRepeatable) this.#quantifier()
    }
  }

  /** Returns false where a quantifier would have nothing to repeat. */
  #atom(next: string): boolean {
    if (next === '{') return true
    this.#at += next.length
    if (next === '(') return this.#group()
    if (next === '[') this.#characterClass()
    else if (next === '\\') return this.#escape(false)
    return true
  }

  #group(): boolean {
    if (this.#take('?')) {
      const flags = this.#match(/[idmsuxU]*(?:-[idmsuxU]*)?(?=[:)])/y)
      if (flags !== undefined && this.#take(')')) return false
      const opening = this.#match(/:|=|!|>|<=|<!/y)
      if (opening === undefined) this.#groupName()
    }
    this.#alternatives()
    if (!this.#take(')')) throw this.#error('Unclosed group')
    return true
  }

  #groupName(): void {
    const name = this.#match(/<[a-zA-Z][a-zA-Z0-9]*>/y)
    if (name === undefined) throw this.#error('Unknown inline modifier or group name')
    if (this.#groupNames.has(name)) throw this.#error(`Named capturing group ${name} is already defined`)
    this.#groupNames.add(name)
  }

  #quantifier(): void {
    if (this.#take('{')) {
      const bounds = this.#match(/\d+(?:,\d*)?/y)
      if (bounds === undefined) throw this.#error('Illegal repetition')
      const [min = '', max = ''] = bounds.split(',')
      if (!this.#take('}')) throw this.#error('Unclosed counted closure')
      if (Math.max(Number(min), Number(max)) >= 2 ** 31) throw this.#error('Illegal repetition range')
      if (max !== '' && Number(max) < Number(min)) throw this.#error('Illegal repetition range')
    } else if (this.#match(/[*+?]/y) === undefined) return
    this.#match(/[+?]/y)
  }

  /** After the backslash. Returns whether it is something that can be repeated. */
  #escape(isInClass: boolean): boolean {
    const next = this.#peek()
    this.#at += next.length
    if (next === '') throw this.#error('Unexpected end after a backslash')
    if (next === 'Q') {
      const end = this.#source.indexOf('\\E', this.#at)
      const isEmpty = end === this.#at || this.#at === this.#source.length
      this.#at = end < 0 ? this.#source.length : end + 2
      return !isEmpty
    }
    if (!/[a-zA-Z0-9]/.test(next)) return true
    if (SIMPLE_ESCAPES.has(next) && !(isInClass && OUTSIDE_ONLY.has(next))) return true
    if (/[1-9]/.test(next) && !isInClass) return true
    if (this.#isEscapeArgument(next, isInClass)) return true
    throw this.#error(`Illegal/unsupported escape sequence \\${next}`)
  }

  #isEscapeArgument(letter: string, isInClass: boolean): boolean {
    switch (letter) {
      case '0':
        return this.#match(/[0-7]/y) !== undefined
      case 'c':
        return this.#match(/[\s\S]/uy) !== undefined
      case 'x':
        return this.#match(/[0-9a-fA-F]{2}/y) !== undefined || this.#isCodePoint()
      case 'u':
        return this.#match(/[0-9a-fA-F]{4}/y) !== undefined
      case 'p':
      case 'P':
        return this.#match(/\{[^{}]+\}|[^{]/uy) !== undefined
      case 'N':
        return this.#match(/\{[^{}]+\}/y) !== undefined
      case 'k':
        return !isInClass && this.#groupNames.has(this.#match(/<[a-zA-Z][a-zA-Z0-9]*>/y) ?? '')
      default:
        return false
    }
  }

  #isCodePoint(): boolean {
    const digits = this.#match(/\{[0-9a-fA-F]+\}/y)
    return digits !== undefined && Number.parseInt(digits.slice(1), 16) <= 0x10ffff
  }

  /** After `[`. A `]` that comes first is a member. */
  #characterClass(): void {
    this.#depth += 1
    if (this.#depth > NESTING_MAX) throw this.#error(`nested deeper than ${NESTING_MAX}`)
    this.#take('^')
    for (let isEmpty = true; ; isEmpty = false) {
      const next = this.#peek()
      if (next === '') throw this.#error('Unclosed character class')
      if (next === ']' && !isEmpty) break
      if (this.#match(/&&+/y) === undefined) this.#member(next)
    }
    this.#at += 1
    this.#depth -= 1
  }

  #member(next: string): void {
    this.#at += next.length
    if (next === '[') {
      this.#characterClass()
      return
    }
    const first = this.#codePoint(next)
    if (first === undefined || !/^-[^\]&[]/.test(this.#source.slice(this.#at, this.#at + 2))) return
    this.#at += 1
    const end = this.#peek()
    this.#at += end.length
    const last = this.#codePoint(end)
    if (last !== undefined && last < first) throw this.#error('Illegal character range')
  }

  /** The character that a member stands for; undefined for one that stands for several, or by its name. */
  #codePoint(next: string): number | undefined {
    if (next !== '\\') return next.codePointAt(0)
    const start = this.#at
    this.#escape(true)
    const escaped = this.#source.slice(start, this.#at)
    return /^[^a-zA-Z0-9]/u.test(escaped) ? escaped.codePointAt(0) : undefined
  }

  #peek(): string {
    return String.fromCodePoint(...[this.#source.codePointAt(this.#at)].filter((code) => code !== undefined))
  }

  #take(character: string): boolean {
    if (!this.#source.startsWith(character, this.#at)) return false
    this.#at += character.length
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  #error(what: string): SyntaxError {
    return new SyntaxError(`${what} near index ${this.#at}`)
  }
}
