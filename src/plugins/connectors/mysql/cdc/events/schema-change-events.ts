import {
  array,
  INT32,
  INT64,
  OPTIONAL_BOOLEAN,
  OPTIONAL_STRING,
  optional,
  type RecordHeader,
  type Schema,
  type SourceRecord,
  STRING,
} from '../../../../../sdk/index.ts'
import type { EventOffset } from '../../../cdc/events/event-writer.ts'
import type { HistoryColumn, TableChange } from '../table-model.ts'
import { type MysqlFlavor, type MysqlOrigin, sourceSchema } from './mysql-source-block.ts'

const OPTIONAL_INT32 = optional(INT32)

const COLUMN: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.schema.Column',
  version: 1,
  fields: [
    { name: 'name', schema: STRING },
    { name: 'jdbcType', schema: INT32 },
    { name: 'nativeType', schema: OPTIONAL_INT32 },
    { name: 'typeName', schema: STRING },
    { name: 'typeExpression', schema: OPTIONAL_STRING },
    { name: 'charsetName', schema: OPTIONAL_STRING },
    { name: 'length', schema: OPTIONAL_INT32 },
    { name: 'scale', schema: OPTIONAL_INT32 },
    { name: 'position', schema: INT32 },
    { name: 'optional', schema: OPTIONAL_BOOLEAN },
    { name: 'autoIncremented', schema: OPTIONAL_BOOLEAN },
    { name: 'generated', schema: OPTIONAL_BOOLEAN },
    { name: 'comment', schema: OPTIONAL_STRING },
    { name: 'defaultValueExpression', schema: OPTIONAL_STRING },
    { name: 'enumValues', schema: optional(array(STRING)) },
  ],
}

const TABLE: Schema = {
  type: 'struct',
  optional: true,
  name: 'io.debezium.connector.schema.Table',
  version: 1,
  fields: [
    { name: 'defaultCharsetName', schema: OPTIONAL_STRING },
    { name: 'primaryKeyColumnNames', schema: optional(array(STRING)) },
    { name: 'columns', schema: array(COLUMN) },
    { name: 'comment', schema: OPTIONAL_STRING },
  ],
}

const CHANGE: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.schema.Change',
  version: 1,
  fields: [
    { name: 'type', schema: STRING },
    { name: 'id', schema: STRING },
    { name: 'table', schema: TABLE },
  ],
}

/** A statement that changes tables, as a record of the topic `topic.prefix`. */
export type SchemaChangeEvent = {
  readonly origin: MysqlOrigin
  readonly database: string
  readonly ddl: string
  readonly changes: readonly TableChange[]
}

export type SchemaChangeWriterOptions = {
  /** Creates the field `source`. */
  readonly source: (origin: MysqlOrigin) => object
  readonly nowMs: () => number
  readonly headers: readonly RecordHeader[]
}

/** Writes the changes of tables as records. */
export class SchemaChangeWriter {
  readonly #topic: string
  readonly #key: Schema
  readonly #value: Schema
  readonly #source: (origin: MysqlOrigin) => object
  readonly #nowMs: () => number
  readonly #headers: readonly RecordHeader[]

  constructor(flavor: MysqlFlavor, topic: string, { source, nowMs, headers }: SchemaChangeWriterOptions) {
    this.#topic = topic
    this.#source = source
    this.#nowMs = nowMs
    this.#headers = headers
    this.#key = {
      type: 'struct',
      name: `io.debezium.connector.${flavor}.SchemaChangeKey`,
      version: 1,
      fields: [{ name: 'databaseName', schema: STRING }],
    }
    this.#value = {
      type: 'struct',
      name: `io.debezium.connector.${flavor}.SchemaChangeValue`,
      version: 1,
      fields: [
        { name: 'source', schema: sourceSchema(flavor) },
        { name: 'ts_ms', schema: INT64 },
        { name: 'databaseName', schema: OPTIONAL_STRING },
        { name: 'schemaName', schema: OPTIONAL_STRING },
        { name: 'ddl', schema: OPTIONAL_STRING },
        { name: 'tableChanges', schema: array(CHANGE) },
      ],
    }
  }

  write({ origin, database, ddl, changes }: SchemaChangeEvent, offset: EventOffset): SourceRecord {
    return {
      topic: this.#topic,
      partition: 0,
      keySchema: this.#key,
      key: { databaseName: database },
      valueSchema: this.#value,
      value: {
        source: this.#source(origin),
        ts_ms: this.#nowMs(),
        databaseName: database,
        schemaName: null,
        ddl,
        tableChanges: changes.map(toStruct),
      },
      headers: this.#headers,
      ...offset,
    }
  }
}

function toStruct(change: TableChange): object {
  const { schema, name } = change.type === 'DROP' ? change.id : change.table
  const id = `"${schema.replaceAll('"', '""')}"."${name.replaceAll('"', '""')}"`
  if (change.type === 'DROP') return { type: 'DROP', id, table: null }
  const { charsetName, keyNames, columns, comment } = change.table
  return {
    type: change.type,
    id,
    table: {
      defaultCharsetName: charsetName ?? null,
      primaryKeyColumnNames: keyNames,
      columns: columns.map(columnStruct),
      comment: comment ?? null,
    },
  }
}

function columnStruct(column: HistoryColumn, index: number): object {
  return {
    name: column.name,
    jdbcType: column.jdbcType,
    nativeType: null,
    typeName: column.typeName,
    typeExpression: column.typeName,
    charsetName: column.charsetName ?? null,
    length: column.length ?? null,
    scale: column.scale ?? null,
    position: index + 1,
    optional: column.isOptional,
    autoIncremented: column.isAutoIncrement,
    generated: column.isGenerated,
    comment: column.comment ?? null,
    defaultValueExpression: column.defaultExpression ?? null,
    enumValues: column.enumValues.length > 0 ? column.enumValues : null,
  }
}
