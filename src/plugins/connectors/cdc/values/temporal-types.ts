import { DATE, INT32, INT64, int64, type Schema, STRING, TIME, TIMESTAMP } from '../../../../sdk/index.ts'
import {
  daysFromText,
  fractionDigits,
  isoDate,
  isoTime,
  microsOf,
  millisOf,
  timeMicrosFromText,
  type WallTime,
  wallTimeFromText,
  zonedTimeMicrosFromText,
} from './epoch.ts'
import type { TimeMode } from './value-modes.ts'
import { named, type ValueType } from './value-type.ts'

const debezium = (name: string, schema: Schema, decode: ValueType['decode']): ValueType =>
  named(`io.debezium.time.${name}`, { schema, decode })

/** The maximum of `Date`, in ms and in days. Stands for later dates and `infinity`. */
const DATE_MS_MAX = 8.64e15
const DATE_DAYS_MAX = 1e8

/** What Debezium's stream has for `infinity`: the server's numbers, converted without a check for overflow. */
const INFINITE_DAYS: Readonly<Record<string, number>> = { infinity: -2_147_472_692, '-infinity': -2_147_472_691 }
/** The milliseconds of PostgreSQL's JDBC driver for `infinity`. */
const INFINITE_MS: Readonly<Record<string, bigint>> = { infinity: 9223372036825200n, '-infinity': -9223372036832400n }
const INFINITE_ISO: Readonly<Record<string, string>> = {
  infinity: '+294247-01-10T04:00:25.2Z',
  '-infinity': '-290308-12-21T19:59:27.6Z',
}

const dateDays = (text: string) => INFINITE_DAYS[text] ?? daysFromText(text)

export function dateType(mode: TimeMode): ValueType {
  switch (mode) {
    case 'connect':
      return { schema: DATE, decode: connectDate }
    case 'isostring':
      return debezium('IsoDate', STRING, (text) => `${isoDate(dateDays(text))}Z`)
    default:
      return debezium('Date', INT32, dateDays)
  }
}

function connectDate(text: string): Date {
  if (text === 'infinity') return new Date(DATE_MS_MAX)
  if (text === '-infinity') return new Date(-DATE_MS_MAX)
  return new Date(Math.max(-DATE_DAYS_MAX, Math.min(DATE_DAYS_MAX, daysFromText(text))) * 86_400_000)
}

/** `precision` is the number of digits of the fraction of a second. */
export function timeType(precision: number, mode: TimeMode): ValueType {
  switch (mode) {
    case 'connect':
      return { schema: TIME, decode: timeMillis }
    case 'isostring':
      return debezium('IsoTime', STRING, (text) => `${text.startsWith('24:') ? '00:00:00' : text}Z`)
    case 'nanoseconds':
      return debezium('NanoTime', INT64, (text) => timeMicrosFromText(text) * 1000)
    case 'adaptive':
      return precision <= 3 ? debezium('Time', INT32, timeMillis) : MICRO_TIME
    default:
      return MICRO_TIME
  }
}

const MICRO_TIME = debezium('MicroTime', INT64, timeMicrosFromText)

function timeMillis(text: string): number {
  return Math.floor(timeMicrosFromText(text) / 1000)
}

export const ZONED_TIME = debezium('ZonedTime', STRING, (text) => {
  const micros = zonedTimeMicrosFromText(text)
  const seconds = Math.floor(micros / 1_000_000)
  return `${isoTime(seconds, fractionDigits(micros - seconds * 1_000_000, 0))}Z`
})

export function timestampType(precision: number, mode: TimeMode): ValueType {
  switch (mode) {
    case 'connect':
      return { schema: TIMESTAMP, decode: connectTimestamp }
    case 'isostring':
      return debezium('IsoTimestamp', STRING, (text) => INFINITE_ISO[text] ?? isoTimestamp(wallTimeFromText(text), 0))
    case 'nanoseconds':
      return debezium('NanoTimestamp', INT64, nanosFromText)
    case 'microseconds':
      return MICRO_TIMESTAMP
    default:
      return precision <= 3 ? debezium('Timestamp', INT64, millisFromText) : MICRO_TIMESTAMP
  }
}

const MICRO_TIMESTAMP = debezium('MicroTimestamp', INT64, microsFromTimestamp)

function microsFromTimestamp(text: string): number | bigint {
  const infinite = INFINITE_MS[text]
  return infinite === undefined ? microsOf(wallTimeFromText(text)) : int64(infinite * 1000n)
}

/** Debezium's nanoseconds overflow beyond the year 2262. */
function nanosFromText(text: string): number | bigint {
  return int64(BigInt.asIntN(64, BigInt(microsFromTimestamp(text)) * 1000n))
}

function millisFromText(text: string): number | bigint {
  const infinite = INFINITE_MS[text]
  return infinite === undefined ? millisOf(wallTimeFromText(text)) : int64(infinite)
}

function connectTimestamp(text: string): Date {
  return new Date(Math.max(-DATE_MS_MAX, Math.min(DATE_MS_MAX, Number(millisFromText(text)))))
}

function isoTimestamp({ days, seconds, micros }: WallTime, placesMin: number): string {
  return `${isoDate(days)}T${isoTime(seconds, fractionDigits(micros, placesMin))}Z`
}

/** Has as many digits of the fraction as the column. */
export function zonedTimestampType(precision: number): ValueType {
  return debezium('ZonedTimestamp', STRING, (text) =>
    text.endsWith('infinity') ? text : isoTimestamp(wallTimeFromText(text), precision),
  )
}
