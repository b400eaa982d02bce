import { plainJson } from '../../../../java-compat/json/connect-json-writer.ts'
import { int64, type Position } from '../../../../sdk/index.ts'
import { plainTable, type TableName } from '../identifier.ts'

/** Position up to which a table or query has been read. A member that the mode does not use is undefined. */
export type TableOffset = {
  /** Timestamp of the last row, in microseconds since 1970. */
  readonly micros?: number | undefined
  readonly id?: number | bigint | undefined
}

/** Returns the source partition that stores a table's offset, in the newest format of the JDBC connector. */
export function partitionOf(table: TableName | undefined): Position {
  return table === undefined ? { query: 'query' } : { protocol: '1', table: plainTable(table) }
}

/** Returns the source partitions under which a JDBC connector may have stored the offset, the newest format first. */
export function earlierPartitions(table: TableName | undefined, catalog: string | undefined): readonly Position[] {
  if (table === undefined) return [partitionOf(table)]
  const withCatalog = { protocol: '1', table: `${catalog}.${plainTable(table)}` }
  // Aiven's connector leaves out the schema with table.names.qualify=false.
  const unqualified = { protocol: '1', table: table.name }
  return [partitionOf(table), ...(catalog === undefined ? [] : [withCatalog]), unqualified, { table: table.name }]
}

/**
 * Converts to the JDBC connector's offset: milliseconds, nanoseconds within the second, and the incrementing column.
 */
export function toSourceOffset({ micros, id }: TableOffset): Position {
  if (micros === undefined) return id === undefined ? {} : { incrementing: id }
  const timestamp = Math.floor(micros / 1000)
  const nanos = (micros - Math.floor(micros / 1_000_000) * 1_000_000) * 1000
  return id === undefined
    ? { timestamp, timestamp_nanos: nanos }
    : { incrementing: id, timestamp, timestamp_nanos: nanos }
}

type InitialKeys = {
  readonly mode: string
  readonly 'timestamp.initial'?: number | undefined
  readonly 'timestamp.initial.ms'?: number | undefined
  readonly 'incrementing.initial'?: number | undefined
}

/**
 * Returns where to start reading a table without a stored offset. `readClock` returns the database time in
 * microseconds.
 */
export async function initialOffset(config: InitialKeys, readClock: () => Promise<number>): Promise<TableOffset> {
  const id = config.mode.endsWith('incrementing') ? config['incrementing.initial'] : undefined
  if (!config.mode.startsWith('timestamp')) return { id }
  const aivenMs = config['timestamp.initial.ms']
  if (aivenMs !== undefined) return { id, micros: aivenMs * 1000 }
  const initialMs = config['timestamp.initial']
  if (initialMs === undefined) return { id }
  return { id, micros: initialMs === -1 ? await readClock() : initialMs * 1000 }
}

/** Throws an `Error` if the value is not a valid offset. */
export function parseOffset(offset: Position): TableOffset {
  const micros = microsOf(offset)
  const id = offset['incrementing']
  if (id !== undefined && id !== null && !/^-?\d+$/.test(String(id))) {
    throw new Error(`'incrementing' of an offset must be an integer, not ${plainJson(id)}`)
  }
  const isGiven = id !== undefined && id !== null
  return {
    ...(micros !== undefined && { micros }),
    ...(isGiven && { id: int64(BigInt(id as number | bigint | string)) }),
  }
}

function microsOf({ timestamp, timestamp_nanos: nanos }: Position): number | undefined {
  if (timestamp === undefined || timestamp === null) return undefined
  if (!Number.isSafeInteger(timestamp)) {
    throw new Error(`'timestamp' of an offset must be milliseconds since 1970, not ${plainJson(timestamp)}`)
  }
  if (nanos === undefined || nanos === null) return (timestamp as number) * 1000
  if (!Number.isInteger(nanos) || (nanos as number) < 0 || (nanos as number) > 999_999_999) {
    throw new Error(`'timestamp_nanos' of an offset must be from 0 to 999999999, not ${plainJson(nanos)}`)
  }
  return Math.floor((timestamp as number) / 1000) * 1_000_000 + Math.floor((nanos as number) / 1000)
}

/**
 * Returns the offset to resume from after each of these ascending timestamps. Resuming after a timestamp skips all rows
 * with it, so that is safe only after the last row of each timestamp. `last` means that no further row can have the
 * last timestamp.
 */
export function resumableOffsets(
  before: TableOffset,
  timestamps: readonly number[],
  last: boolean,
): readonly TableOffset[] {
  let place = before
  return timestamps.map((micros, index) => {
    const next = timestamps[index + 1]
    if (next === undefined ? last : next > micros) place = { micros }
    return place
  })
}
