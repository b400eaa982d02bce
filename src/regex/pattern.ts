import { compileLinear, type LinearRegex, type Replacer } from './linear.ts'
import type { RegexDialect } from './re2-syntax.ts'

export type PatternOptions = {
  readonly dialect: RegexDialect
  readonly flags?: string
  /** It has to match the whole text. */
  readonly whole?: boolean
}

/**
 * A regular expression that somebody configured or sent: the only place where one is made from a text. It is matched in
 * linear time where RE2 can express it. What RE2 cannot express (back-references, look-ahead other than at the
 * beginning) is legal in Java's and ECMAScript's configurations, and is matched by the backtracking engine of this
 * language, which may take exponential time: code on a thread that serves requests asks `isLinear` first.
 */
export class Pattern {
  /** In the syntax of this language. */
  readonly source: string
  readonly #options: Required<PatternOptions>
  #regex: { readonly matcher: LinearRegex; readonly isLinear: boolean } | undefined

  /** Throws a `SyntaxError` for what is no expression. `source` is in the syntax of this language. */
  constructor(source: string, { dialect, flags = 'u', whole = false }: PatternOptions) {
    // The engine compiles at the first match: this checks the syntax only.
    new RegExp(source, flags)
    this.source = source
    this.#options = { dialect, flags, whole }
  }

  /** Whether every match takes time proportional to the text. */
  get isLinear(): boolean {
    return this.#compiled().isLinear
  }

  test(text: string): boolean {
    return this.#compiled().matcher.test(text)
  }

  replaceFirst(text: string, replacement: Replacer): string {
    return this.#compiled().matcher.replace(text, replacement, 'first')
  }

  replaceAll(text: string, replacement: Replacer): string {
    return this.#compiled().matcher.replace(text, replacement, 'all')
  }

  /** Another text for each pattern: ajv compares patterns by it. */
  toString(): string {
    return `/${this.source}/${this.#options.flags}`
  }

  /** Compiled with its first use: a validation of many expressions matches few of them. */
  #compiled() {
    const { source } = this
    const linear = this.#regex === undefined ? compileLinear(source, this.#options) : undefined
    this.#regex ??= { matcher: linear ?? backtracking(source, this.#options), isLinear: linear !== undefined }
    return this.#regex
  }
}

function backtracking(source: string, { flags, whole }: Required<PatternOptions>): LinearRegex {
  const first = new RegExp(whole ? `^(?:${source})$` : source, flags)
  const all = new RegExp(first.source, `${flags}g`)
  return {
    test: (text) => first.test(text),
    replace: (text, replacement, which) => text.replace(which === 'all' ? all : first, replacement),
  }
}

/**
 * An expression of a JSON Schema (ECMA-262). Like ajv, it is read with the flag `u` first, then without. Throws a
 * `SyntaxError`.
 */
export function ecmaPattern(source: string): Pattern {
  try {
    return new Pattern(source, { dialect: 'ecma' })
  } catch {
    return new Pattern(source, { dialect: 'ecma', flags: '' })
  }
}
