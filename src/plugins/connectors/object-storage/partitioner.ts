import { DataError, type SinkRecord, valueLabel } from '../../../sdk/index.ts'
import type { TimeZone } from '../jdbc/time-zone.ts'
import { fieldValueAt } from './field-value.ts'
import { periodStartMs, type TimePath } from './path-format.ts'
import { type TimestampSource, timestampExtractor } from './timestamp-extractor.ts'

export type PartitionerSettings =
  | { readonly by: 'partition' }
  | { readonly by: 'fields'; readonly fields: readonly string[] }
  | {
      readonly by: 'time'
      readonly periodMs: number
      readonly path: TimePath
      readonly zone: TimeZone
      readonly timestamp: TimestampSource
    }

/** The folder of a record below that of its topic, and its timestamp if that decides about it. */
export type Placement = {
  readonly path: string
  /** The part of the path that depends on time. If that is the clock, a set of files has only one. */
  readonly period: string
  readonly timestampMs: number | undefined
}

/** Throws a `DataError` for a record that lacks what it needs. */
export type Partitioner = (record: SinkRecord, clockMs: number) => Placement

export function createPartitioner(settings: PartitionerSettings, delimiter: string): Partitioner {
  switch (settings.by) {
    case 'partition':
      return ({ origin }) => ({ path: `partition=${origin.partition}`, period: '', timestampMs: undefined })
    case 'fields':
      return (record) => ({
        path: settings.fields.map((name) => `${name}=${fieldText(record, name)}`).join(delimiter),
        period: '',
        timestampMs: undefined,
      })
    case 'time': {
      const { periodMs, path, zone, timestamp } = settings
      const extract = timestampExtractor(timestamp)
      const known = new Map<number, string>()
      return (record, clockMs) => {
        const timestampMs = extract(record, clockMs)
        const startMs = periodStartMs(timestampMs, periodMs, zone)
        const cached = known.get(startMs)
        if (cached !== undefined) return { path: cached, period: cached, timestampMs }
        if (Math.abs(startMs) > TIME_MS_MAX)
          throw new DataError(`the timestamp ${timestampMs} is not a time in ms: it is out of range`)
        const text = path(startMs, zone.offsetMs(zone.toInstantMs(startMs)))
        if (known.size >= CACHED_MAX) known.clear()
        known.set(startMs, text)
        return { path: text, period: text, timestampMs }
      }
    }
  }
}

const CACHED_MAX = 1_000
/** The last day that has a date. */
const TIME_MS_MAX = 8.64e15 - 86_400_000

function fieldText({ value, valueSchema }: SinkRecord, name: string): string {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || Array.isArray(value))
    throw new DataError(`expected a value with the field '${name}', got ${valueLabel(value)}`)
  const found = fieldValueAt(value, valueSchema, name)
  if (found === undefined) throw new DataError(`the value has no field '${name}'`)
  const { value: part } = found
  if (part === null || part === undefined) return 'null'
  if (typeof part === 'string' || typeof part === 'boolean' || typeof part === 'bigint') return String(part)
  if (typeof part === 'number' && Number.isInteger(part) && !/^float/.test(found.schema?.type ?? ''))
    return String(part)
  throw new DataError(
    `the field '${name}' cannot name a folder: expected a text, an integer or a boolean, got ${valueLabel(part)}`,
  )
}
