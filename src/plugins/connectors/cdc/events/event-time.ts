import { int64, type Schema } from '../../../../sdk/index.ts'

/** A time in the three units of events. */
export type EventTime = { readonly ms: number; readonly us: number | bigint; readonly ns: number | bigint }

export function eventTime(us: bigint): EventTime {
  return { ms: Number(us / 1000n), us: int64(us), ns: int64(us * 1000n) }
}

/** The field `source.snapshot`. */
export const SNAPSHOT_MARKER: Schema = {
  type: 'string',
  optional: true,
  name: 'io.debezium.data.Enum',
  version: 1,
  parameters: { allowed: 'true,first,first_in_data_collection,last_in_data_collection,last,false,incremental' },
  default: 'false',
}
