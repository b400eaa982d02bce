import { OPTIONAL_INT64, OPTIONAL_STRING, optional, type Schema, STRING } from '../../../../../sdk/index.ts'
import { TRANSACTION_BLOCK } from '../../../cdc/events/table-events.ts'
import { SOURCE_SCHEMA } from './source-block.ts'

// Events of logical messages, which `pg_logical_emit_message` writes.

export const MESSAGE_KEY: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.postgresql.MessageKey',
  version: 1,
  fields: [{ name: 'prefix', schema: OPTIONAL_STRING }],
}

/** The schema of values. The content of a message has the representation of `bytea`. */
export function messageSchema(content: Schema): Schema {
  const message: Schema = {
    type: 'struct',
    name: 'io.debezium.connector.postgresql.Message',
    version: 1,
    fields: [
      { name: 'prefix', schema: OPTIONAL_STRING },
      { name: 'content', schema: optional(content) },
    ],
  }
  return {
    type: 'struct',
    name: 'io.debezium.connector.postgresql.MessageValue',
    version: 1,
    fields: [
      { name: 'op', schema: STRING },
      { name: 'ts_ms', schema: OPTIONAL_INT64 },
      { name: 'source', schema: SOURCE_SCHEMA },
      { name: 'transaction', schema: TRANSACTION_BLOCK },
      { name: 'message', schema: message },
    ],
  }
}
