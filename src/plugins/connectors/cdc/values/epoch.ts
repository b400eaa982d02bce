import { DataError, int64 } from '../../../../sdk/index.ts'

// Conversions of PostgreSQL's text of dates and times (DateStyle ISO) to numbers. A number of microseconds is exact for 285
// years before and after 1970; beyond, it is a bigint.

const ZERO = 0x30
const DASH = 0x2d
const DAY_SECONDS = 86_400
/** Days from 1970 whose microseconds are safe integers. */
const EXACT_DAYS = 104_000

/** A date and a time of day, with the microseconds of the second; without a time zone. */
export type WallTime = { readonly days: number; readonly seconds: number; readonly micros: number }

/** Days from 1970-01-01 in the proleptic Gregorian calendar. The year 0 is 1 BC. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

/** The year, month and day of a number of days from 1970-01-01. */
export function civilFromDays(days: number): readonly [year: number, month: number, day: number] {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const day = shifted - era * 146_097
  const year = Math.floor((day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365)
  const dayOfYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const month = Math.floor((5 * dayOfYear + 2) / 153)
  const civilMonth = month < 10 ? month + 3 : month - 9
  const dayOfMonth = dayOfYear - Math.floor((153 * month + 2) / 5) + 1
  return [year + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, dayOfMonth]
}

/** The days of a date. `infinity` must be handled by the caller. */
export function daysFromText(text: string): number {
  const end = text.endsWith(' BC') ? text.length - 3 : text.length
  const days = daysBetween(text, end, end < text.length)
  return Number.isNaN(days) ? rejectText(text, 'a date') : days
}

/** Parses a date that ends before `end`: `yyyy-MM-dd`, with four or more digits of the year. */
function daysBetween(text: string, end: number, isBefore: boolean): number {
  if (end < 10 || text.charCodeAt(end - 3) !== DASH || text.charCodeAt(end - 6) !== DASH) return Number.NaN
  const year = digits(text, 0, end - 6)
  return daysFromCivil(isBefore ? 1 - year : year, digits(text, end - 5, end - 3), digits(text, end - 2, end))
}

/** Seconds and microseconds of a time of day `HH:mm:ss.SSSSSS` between two places of the text. */
function timeBetween(text: string, start: number, end: number): readonly [seconds: number, micros: number] {
  const seconds =
    (digits(text, start, start + 2) * 60 + digits(text, start + 3, start + 5)) * 60 + digits(text, start + 6, start + 8)
  const places = end - start - 9
  return [seconds, places > 0 ? digits(text, start + 9, end) * 10 ** (6 - places) : 0]
}

/** Microseconds of a `time`. */
export function timeMicrosFromText(text: string): number {
  const [seconds, micros] = timeBetween(text, 0, text.length)
  const sum = seconds * 1_000_000 + micros
  return Number.isNaN(sum) ? rejectText(text, 'a time') : sum
}

/** Microseconds since midnight in UTC of a `timetz`, from 0 to a day. */
export function zonedTimeMicrosFromText(text: string): number {
  const zone = zoneStart(text, 8)
  const [seconds, micros] = timeBetween(text, 0, zone)
  const utc = (seconds - offsetSeconds(text, zone)) % DAY_SECONDS
  const sum = (utc < 0 ? utc + DAY_SECONDS : utc) * 1_000_000 + micros
  return Number.isNaN(sum) ? rejectText(text, 'a time with a time zone') : sum
}

/** Parses a `timestamp`. A `timestamptz` has an offset, which is applied. `infinity` must be handled by the caller. */
export function wallTimeFromText(text: string): WallTime {
  const isBefore = text.endsWith(' BC')
  const end = isBefore ? text.length - 3 : text.length
  const space = text.indexOf(' ')
  const zone = zoneStart(text, space + 9, end)
  const days = daysBetween(text, space, isBefore)
  const [seconds, micros] = timeBetween(text, space + 1, zone)
  const sum = days + seconds + micros
  if (space < 0 || Number.isNaN(sum)) return rejectText(text, 'a timestamp')
  return zone === end ? { days, seconds, micros } : atOffset(days, seconds - offsetSeconds(text, zone, end), micros)
}

function atOffset(days: number, seconds: number, micros: number): WallTime {
  const shift = Math.floor(seconds / DAY_SECONDS)
  return { days: days + shift, seconds: seconds - shift * DAY_SECONDS, micros }
}

export function microsOf({ days, seconds, micros }: WallTime): number | bigint {
  if (days < EXACT_DAYS && days > -EXACT_DAYS) return (days * DAY_SECONDS + seconds) * 1_000_000 + micros
  return int64(BigInt(days * DAY_SECONDS + seconds) * 1_000_000n + BigInt(micros))
}

/** Rounds down, as microseconds before 1970 count from the second before them. */
export function millisOf({ days, seconds, micros }: WallTime): number {
  return (days * DAY_SECONDS + seconds) * 1000 + Math.floor(micros / 1000)
}

/** `yyyy-MM-dd` as in ISO 8601: the year 44 BC is -0043, years beyond 9999 have a plus sign. */
export function isoDate(days: number): string {
  const [year, month, day] = civilFromDays(days)
  return `${isoYear(year)}-${two(month)}-${two(day)}`
}

function isoYear(year: number): string {
  const plain = String(Math.abs(year)).padStart(4, '0')
  if (year < 0) return `-${plain}`
  return year > 9999 ? `+${plain}` : plain
}

/** `HH:mm:ss`, with as many digits of the fraction as are given. */
export function isoTime(seconds: number, fraction: string): string {
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return fraction === '' ? clock : `${clock}.${fraction}`
}

/** The digits of the fraction of a second, at least `placesMin` and without zeros at the end beyond them. */
export function fractionDigits(micros: number, placesMin: number): string {
  const all = String(micros).padStart(6, '0')
  let end = 6
  while (end > placesMin && all.charCodeAt(end - 1) === ZERO) end -= 1
  return all.slice(0, end)
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

/** Where the offset begins; the end of the text if it has none. */
function zoneStart(text: string, from: number, end = text.length): number {
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at)
    if (code === DASH || code === 0x2b) return at
  }
  return end
}

/** `+02`, `+05:30` or `-00:53:28`. */
function offsetSeconds(text: string, start: number, end = text.length): number {
  if (end - start === 3) return (text.charCodeAt(start) === DASH ? -3600 : 3600) * digits(text, start + 1, end)
  const [hours = 0, minutes = 0, seconds = 0] = text
    .slice(start + 1, end)
    .split(':')
    .map(Number)
  const offset = (hours * 60 + minutes) * 60 + seconds
  return text.charCodeAt(start) === DASH ? -offset : offset
}

/** Returns NaN if there is anything but digits. */
function digits(text: string, start: number, end: number): number {
  let number = 0
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - ZERO
    // Also if the text is too short.
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

function rejectText(text: string, wanted: string): never {
  throw new DataError(`'${text}' is not ${wanted}`)
}
