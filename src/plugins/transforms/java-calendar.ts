// The calendar of Java's `GregorianCalendar`: Julian before 15 October 1582, which followed 4 October.

const DAY_MS = 86_400_000
/** 15 October 1582, in days from 1970. */
const FIRST_GREGORIAN_DAY = -141_427
const CHANGE_YEAR = 1582
/** Days from the beginning of the Julian period, on which the formulas below are based, to 1970. */
const JULIAN_PERIOD_DAYS = 2_440_588

/** A day, with the year 0 for 1 BC, and the month from 0. */
export type JavaDate = {
  readonly year: number
  readonly month: number
  readonly day: number
  /** From 0 for Sunday. */
  readonly weekday: number
}

/** The date in UTC of a time in ms since 1970, within the range of `Date`. */
export function javaDate(ms: number): JavaDate {
  const days = Math.floor(ms / DAY_MS)
  const { year, month, day } = days < FIRST_GREGORIAN_DAY ? julianDate(days) : gregorianDate(ms)
  return { year, month, day, weekday: weekdayOf(days) }
}

/** From 1. */
export function dayOfYear(date: JavaDate): number {
  return daysOf(date) - daysOf({ year: date.year, month: 0, day: 1 }) + 1
}

/**
 * Days from 1970 to a date, whose month and day may be out of range: month 12 is January of the next year. As in Java, a day of
 * the year in 1582 (`isDayOfYear`) is counted in the Julian calendar.
 */
export function daysOf({ year, month, day }: Pick<JavaDate, 'year' | 'month' | 'day'>, isDayOfYear = false): number {
  if (year < CHANGE_YEAR || (year === CHANGE_YEAR && isDayOfYear)) return julianDays(year, month, day)
  const days = gregorianDays(year, month, day)
  return days < FIRST_GREGORIAN_DAY ? julianDays(year, month, day) : days
}

function weekdayOf(days: number): number {
  // 1 January 1970 was a Thursday.
  return (((days + 4) % 7) + 7) % 7
}

function gregorianDate(ms: number): Pick<JavaDate, 'year' | 'month' | 'day'> {
  const date = new Date(ms)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() }
}

function gregorianDays(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day) / DAY_MS
}

function julianDate(days: number): Pick<JavaDate, 'year' | 'month' | 'day'> {
  const shifted = days + JULIAN_PERIOD_DAYS + 32_082
  const yearFromMarch = Math.floor((4 * shifted + 3) / 1461)
  const dayFromMarch = shifted - Math.floor((1461 * yearFromMarch) / 4)
  const monthFromMarch = Math.floor((5 * dayFromMarch + 2) / 153)
  return {
    year: yearFromMarch - 4800 + Math.floor(monthFromMarch / 10),
    month: (monthFromMarch + 2) % 12,
    day: dayFromMarch - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  }
}

function julianDays(year: number, month: number, day: number): number {
  const monthFromMarch = (((month - 2) % 12) + 12) % 12
  const yearFromMarch = year + 4800 + Math.floor((month - 2) / 12)
  const days = 365 * yearFromMarch + Math.floor(yearFromMarch / 4) + Math.floor((153 * monthFromMarch + 2) / 5)
  return days + day - 32_083 - JULIAN_PERIOD_DAYS
}
