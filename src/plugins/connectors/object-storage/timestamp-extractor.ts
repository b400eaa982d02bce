import { DataError, type SinkRecord, valueLabel } from '../../../sdk/index.ts'
import { fieldValueAt } from './field-value.ts'

/** Where the timestamp of a record comes from. */
export type TimestampSource =
  | { readonly from: 'clock' }
  | { readonly from: 'record' }
  | { readonly from: 'field'; readonly field: string }

/** Returns the timestamp of a record, in ms. Throws a `DataError` if it has none. `clockMs`: the time of the clock. */
export type TimestampExtractor = (record: SinkRecord, clockMs: number) => number

export function timestampExtractor(source: TimestampSource): TimestampExtractor {
  switch (source.from) {
    case 'clock':
      return (_, clockMs) => clockMs
    case 'record':
      return ({ timestampMs }) => {
        if (timestampMs === null) throw new DataError('the record has no timestamp')
        return timestampMs
      }
    case 'field':
      return ({ value, valueSchema }) => {
        const found = fieldValueAt(value, valueSchema, source.field)
        const ms = found === undefined ? undefined : timestampMsOf(found.value)
        if (ms === undefined || !Number.isFinite(ms))
          throw new DataError(
            `the field '${source.field}' has no timestamp: expected ms since 1970 or an ISO 8601 text, got ${valueLabel(found?.value)}`,
          )
        return ms
      }
  }
}

function timestampMsOf(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Date) return value.getTime()
  if (typeof value !== 'string') return undefined
  if (/^-?\d{1,19}$/.test(value)) return Number(value)
  return isoMs(value)
}

const ISO =
  /^(-?\d{4,6})(?:-(\d\d)(?:-(\d\d))?)?(?:[T](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/

/** A date, with or without a time. A time without an offset is in UTC. */
function isoMs(text: string): number | undefined {
  const [match, year, month = '1', day = '1', hour = '0', minute = '0', second = '0', fraction = '', offset = 'Z'] =
    ISO.exec(text) ?? []
  if (match === undefined) return undefined
  const parts = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const
  const date = new Date(0)
  date.setUTCFullYear(parts[0], parts[1], parts[2])
  date.setUTCHours(parts[3], parts[4], parts[5], Number(fraction.slice(0, 3).padEnd(3, '0')))
  const isReal = date.getUTCMonth() === parts[1] && date.getUTCDate() === parts[2] && parts[3] < 24 && parts[4] < 60
  return isReal && parts[5] < 60 ? date.getTime() - offsetMs(offset) : undefined
}

function offsetMs(text: string): number {
  if (text === 'Z') return 0
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(3).replace(':', '') || 0)
  return (text.startsWith('-') ? -minutes : minutes) * 60_000
}
