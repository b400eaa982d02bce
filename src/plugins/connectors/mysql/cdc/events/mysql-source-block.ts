import { INT32, INT64, OPTIONAL_INT64, OPTIONAL_STRING, type Schema, STRING } from '../../../../../sdk/index.ts'
import type { ChangeOrigin } from '../../../cdc/events/event-dialect.ts'
import { SOURCE_FIELDS } from '../../../cdc/events/source-fields.ts'

export type MysqlFlavor = 'mysql' | 'mariadb'

export function sourceSchema(flavor: MysqlFlavor): Schema {
  return {
    type: 'struct',
    name: `io.debezium.connector.${flavor}.Source`,
    version: 1,
    fields: [
      ...SOURCE_FIELDS,
      { name: 'table', schema: OPTIONAL_STRING },
      { name: 'server_id', schema: INT64 },
      { name: 'gtid', schema: OPTIONAL_STRING },
      { name: 'file', schema: STRING },
      { name: 'pos', schema: INT64 },
      { name: 'row', schema: INT32 },
      { name: 'thread', schema: OPTIONAL_INT64 },
      { name: 'query', schema: OPTIONAL_STRING },
    ],
  }
}

/** Where and when a change was made. */
export type MysqlOrigin = ChangeOrigin & {
  readonly serverId: number
  readonly gtid: string | undefined
  readonly file: string
  readonly position: number
  /** Number of the row in its event. */
  readonly row: number
  readonly threadId: number | undefined
  readonly query: string | undefined
  /** `source.snapshot`; undefined for a change of the stream. */
  readonly marker: string | undefined
  /** The id of the transaction in its metadata. */
  readonly transactionId: string
}

/** Creates the field `source` of events. */
export function sourceBlock(flavor: MysqlFlavor, version: string, name: string): (origin: MysqlOrigin) => object {
  return (origin) => ({
    version,
    connector: flavor,
    name,
    ts_ms: origin.time.ms,
    snapshot: origin.marker ?? null,
    db: origin.schema,
    sequence: null,
    ts_us: origin.time.us,
    ts_ns: origin.time.ns,
    table: origin.table === '' ? null : origin.table,
    server_id: origin.serverId,
    gtid: origin.gtid ?? null,
    file: origin.file,
    pos: origin.position,
    row: origin.row,
    thread: origin.threadId ?? null,
    query: origin.query ?? null,
  })
}
