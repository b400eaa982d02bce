import { DataError } from '../../../sdk/index.ts'
import { microsFromText } from '../jdbc/time-text.ts'
import { type TimeZone, UTC } from '../jdbc/time-zone.ts'
import type { ZeroDates } from './connection-url.ts'

// Conversions between the texts of dates and times of MySQL and numbers. A server with a lenient `sql_mode` has dates that no
// calendar has: `0000-00-00`, `2020-00-00` and `2020-02-30`.

const ZERO_DATE = '0000-00-00'
const FIRST_DATE = '0001-01-01'
const YEAR_0_MS = Date.parse('0000-01-01')
const YEAR_10000_MS = Date.parse('9999-12-31') + 86_400_000
const DAY_MS = 86_400_000

/**
 * Returns the text of a date that exists, or null for a zero date that is read as null. Throws a `DataError` for a date that does not
 * exist.
 */
export function existingDate(text: string, zeroDates: ZeroDates, notNull: boolean): string | null {
  const day = Number(text.slice(8, 10))
  const isUsual = day > 0 && day < 29 && !text.startsWith('00', 5)
  if (isUsual || isDate(text)) return text
  if (!text.startsWith(ZERO_DATE)) throw new DataError(`'${text}' is not a date: correct it, or exclude it by a query`)
  if (zeroDates === 'round') return `${FIRST_DATE}${text.slice(ZERO_DATE.length)}`
  if (zeroDates === 'null' && !notNull) return null
  const reason =
    zeroDates === 'null' ? 'the column is NOT NULL, so it cannot be read as null' : 'zero dates are not read'
  throw new DataError(
    `'${text}' is not a date, and ${reason}: set zeroDateTimeBehavior=ROUND or CONVERT_TO_NULL in connection.url, or exclude it by a query`,
  )
}

function isDate(text: string): boolean {
  const date = text.slice(0, 10)
  const ms = Date.parse(date)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)
}

/** Converts a timestamp for comparisons: a month or day of zero, which precedes all others of its year or month, is the first. */
export function orderedMicros(text: string, zone: TimeZone): number {
  return microsFromText(text.replaceAll('-00', '-01'), zone)
}

/** Returns `yyyy-MM-dd HH:mm:ss.SSSSSS` as local time in `zone`. Values outside of MySQL's range become its first or last one. */
export function clampedTimestamp(micros: number, zone: TimeZone): string {
  const ms = Math.floor(micros / 1000)
  const wallMs = ms + zone.offsetMs(ms)
  if (wallMs < YEAR_0_MS) return '0000-01-01 00:00:00.000000'
  if (wallMs >= YEAR_10000_MS) return '9999-12-31 23:59:59.999999'
  return `${wallText(wallMs)}${String(micros - ms * 1000).padStart(3, '0')}`
}

/** Returns `yyyy-MM-dd HH:mm:ss.SSS` as local time in `zone`. Throws a `DataError` for a value that MySQL cannot store. */
export function timestampText(ms: number, zone: TimeZone): string {
  const wallMs = ms + zone.offsetMs(ms)
  if (wallMs >= YEAR_0_MS && wallMs < YEAR_10000_MS) return wallText(wallMs)
  throw new DataError(`${shown(ms)} is not a time from 0000 to 9999, which MySQL and MariaDB can store`)
}

/** Like `timestampText`, with microseconds. */
export function microsText(micros: number, zone: TimeZone): string {
  const ms = Math.floor(micros / 1000)
  return `${timestampText(ms, zone)}${String(micros - ms * 1000).padStart(3, '0')}`
}

export function dateText(ms: number, zone: TimeZone): string {
  return timestampText(ms, zone).slice(0, 10)
}

/** Throws a `DataError` unless the time, in ms since midnight, is one of a day. */
export function timeOfDayText(ms: number): string {
  if (ms >= 0 && ms < DAY_MS) return timestampText(ms, UTC).slice(11)
  throw new DataError(`${ms} ms since midnight is not a time of a day`)
}

function wallText(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 23).replace('T', ' ')
}

function shown(ms: number): string {
  return Number.isNaN(ms) ? 'an invalid date' : new Date(ms).toISOString()
}
