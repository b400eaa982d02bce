import { Pattern } from '../regex/pattern.ts'
import { DataError, field } from '../sdk/index.ts'

// Regular expressions in the syntax of java.util.regex.Pattern. Unsupported syntax is rejected.

export type { Pattern as JavaPattern }

/** `whole`: the expression must match the whole text. Throws an `Error` with the reason when the expression is invalid. */
export function javaRegex(text: string, { whole = false } = {}): Pattern {
  const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(text) ?? []
  let isInClass = false
  const body = rest.replace(TOKEN, (token, quoted: string | undefined, offset: number) => {
    if (quoted !== undefined) return quoted.replace(SYNTAX, '\\$&')
    if (token === ']') isInClass = false
    const translated = isInClass ? insideClass(token) : outsideClass(token)
    if (token === '[') isInClass = true
    if (translated === undefined) throw new Error(`'${token}' near index ${offset} is not supported`)
    return translated
  })
  return new Pattern(body, { dialect: 'java', flags: `u${flags}`, isWhole: whole })
}

/** A configuration key for a regular expression. */
export function regexField(key: string, info: field.FieldInfo & { readonly nonEmpty?: boolean }) {
  return field.parsed(field.text(info), (text) => {
    try {
      javaRegex(text)
      return text
    } catch (error) {
      const { message } = error as Error
      throw new Error(`Invalid value ${text} for configuration ${key}: Invalid regex: ${message}`)
    }
  })
}

/** The groups of a match, by number (0 is the whole match) and by name. */
type Groups = { readonly numbered: readonly unknown[]; readonly named: Readonly<Record<string, string | undefined>> }

/** Compiles a Java replacement with `$1`, `${name}` and `\` escapes to a function for `String.replace`. */
export function javaReplacement(text: string): (...match: unknown[]) => string {
  const parts = [...text.matchAll(/\\(.)|\$\{([a-zA-Z][a-zA-Z0-9]*)\}|\$(\d+)|([^\\$]+|[\\$])/gs)].map(replacementPart)
  return (...match) => {
    const last = match.at(-1)
    const named = typeof last === 'object' && last !== null ? (last as Groups['named']) : {}
    const numbered = match.slice(
      0,
      match.findIndex((one) => typeof one === 'number'),
    )
    return parts.map((part) => part({ numbered, named })).join('')
  }
}

function replacementPart([, escaped, name, digits, plain]: RegExpMatchArray): (groups: Groups) => string {
  if (name !== undefined) return ({ named }) => byName(named, name)
  if (digits !== undefined) return ({ numbered }) => byNumber(numbered, digits)
  if (plain === '$') return () => refuse('Illegal group reference')
  if (plain === '\\') return () => refuse('character to be escaped is missing')
  return () => escaped ?? plain ?? ''
}

function byName(named: Groups['named'], name: string): string {
  return Object.hasOwn(named, name) ? (named[name] ?? '') : refuse(`No group with name {${name}}`)
}

/** Uses as many digits as still refer to an existing group. */
function byNumber(numbered: Groups['numbered'], digits: string): string {
  let length = digits.length
  while (length > 1 && Number(digits.slice(0, length)) >= numbered.length) length -= 1
  const group = Number(digits.slice(0, length))
  if (group >= numbered.length) return refuse(`No group ${group}`)
  return `${String(numbered[group] ?? '')}${digits.slice(length)}`
}

function refuse(message: string): never {
  throw new DataError(message)
}

/** Matches quoted parts, escapes, and constructs with another meaning in this engine. */
const TOKEN = /\\Q(.*?)(?:\\E|$)|\\p\{\w+\}|\\.|[[\]]|&&|[*+?}]\+|\(\?>/gsu
const SYNTAX = /[\^$\\.*+?()[\]{}|/]/g
/** Characters that may be escaped inside and outside of a character class. */
const ESCAPABLE_INSIDE = /[\^$\\.*+?()[\]{}|/-]/
const ESCAPABLE = /[\^$\\.*+?()[\]{}|/]/

const POSIX: Readonly<Record<string, string>> = {
  '\\p{Lower}': 'a-z',
  '\\p{Upper}': 'A-Z',
  '\\p{Alpha}': 'a-zA-Z',
  '\\p{Digit}': '0-9',
  '\\p{Alnum}': 'a-zA-Z0-9',
  '\\p{XDigit}': '0-9a-fA-F',
  '\\p{Space}': '\\t\\n\\v\\f\\r ',
  '\\p{Blank}': ' \\t',
  // Without this, `\s` would also match Unicode whitespace.
  '\\s': '\\t-\\r ',
}

/** Returns undefined if there is no equivalent. */
function insideClass(token: string): string | undefined {
  if (token === '[' || token === '&&') return undefined
  return POSIX[token] ?? unescaped(token, ESCAPABLE_INSIDE)
}

function outsideClass(token: string): string | undefined {
  const posix = POSIX[token]
  if (posix !== undefined) return `[${posix}]`
  if (token === '\\S') return '[^\\t-\\r ]'
  if (token === '\\A') return '^'
  if (token === '\\z' || token === '\\Z') return '$'
  if (token === '(?>' || /^[*+?}]\+$/.test(token)) return undefined
  return unescaped(token, ESCAPABLE)
}

/**
 * Java permits escaping any character that is not a letter or digit. Removes the backslash where it is not permitted
 * here.
 */
function unescaped(token: string, escapable: RegExp): string {
  const [, sign] = /^\\([^a-zA-Z0-9])$/su.exec(token) ?? []
  return sign === undefined || escapable.test(sign) ? token : sign
}
