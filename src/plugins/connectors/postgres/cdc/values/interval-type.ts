import { DataError, INT64, int64, STRING } from '../../../../../sdk/index.ts'
import { named, type ValueType } from '../../../cdc/values/value-type.ts'

/** The parts of an interval in the style `postgres`: `1 year 2 mons 3 days -04:05:06.789`. */
const UNIT = /([-+]?\d+) (year|mon|day)s?/g
const CLOCK = /([-+]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/
const INTERVAL = /^(?:[-+]?\d+ (?:year|mon|day)s? ?)*(?:[-+]?\d+:\d\d:\d\d(?:\.\d{1,6})?)?$/

/** A month is the twelfth of a year of 365.25 days. */
const MONTH_MICROS = 2_629_800_000_000n
const DAY_MICROS = 86_400_000_000n
const LONG_MAX = 2n ** 63n - 1n
const LONG_MIN = -(2n ** 63n)

/** Since version 17 of the server. ISO 8601 has no form for them, so their text is the server's. */
const INFINITE: Readonly<Record<string, bigint>> = { infinity: LONG_MAX, '-infinity': LONG_MIN }

type Interval = {
  readonly units: Readonly<Record<'year' | 'mon' | 'day', bigint>>
  readonly sign: 1n | -1n
  readonly clock: readonly [hours: bigint, minutes: bigint, seconds: bigint, micros: bigint]
}

export function intervalType(mode: 'numeric' | 'string'): ValueType {
  return mode === 'numeric'
    ? named('io.debezium.time.MicroDuration', { schema: INT64, decode: microsOfInterval })
    : named('io.debezium.time.Interval', { schema: STRING, decode: isoDuration })
}

function parseInterval(text: string): Interval {
  if (text === '' || !INTERVAL.test(text)) throw new DataError(`'${text}' is not an interval in the style postgres`)
  const units = { year: 0n, mon: 0n, day: 0n }
  for (const [, number, unit] of text.matchAll(UNIT)) units[unit as keyof typeof units] = BigInt(number!)
  const [, sign, hours = '0', minutes = '0', seconds = '0', fraction = ''] = CLOCK.exec(text) ?? []
  const clock = [BigInt(hours), BigInt(minutes), BigInt(seconds), BigInt(fraction.padEnd(6, '0'))] as const
  return { units, sign: sign === '-' ? -1n : 1n, clock }
}

/** Limited to 64 bits. */
function microsOfInterval(text: string): number | bigint {
  const infinite = INFINITE[text]
  if (infinite !== undefined) return infinite
  const { units, sign, clock } = parseInterval(text)
  const [hours, minutes, seconds, micros] = clock
  const time = ((hours * 60n + minutes) * 60n + seconds) * 1_000_000n + micros
  const sum = (units.year * 12n + units.mon) * MONTH_MICROS + units.day * DAY_MICROS + sign * time
  return int64(sum > LONG_MAX ? LONG_MAX : sum < LONG_MIN ? LONG_MIN : sum)
}

/** `P1Y2M3DT-4H-5M-6.789S`. */
function isoDuration(text: string): string {
  if (INFINITE[text] !== undefined) return text
  const { units, sign, clock } = parseInterval(text)
  const [hours, minutes, seconds, micros] = clock
  const fraction = micros === 0n ? '' : `.${String(micros).padStart(6, '0').replace(/0+$/, '')}`
  const isNegative = sign < 0n && (seconds !== 0n || micros !== 0n)
  const time = `${sign * hours}H${sign * minutes}M${isNegative ? '-' : ''}${seconds}${fraction}S`
  return `P${units.year}Y${units.mon}M${units.day}DT${time}`
}
