import { dateFromMs } from '../../java-compat/date-from-ms.ts'
import { DateFields, MONTHS, shortened, WEEKDAYS } from './date-fields.ts'
import { dayOfYear, daysOf, type JavaDate, javaDate } from './java-calendar.ts'

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

const digits = (value: number, count: number) => (value < 0 ? '-' : '') + String(Math.abs(value)).padStart(count, '0')
/** Formats a number of the date. */
const dateNumber = (of: (date: JavaDate) => number) => (date: Date, count: number) =>
  digits(of(javaDate(date.getTime())), count)
/** Formats a number of the time of day. */
const timeNumber = (of: (date: Date) => number) => (date: Date, count: number) => digits(of(date), count)
const year = (of: (date: JavaDate) => number) => (date: Date, count: number) => {
  const value = of(javaDate(date.getTime()))
  return count === 2 ? digits(Math.abs(value) % 100, 2) : digits(value, count)
}
const month = (date: Date, count: number) => {
  const { month: index } = javaDate(date.getTime())
  if (count < 3) return digits(index + 1, count)
  const name = MONTHS[index] ?? ''
  return count === 3 ? shortened(name) : name
}

const FORMATS: Readonly<Record<string, (date: Date, count: number) => string>> = {
  G: (date) => (javaDate(date.getTime()).year > 0 ? 'AD' : 'BC'),
  // Years BC count backwards, and there is no year 0.
  y: year(({ year: found }) => (found > 0 ? found : 1 - found)),
  Y: year(weekYear),
  M: month,
  L: month,
  w: dateNumber(weekOfYear),
  W: dateNumber(({ day, weekday }) => Math.floor((day - 1 + firstWeekdayOf(day, weekday)) / 7) + 1),
  D: dateNumber(dayOfYear),
  d: dateNumber(({ day }) => day),
  F: dateNumber(({ day }) => Math.ceil(day / 7)),
  E: (date, count) => {
    const name = WEEKDAYS[date.getUTCDay()] ?? ''
    return count < 4 ? shortened(name) : name
  },
  u: timeNumber((date) => date.getUTCDay() || 7),
  a: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  H: timeNumber((date) => date.getUTCHours()),
  k: timeNumber((date) => date.getUTCHours() || 24),
  K: timeNumber((date) => date.getUTCHours() % 12),
  h: timeNumber((date) => date.getUTCHours() % 12 || 12),
  m: timeNumber((date) => date.getUTCMinutes()),
  s: timeNumber((date) => date.getUTCSeconds()),
  S: timeNumber((date) => date.getUTCMilliseconds()),
  z: (_, count) => (count < 4 ? 'UTC' : 'Coordinated Universal Time'),
  Z: () => '+0000',
  X: () => 'Z',
}

/** The weekday of the first of `day` days, of which the last one has this weekday. */
function firstWeekdayOf(day: number, weekday: number): number {
  return (((weekday - day + 1) % 7) + 7) % 7
}

/** Weeks start on Sunday, and week 1 contains 1 January, as in the US locale. */
function weekYear({ year: found, month: index, day, weekday }: JavaDate): number {
  const saturday = daysOf({ year: found, month: index, day }) + 6 - weekday
  return saturday < daysOf({ year: found + 1, month: 0, day: 1 }) ? found : found + 1
}

function weekOfYear(date: JavaDate): number {
  if (weekYear(date) > date.year) return 1
  const day = dayOfYear(date)
  return Math.floor((day - 1 + firstWeekdayOf(day, date.weekday)) / 7) + 1
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
