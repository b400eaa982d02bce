import { int64, OPTIONAL_INT64, type Schema, STRING } from '../../../../../sdk/index.ts'
import type { ChangeOrigin } from '../../../cdc/events/event-dialect.ts'
import { SOURCE_FIELDS } from '../../../cdc/events/source-fields.ts'
import type { Lsn } from '../changes/change.ts'

export const SOURCE_SCHEMA: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.postgresql.Source',
  version: 1,
  fields: [
    ...SOURCE_FIELDS,
    { name: 'schema', schema: STRING },
    { name: 'table', schema: STRING },
    { name: 'txId', schema: OPTIONAL_INT64 },
    { name: 'lsn', schema: OPTIONAL_INT64 },
    { name: 'xmin', schema: OPTIONAL_INT64 },
  ],
}

/** Where and when a change was made. A logical message has no table. */
export type PostgresOrigin = ChangeOrigin & {
  readonly transactionId: number | undefined
  readonly lsn: Lsn
  /** Undefined for a change of the stream. */
  readonly marker: string | undefined
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

  of({ schema, table, transactionId, lsn, time, marker }: PostgresOrigin): object {
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
