import type { TimeZone } from '../time-zone.ts'

// Parsers of the usual text forms of numbers and times, directly from bytes. Each returns what the conversion of the same text in
// `result-columns.ts` returns. For any other form it returns NaN, and the caller uses that conversion.

/** Returns the number that a cell is stored as in a `NumberColumn`, or NaN. */
export type CellParser = (bytes: Uint8Array, start: number, end: number) => number

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const COLON = 0x3a
const SPACE = 0x20
const PLUS = 0x2b
const TRUE = 0x74
const FALSE = 0x66
/** A double represents each integer of up to this many decimal digits exactly. */
const DIGITS_MAX = 15

/** Returns the number of digits only; NaN if the range is empty or contains anything else. */
function digitsIn(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) return Number.NaN
  let number = 0
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

export function parseInteger(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS && start < end
  const first = isNegative ? start + 1 : start
  if (end - first > DIGITS_MAX) return Number.NaN
  const number = digitsIn(bytes, first, end)
  return isNegative ? -number : number
}

export function parseBoolean(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 1) return Number.NaN
  return bytes[start] === TRUE ? 1 : bytes[start] === FALSE ? 0 : Number.NaN
}

export function parseBit(bytes: Uint8Array, start: number, end: number): number {
  const bit = end - start === 1 ? bytes[start]! - ZERO : -1
  return bit === 0 || bit === 1 ? bit : Number.NaN
}

/** The powers of ten that a double represents exactly. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)

/** The quotient of two exact doubles is the double that is nearest to the decimal number, as `Number` returns it. */
export function parseDouble(bytes: Uint8Array, start: number, end: number): number {
  const point = unscaledIn(bytes, start, end)
  if (Number.isNaN(unscaled)) return Number.NaN
  return point < 0 ? unscaled : unscaled / POWERS_OF_TEN[end - point - 1]!
}

/** Parses a decimal as its unscaled value. */
export function decimalParser(scale: number): CellParser {
  return (bytes, start, end) => {
    const point = unscaledIn(bytes, start, end)
    const zeros = point < 0 ? scale : scale - (end - point - 1)
    // With more than 15 digits, including the zeros that the scale adds, a double may be inexact.
    if (zeros < 0 || end - start + zeros > DIGITS_MAX) return Number.NaN
    return unscaled * POWERS_OF_TEN[zeros]!
  }
}

/** The digits that `unscaledIn` has read, with the sign and without the point; NaN if it has read anything else. */
let unscaled = 0

/** Reads up to 15 digits with at most one point behind the first. Returns the index of the point, or -1. */
function unscaledIn(bytes: Uint8Array, start: number, end: number): number {
  unscaled = Number.NaN
  const isNegative = bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  if (first >= end || end - first > DIGITS_MAX + 1) return -1
  let point = -1
  let number = 0
  for (let at = first; at < end; at++) {
    const digit = bytes[at]! - ZERO
    if (digit >= 0 && digit <= 9) number = number * 10 + digit
    else if (bytes[at] === POINT && point < 0 && at > first) point = at
    else return -1
  }
  if (end - first - (point < 0 ? 0 : 1) > DIGITS_MAX) return -1
  unscaled = isNegative ? -number : number
  return point
}

const DATE_BYTES = 10
const TIMESTAMP_BYTES = 19

/** Parses `yyyy-MM-dd` as ms since 1970. */
export function parseDate(bytes: Uint8Array, start: number, end: number): number {
  return end - start === DATE_BYTES ? dayMs(bytes, start) : Number.NaN
}

/** Parses `yyyy-MM-dd HH:mm:ss.SSSSSS`, with or without `+00`, of a column in `zone`. */
export function timestampParser(zone: TimeZone, toNumber: (micros: number) => number): CellParser {
  return (bytes, start, end) => {
    const isInstant = bytes[end - 1] === ZERO && bytes[end - 2] === ZERO && bytes[end - 3] === PLUS
    const last = isInstant ? end - 3 : end
    const ms = dayMs(bytes, start) + timeMs(bytes, start + DATE_BYTES, last)
    if (Number.isNaN(ms)) return Number.NaN
    const fraction = fractionMicros(bytes, start + TIMESTAMP_BYTES, last)
    return toNumber((isInstant ? ms : zone.toInstantMs(ms)) * 1000 + fraction)
  }
}

/** Microseconds of the fraction between the indexes, which begins with a point; 0 without one. */
function fractionMicros(bytes: Uint8Array, start: number, end: number): number {
  if (start === end) return 0
  const digits = end - start - 1
  if (bytes[start] !== POINT || digits > 6) return Number.NaN
  return digitsIn(bytes, start + 1, end) * POWERS_OF_TEN[6 - digits]!
}

/** Parses ` HH:mm:ss`. */
function timeMs(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < TIMESTAMP_BYTES - DATE_BYTES) return Number.NaN
  if (bytes[start] !== SPACE || bytes[start + 3] !== COLON || bytes[start + 6] !== COLON) return Number.NaN
  const hours = digitsIn(bytes, start + 1, start + 3)
  const minutes = digitsIn(bytes, start + 4, start + 6)
  return ((hours * 60 + minutes) * 60 + digitsIn(bytes, start + 7, start + 9)) * 1000
}

/** The last day that was parsed: consecutive rows often have the same. */
let lastDay = Number.NaN
let lastDayMs = Number.NaN

function dayMs(bytes: Uint8Array, start: number): number {
  if (bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS) return Number.NaN
  const year = digitsIn(bytes, start, start + 4)
  const month = digitsIn(bytes, start + 5, start + 7)
  const day = digitsIn(bytes, start + 8, start + 10)
  const whole = (year * 100 + month) * 100 + day
  if (whole === lastDay) return lastDayMs
  // `Date.UTC` would interpret the years 0 to 99 as 1900 to 1999.
  if (!(year >= 100)) return Number.NaN
  lastDay = whole
  lastDayMs = Date.UTC(year, month - 1, day)
  return lastDayMs
}
