import { INT64, type Schema, STRING } from '../../../../sdk/index.ts'

export const HEARTBEAT_KEY: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.common.ServerNameKey',
  version: 1,
  fields: [{ name: 'serverName', schema: STRING }],
}

export const HEARTBEAT_VALUE: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.common.Heartbeat',
  version: 1,
  fields: [{ name: 'ts_ms', schema: INT64 }],
}
