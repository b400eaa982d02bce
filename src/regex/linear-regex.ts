import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import { leadingLookAhead } from './look-ahead.ts'
import { programSizeOf, type RegexDialect, toRe2Syntax } from './re2-syntax.ts'

/** Replaces a match; has the arguments of the callback of `String.prototype.replace`. */
export type Replacer = (...match: unknown[]) => string

/** A regular expression that matches in time linear in the length of the text. */
export type LinearRegex = {
  test(text: string): boolean
  replace(text: string, replacement: Replacer, which: 'first' | 'all'): string
}

export type LinearOptions = {
  readonly dialect: RegexDialect
  /** A combination of `i`, `m`, `s` and `u`. */
  readonly flags: string
  /** Whether it must match the whole text. */
  readonly isWhole: boolean
}

/** Compiling takes 13 µs per instruction, and a match at most as many steps per character. */
const INSTRUCTIONS_MAX = 5_000

const requireModule = createRequire(import.meta.url)

/** Returns undefined if RE2 cannot express the expression, which must be valid in ECMAScript. */
export function compileLinear(source: string, options: LinearOptions): LinearRegex | undefined {
  const { flags, isWhole } = options
  const plain = compilePlain(source, options)
  if (plain) return plain
  const isAnchored = isWhole || (source.startsWith('^') && !flags.includes('m'))
  const parts = isAnchored ? leadingLookAhead(source) : undefined
  if (!parts) return undefined
  const rest = compilePlain(isWhole ? parts.rest : `^${parts.rest}`, options)
  const conditions = parts.conditions.map(({ source: condition, isWanted }) => ({
    isWanted,
    regex: compilePlain(`^(?:${condition})`, { ...options, isWhole: false }),
  }))
  if (!rest || conditions.some(({ regex }) => regex === undefined)) return undefined
  const isMet = (text: string) => conditions.every(({ regex, isWanted }) => regex?.test(text) === isWanted)
  return {
    test: (text) => isMet(text) && rest.test(text),
    replace: (text, replacement, which) => (isMet(text) ? rest.replace(text, replacement, which) : text),
  }
}

/**
 * Compiles an expression in the syntax of RE2, which CEL uses. `flags` is a combination of `i`, `m` and `s`. Throws an
 * `Error` if the expression is invalid or its program is too large.
 */
export function compileRe2(re2: string, flags = ''): Re2.RE2JS {
  const { RE2JS } = requireModule('re2js') as typeof Re2
  const size = programSizeOf(re2)
  if (size > INSTRUCTIONS_MAX) {
    throw new Error(`the expression is too large: ${size} instructions, the maximum is ${INSTRUCTIONS_MAX}`)
  }
  const bit = (flag: string, value: number) => (flags.includes(flag) ? value : 0)
  const bits = bit('i', RE2JS.CASE_INSENSITIVE) | bit('m', RE2JS.MULTILINE) | bit('s', RE2JS.DOTALL)
  return RE2JS.compile(re2, bits | RE2JS.LOOKBEHINDS)
}

function compilePlain(source: string, { dialect, flags, isWhole }: LinearOptions): LinearRegex | undefined {
  const translated = toRe2Syntax(source, { dialect, dotAll: flags.includes('s'), unicode: flags.includes('u') })
  if (translated === undefined) return undefined
  try {
    const compiled = compileRe2(isWhole ? `\\A(?:${translated})\\z` : translated, flags)
    return {
      test: (text) => compiled.test(text),
      replace: (text, replacement, which) => {
        const matcher = compiled.matcher(text)
        return which === 'all' ? matcher.replaceAll(replacement) : matcher.replaceFirst(replacement)
      },
    }
  } catch {
    // Too large, or with a construct that RE2 does not support: a Unicode property, a group inside a look-behind.
    return undefined
  }
}
