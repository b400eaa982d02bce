import { INT64, int64, OPTIONAL_INT64, OPTIONAL_STRING, type Schema, STRING } from '../../../../../sdk/index.ts'
import type { Lsn } from '../changes/change.ts'

const SNAPSHOT: Schema = {
  type: 'string',
  optional: true,
  name: 'io.debezium.data.Enum',
  version: 1,
  parameters: { allowed: 'true,first,first_in_data_collection,last_in_data_collection,last,false,incremental' },
  default: 'false',
}

export const SOURCE_SCHEMA: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.postgresql.Source',
  version: 1,
  fields: [
    { name: 'version', schema: STRING },
    { name: 'connector', schema: STRING },
    { name: 'name', schema: STRING },
    { name: 'ts_ms', schema: INT64 },
    { name: 'snapshot', schema: SNAPSHOT },
    { name: 'db', schema: STRING },
    { name: 'sequence', schema: OPTIONAL_STRING },
    { name: 'ts_us', schema: OPTIONAL_INT64 },
    { name: 'ts_ns', schema: OPTIONAL_INT64 },
    { name: 'schema', schema: STRING },
    { name: 'table', schema: STRING },
    { name: 'txId', schema: OPTIONAL_INT64 },
    { name: 'lsn', schema: OPTIONAL_INT64 },
    { name: 'xmin', schema: OPTIONAL_INT64 },
  ],
}

/** Where and when a change was made. */
export type ChangeOrigin = {
  /** Empty for a logical message. */
  readonly schema: string
  readonly table: string
  readonly transactionId: number | undefined
  readonly lsn: Lsn
  readonly time: EventTime
  /** Undefined for a change of the stream. */
  readonly marker: string | undefined
}

/** A time in the three units of events. */
export type EventTime = { readonly ms: number; readonly us: number | bigint; readonly ns: number | bigint }

export function eventTime(us: bigint): EventTime {
  return { ms: Number(us / 1000n), us: int64(us), ns: int64(us * 1000n) }
}

/** Creates the field `source` of events. */
export class SourceBlock {
  readonly #version: string
  readonly #name: string
  readonly #database: string
  /** The end of the last transaction, by which consumers order events together with their LSN. */
  lastCommitLsn: Lsn | undefined
  /** The `xmin` of the replication slot; undefined unless `xmin.fetch.interval.ms` is set. */
  xmin: number | undefined

  constructor(options: {
    readonly version: string
    readonly name: string
    readonly database: string
    readonly lastCommitLsn: Lsn | undefined
  }) {
    this.#version = options.version
    this.#name = options.name
    this.#database = options.database
    this.lastCommitLsn = options.lastCommitLsn
  }

  of({ schema, table, transactionId, lsn, time, marker }: ChangeOrigin): object {
    const last = this.lastCommitLsn === undefined ? 'null' : `"${this.lastCommitLsn}"`
    return {
      version: this.#version,
      connector: 'postgresql',
      name: this.#name,
      ts_ms: time.ms,
      snapshot: marker ?? null,
      db: this.#database,
      sequence: `[${last},"${lsn}"]`,
      ts_us: time.us,
      ts_ns: time.ns,
      schema,
      table,
      txId: transactionId ?? null,
      lsn: int64(lsn),
      xmin: marker === undefined ? (this.xmin ?? null) : null,
    }
  }
}
