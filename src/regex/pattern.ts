import { compileLinear, type LinearRegex, type Replacer } from './linear-regex.ts'
import type { RegexDialect } from './re2-syntax.ts'

export type PatternOptions = {
  readonly dialect: RegexDialect
  readonly flags?: string
  /** Whether it must match the whole text. */
  readonly isWhole?: boolean
}

/**
 * A regular expression from a configuration or a request; the only place that creates one from a string. It matches in
 * linear time if RE2 can express it. Other constructs (back-references, look-aheads except leading ones) are valid in
 * Java and ECMAScript and use the backtracking engine of the runtime, which may take exponential time: code on a thread
 * that serves requests must check `isLinear` first.
 */
export class Pattern {
  /** In ECMAScript syntax. */
  readonly source: string
  readonly #options: Required<PatternOptions>
  #regex: { readonly matcher: LinearRegex; readonly isLinear: boolean } | undefined

  /** Throws a `SyntaxError` for an invalid expression. `source` is in ECMAScript syntax. */
  constructor(source: string, { dialect, flags = 'u', isWhole: whole = false }: PatternOptions) {
    // The engine compiles at the first match; this only checks the syntax.
    new RegExp(source, flags)
    this.source = source
    this.#options = { dialect, flags, isWhole: whole }
  }

  /** Whether matching takes linear time. */
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

  /** Unique per pattern: Ajv identifies patterns by it. */
  toString(): string {
    return `/${this.source}/${this.#options.flags}`
  }

  /** Compiled on first use: a validation of many expressions matches few of them. */
  #compiled() {
    const { source } = this
    const linear = this.#regex === undefined ? compileLinear(source, this.#options) : undefined
    this.#regex ??= { matcher: linear ?? backtracking(source, this.#options), isLinear: linear !== undefined }
    return this.#regex
  }
}

function backtracking(source: string, { flags, isWhole: whole }: Required<PatternOptions>): LinearRegex {
  const first = new RegExp(whole ? `^(?:${source})$` : source, flags)
  const all = new RegExp(first.source, `${flags}g`)
  return {
    test: (text) => first.test(text),
    replace: (text, replacement, which) => text.replace(which === 'all' ? all : first, replacement),
  }
}

/**
 * Creates a pattern of a JSON Schema (ECMA-262). Like Ajv, it is parsed with the flag `u` first, then without. Flags at the
 * start, as in `(?i)abc`, are those of Java and Python, in which many such patterns are written. Throws a `SyntaxError`.
 */
export function ecmaPattern(source: string): Pattern {
  const [, flags = '', rest = source] = /^\(\?([ims]+)\)(.*)$/s.exec(source) ?? []
  const own = [...new Set(flags)].join('')
  try {
    return new Pattern(rest, { dialect: 'ecma', flags: `u${own}` })
  } catch {
    return new Pattern(rest, { dialect: 'ecma', flags: own })
  }
}
