import { DataError } from '../../../sdk/index.ts'
import type { TimeZone } from './time-zone.ts'

// Conversions between the ISO text of dates and times that databases print (PostgreSQL with DateStyle ISO) and numbers. A timestamp is
// an integer of microseconds since 1970, which a double represents exactly for 285 years before and after.

const TIMESTAMP =
  /^(\d{4,})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?(?:([+-])(\d\d)(?::?(\d\d))?(?::?(\d\d))?)?( BC)?$/
/** The maximum of `Date`, in ms. Represents PostgreSQL's `infinity`. */
const DATE_MS_MAX = 8.64e15
const YEAR_1_MS = Date.parse('0001-01-01')
const YEAR_10000_MS = Date.parse('9999-12-31') + 86_400_000

/**
 * Converts the text of a `timestamp` (local time in `zone`), a `timestamptz` (with its offset) or a `date` (midnight in
 * `zone`). Throws a `DataError` for other text.
 */
export function microsFromText(text: string, zone: TimeZone): number {
  const micros = microsFromPlain(text, zone)
  return Number.isNaN(micros) ? microsFromAny(text, zone) : micros
}

/**
 * Fast path for the usual form `yyyy-MM-dd HH:mm:ss.SSSSSS`, with or without `+00`; takes a third of the time. Returns
 * NaN for any other form.
 */
function microsFromPlain(text: string, zone: TimeZone): number {
  if (text.length < 19 || !hasPlainMarks(text)) return Number.NaN
  const isInstant = text.endsWith('+00')
  const end = isInstant ? text.length - 3 : text.length
  const hasFraction = end > 19
  const digits = hasFraction ? end - 20 : 0
  if (hasFraction && (digits < 1 || digits > 6 || text.charCodeAt(19) !== POINT)) return Number.NaN
  const dayMs = utcMs(numberIn(text, 0, 4), numberIn(text, 5, 7), numberIn(text, 8, 10))
  const seconds = (numberIn(text, 11, 13) * 60 + numberIn(text, 14, 16)) * 60 + numberIn(text, 17, 19)
  const ms = dayMs + seconds * 1000
  const fraction = hasFraction ? numberIn(text, 20, end) * 10 ** (6 - digits) : 0
  return (isInstant ? ms : zone.toInstantMs(ms)) * 1000 + fraction
}

const POINT = 0x2e
const DASH = 0x2d
const COLON = 0x3a
const SPACE = 0x20
const ZERO = 0x30

function hasPlainMarks(text: string): boolean {
  return (
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    text.charCodeAt(10) === SPACE &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON
  )
}

/** Returns NaN if the range contains anything but digits. */
function numberIn(text: string, start: number, end: number): number {
  let number = 0
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

function microsFromAny(text: string, zone: TimeZone): number {
  if (text === 'infinity') return DATE_MS_MAX * 1000
  if (text === '-infinity') return -DATE_MS_MAX * 1000
  const match = TIMESTAMP.exec(text)
  if (match === null) throw new DataError(`'${text}' is not a timestamp`)
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', sign, ...rest] = match
  const wallMs = utcMs(rest[3] === undefined ? Number(year) : 1 - Number(year), Number(month), Number(day))
  const clockMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000
  const ms = sign === undefined ? zone.toInstantMs(wallMs + clockMs) : wallMs + clockMs - offsetMs(sign, rest)
  return ms * 1000 + Number(fraction.padEnd(6, '0'))
}

/**
 * Returns the text with its offset. PostgreSQL reads it as an instant for `timestamptz` and as local time in `zone` for
 * `timestamp`.
 */
export function textFromMicros(micros: number, zone: TimeZone): string {
  const ms = Math.floor(micros / 1000)
  return textFromInstant(ms, micros - ms * 1000, zone)
}

/** Like `textFromMicros`, for milliseconds, which are exact for each `Date`. */
export function textFromMs(ms: number, zone: TimeZone): string {
  return textFromInstant(ms, 0, zone)
}

function textFromInstant(ms: number, micros: number, zone: TimeZone): string {
  if (Math.abs(ms) >= DATE_MS_MAX) return ms > 0 ? 'infinity' : '-infinity'
  const offset = zone.offsetMs(ms)
  const { day, time, era } = wallClock(ms + offset, micros)
  return `${day} ${time}${offsetText(offset)}${era}`
}

/** Returns `yyyy-MM-ddTHH:mm:ss.SSSSSS` as local time in `zone`. */
export function isoFromMicros(micros: number, zone: TimeZone): string {
  const ms = Math.floor(micros / 1000)
  const { day, time, era } = wallClock(ms + zone.offsetMs(ms), micros - ms * 1000)
  return `${day}T${time}${era}`
}

/** Returns ms since midnight. Truncates to milliseconds. Throws a `DataError` if the text is not a time. */
export function timeFromText(text: string): number {
  const [, hour, minute, second, fraction = ''] = /^(\d\d):(\d\d):(\d\d)(?:\.(\d+))?/.exec(text) ?? []
  if (hour === undefined) throw new DataError(`'${text}' is not a time`)
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second)
  return seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
}

export function textFromTime(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23)
}

/** Returns the date of an instant in `zone`. */
export function textFromDate(date: Date, zone: TimeZone): string {
  const ms = date.getTime()
  if (Math.abs(ms) >= DATE_MS_MAX) return ms > 0 ? 'infinity' : '-infinity'
  const { day, era } = wallClock(ms + zone.offsetMs(ms), 0)
  return `${day}${era}`
}

function utcMs(year: number, month: number, day: number): number {
  // Date.UTC interprets the years 0 to 99 as 1900 to 1999.
  return year >= 100 ? Date.UTC(year, month - 1, day) : new Date(0).setUTCFullYear(year, month - 1, day)
}

function offsetMs(sign: string, [hours = '0', minutes = '0', seconds = '0']: readonly (string | undefined)[]): number {
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -ms : ms
}

/** `micros` are the microseconds below the millisecond, 0 to 999. */
function wallClock(wallMs: number, micros: number) {
  const text = new Date(wallMs).toISOString()
  const below = String(micros).padStart(3, '0')
  if (wallMs >= YEAR_1_MS && wallMs < YEAR_10000_MS) {
    return { day: text.slice(0, 10), time: text.slice(11, 23) + below, era: '' }
  }
  const [, year, monthDay, time] = /^([+-]?\d+)-(\d\d-\d\d)T(.*)Z$/.exec(text) ?? []
  const isBefore = Number(year) <= 0
  const shownYear = String(isBefore ? 1 - Number(year) : Number(year)).padStart(4, '0')
  return {
    day: `${shownYear}-${monthDay}`,
    time: `${time}${below}`,
    era: isBefore ? ' BC' : '',
  }
}

function offsetText(offset: number): string {
  if (offset === 0) return '+00:00:00'
  const seconds = Math.abs(offset) / 1000
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  )
  return `${offset < 0 ? '-' : '+'}${parts.join(':')}`
}
