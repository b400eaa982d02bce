import type { TimeZone } from '../jdbc/time-zone.ts'

/** Formats the local time of an instant, given as if it were UTC, and the offset of its zone. */
export type TimePath = (wallMs: number, offsetMs: number) => string
type Part = (wall: Date, offsetMs: number) => string

/**
 * Compiles a format of Joda-Time, such as `'year'=YYYY/'month'=MM`. Throws an `Error` for letters that it does not have and for those
 * whose text depends on data of Java.
 */
export function parsePathFormat(format: string, locale: string): TimePath {
  const parts: Part[] = []
  for (let at = 0; at < format.length; ) {
    const rest = format.slice(at)
    const [quoted] = /^'(?:[^']|'')*'/.exec(rest) ?? []
    if (quoted !== undefined) {
      const text = quoted === "''" ? "'" : quoted.slice(1, -1).replaceAll("''", "'")
      parts.push(() => text)
      at += quoted.length
      continue
    }
    if (rest.startsWith("'")) throw new Error(`the quote at position ${at + 1} is not closed`)
    const [letters] = /^([A-Za-z])\1*/.exec(rest) ?? []
    if (letters === undefined) {
      const text = rest.charAt(0)
      parts.push(() => text)
      at += 1
      continue
    }
    parts.push(partOf(letters, locale))
    at += letters.length
  }
  return (wallMs, offsetMs) => {
    const wall = new Date(wallMs)
    return parts.map((part) => part(wall, offsetMs)).join('')
  }
}

/** The start of the period in which an instant is, in local time as if it were UTC. */
export function periodStartMs(instantMs: number, periodMs: number, zone: TimeZone): number {
  return Math.trunc((instantMs + zone.offsetMs(instantMs)) / periodMs) * periodMs
}

const DAY_MS = 86_400_000

function partOf(letters: string, locale: string): Part {
  const digits = letters.length
  const number =
    (value: (wall: Date) => number): Part =>
    (wall) =>
      String(value(wall)).padStart(digits, '0')
  switch (letters.charAt(0)) {
    case 'Y':
    case 'y':
      return digits === 2
        ? (wall) => String(wall.getUTCFullYear() % 100).padStart(2, '0')
        : number((wall) => wall.getUTCFullYear())
    case 'x':
      return digits === 2
        ? (wall) => String(weekOf(wall).year % 100).padStart(2, '0')
        : number((wall) => weekOf(wall).year)
    case 'w':
      return number((wall) => weekOf(wall).week)
    case 'e':
      return number((wall) => wall.getUTCDay() || 7)
    case 'M':
      if (digits < 3) return number((wall) => wall.getUTCMonth() + 1)
      return named(locale, { month: digits === 3 ? 'short' : 'long' })
    case 'E':
      return named(locale, { weekday: digits < 4 ? 'short' : 'long' })
    case 'd':
      return number((wall) => wall.getUTCDate())
    case 'D':
      return number((wall) => Math.floor((wall.getTime() - Date.UTC(wall.getUTCFullYear(), 0, 1)) / DAY_MS) + 1)
    case 'H':
      return number((wall) => wall.getUTCHours())
    case 'k':
      return number((wall) => wall.getUTCHours() || 24)
    case 'K':
      return number((wall) => wall.getUTCHours() % 12)
    case 'h':
      return number((wall) => wall.getUTCHours() % 12 || 12)
    case 'a':
      return (wall) => (wall.getUTCHours() < 12 ? 'AM' : 'PM')
    case 'm':
      return number((wall) => wall.getUTCMinutes())
    case 's':
      return number((wall) => wall.getUTCSeconds())
    case 'S':
      return (wall) => String(wall.getUTCMilliseconds()).padStart(3, '0').padEnd(digits, '0').slice(0, digits)
    case 'Z':
      return (_, offsetMs) => offsetText(offsetMs, digits > 1)
    default:
      throw new Error(
        `the letters '${letters}' are not supported: expected Y, x, M, w, d, D, e, E, H, h, K, k, a, m, s, S, Z`,
      )
  }
}

function named(locale: string, options: Intl.DateTimeFormatOptions): Part {
  const format = new Intl.DateTimeFormat(locale.replaceAll('_', '-'), { ...options, timeZone: 'UTC' })
  return (wall) => format.format(wall)
}

/** The week of ISO 8601, which begins on Monday, and its year. */
function weekOf(wall: Date): { readonly year: number; readonly week: number } {
  const thursdayMs = wall.getTime() + (4 - (wall.getUTCDay() || 7)) * DAY_MS
  const year = new Date(thursdayMs).getUTCFullYear()
  return { year, week: Math.floor((thursdayMs - Date.UTC(year, 0, 1)) / DAY_MS / 7) + 1 }
}

function offsetText(offsetMs: number, hasColon: boolean): string {
  const minutes = Math.abs(offsetMs) / 60_000
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${two(minutes / 60)}${hasColon ? ':' : ''}${two(minutes % 60)}`
}
