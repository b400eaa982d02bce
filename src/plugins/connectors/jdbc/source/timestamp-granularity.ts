import { dateFromMs } from '../../../../java-compat/date-from-ms.ts'
import { INT64, int64, type Schema, STRING, TIMESTAMP } from '../../../../sdk/index.ts'
import { isoFromMicros } from '../time-text.ts'
import type { TimeZone } from '../time-zone.ts'

export const TIMESTAMP_GRANULARITIES = [
  'connect_logical',
  'micros_long',
  'micros_string',
  'micros_iso_datetime_string',
  'nanos_long',
  'nanos_string',
  'nanos_iso_datetime_string',
] as const
export type TimestampGranularity = (typeof TIMESTAMP_GRANULARITIES)[number]

type TimestampForm = {
  readonly schema: Schema
  readonly write: (micros: number, zone: TimeZone) => unknown
}

/** Conversion from microseconds since 1970. Databases have no nanoseconds, so the nanosecond forms multiply by 1000. */
const TIMESTAMP_FORMS: Readonly<Record<TimestampGranularity, TimestampForm>> = {
  connect_logical: {
    schema: TIMESTAMP,
    write: (micros) => dateFromMs(Math.floor(micros / 1000)),
  },
  micros_long: { schema: INT64, write: (micros) => micros },
  micros_string: { schema: STRING, write: String },
  micros_iso_datetime_string: { schema: STRING, write: isoFromMicros },
  nanos_long: { schema: INT64, write: (micros) => int64(BigInt(micros) * 1000n) },
  nanos_string: { schema: STRING, write: (micros) => String(BigInt(micros) * 1000n) },
  nanos_iso_datetime_string: { schema: STRING, write: (micros, zone) => `${isoFromMicros(micros, zone)}000` },
}

/** `toMicros` converts the text of the column; `recordZone` is the zone of ISO strings in records. */
export function timestampKind(
  granularity: TimestampGranularity,
  toMicros: (text: string) => number,
  recordZone: TimeZone,
) {
  const { schema, write } = TIMESTAMP_FORMS[granularity]
  return {
    schema,
    read: (text: string) => write(toMicros(text), recordZone),
  }
}
