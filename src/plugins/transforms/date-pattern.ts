import { dateFromMs } from '../../java-compat/date-from-ms.ts'
import { DateFields, MONTHS, shortened, WEEKDAYS } from './date-fields.ts'

/** A pattern of Java's SimpleDateFormat, in English and UTC. */
export type DatePattern = {
  /** Throws a `DataError` beyond the range of `Date`. */
  format(ms: number): string
  /**
   * Returns ms since 1970, or undefined if the start of the text does not match or is beyond the range of `Date`. Lenient:
   * month 13 is January of the next year.
   */
  parse(text: string): number | undefined
}

type Part = { readonly letter: string; readonly count: number } | { readonly literal: string }

/** Throws an `Error` for an unknown letter or an unclosed quote. */
export function parseDatePattern(pattern: string): DatePattern {
  const parts = [...pattern.matchAll(/'((?:[^']|'')*)'|([a-zA-Z])\2*|[^a-zA-Z']+|'/g)].map(toPart)
  return {
    format: (ms) => {
      const date = dateFromMs(ms)
      return parts.map((part) => ('literal' in part ? part.literal : formatted(part, date))).join('')
    },
    parse: (text) => parsePosition(parts, text),
  }
}

function toPart([token, quoted, letter]: RegExpMatchArray): Part {
  if (token === "'") throw new Error('Unterminated quote')
  if (quoted !== undefined) return { literal: quoted === '' ? "'" : quoted.replaceAll("''", "'") }
  if (letter === undefined) return { literal: token }
  const count = token.length
  if (FORMATS[letter] === undefined) throw new Error(`Illegal pattern character '${letter}'`)
  if (letter === 'X' && count > 3) throw new Error(`invalid ISO 8601 format: length=${count}`)
  return { letter, count }
}

function formatted({ letter, count }: { readonly letter: string; readonly count: number }, date: Date): string {
  return FORMATS[letter]?.(date, count) ?? ''
}

const digits = (value: number, count: number) => String(value).padStart(count, '0')
const number = (of: (date: Date) => number) => (date: Date, count: number) => digits(of(date), count)
const year = (value: number, count: number) =>
  count === 2 ? digits(Math.abs(value) % 100, 2) : digits(Math.abs(value), count)
const month = (date: Date, count: number) => {
  const name = MONTHS[date.getUTCMonth()] ?? ''
  if (count < 3) return digits(date.getUTCMonth() + 1, count)
  return count === 3 ? shortened(name) : name
}
/** Years BC count backwards, and there is no year 0. */
const yearOfEra = (date: Date) => (date.getUTCFullYear() > 0 ? date.getUTCFullYear() : 1 - date.getUTCFullYear())

const FORMATS: Readonly<Record<string, (date: Date, count: number) => string>> = {
  G: (date) => (date.getUTCFullYear() > 0 ? 'AD' : 'BC'),
  y: (date, count) => year(yearOfEra(date), count),
  Y: (date, count) => year(weekYear(date), count),
  M: month,
  L: month,
  w: number((date) => weekOf(dayOfYear(date), weekYear(date), date)),
  W: number((date) =>
    Math.ceil((date.getUTCDate() + new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)).getUTCDay()) / 7),
  ),
  D: number(dayOfYear),
  d: number((date) => date.getUTCDate()),
  F: number((date) => Math.ceil(date.getUTCDate() / 7)),
  E: (date, count) => {
    const name = WEEKDAYS[date.getUTCDay()] ?? ''
    return count < 4 ? shortened(name) : name
  },
  u: number((date) => date.getUTCDay() || 7),
  a: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  H: number((date) => date.getUTCHours()),
  k: number((date) => date.getUTCHours() || 24),
  K: number((date) => date.getUTCHours() % 12),
  h: number((date) => date.getUTCHours() % 12 || 12),
  m: number((date) => date.getUTCMinutes()),
  s: number((date) => date.getUTCSeconds()),
  S: number((date) => date.getUTCMilliseconds()),
  z: (_, count) => (count < 4 ? 'UTC' : 'Coordinated Universal Time'),
  Z: () => '+0000',
  X: () => 'Z',
}

const DAY_MS = 86_400_000

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS) + 1
}

/** Weeks start on Sunday, and week 1 contains 1 January, as in the US locale. */
function weekYear(date: Date): number {
  const saturday = new Date(date.getTime() + (6 - date.getUTCDay()) * DAY_MS)
  return saturday.getUTCFullYear()
}

function weekOf(day: number, ofYear: number, date: Date): number {
  if (ofYear > date.getUTCFullYear()) return 1
  const first = new Date(Date.UTC(ofYear, 0, 1)).getUTCDay()
  return Math.floor((day + first - 1) / 7) + 1
}

function parsePosition(parts: readonly Part[], text: string): number | undefined {
  const fields = new DateFields()
  let at = 0
  for (const [index, part] of parts.entries()) {
    if ('literal' in part) {
      at = literalEnd(part.literal, text, at)
    } else {
      const next = parts[index + 1]
      // Adjacent numeric fields are separated by their number of digits.
      const isAdjacent = next !== undefined && 'letter' in next && isNumeric(next)
      at = fields.read(part, text, at, isAdjacent && isNumeric(part))
    }
    if (at < 0) return undefined
  }
  const date = new Date(fields.toMs())
  return Number.isNaN(date.getTime()) ? undefined : date.getTime()
}

function literalEnd(literal: string, text: string, at: number): number {
  return text.startsWith(literal, at) ? at + literal.length : -1
}

function isNumeric({ letter, count }: { readonly letter: string; readonly count: number }): boolean {
  return letter === 'M' || letter === 'L' ? count < 3 : !'GEazZX'.includes(letter)
}
