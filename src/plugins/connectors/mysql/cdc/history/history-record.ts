import type { Position as StoredOffset } from '../../../../../sdk/index.ts'
import { type BinlogPosition, parseMysqlOffset } from '../position.ts'
import type { HistoryColumn, HistoryTable, TableChange, TableId } from '../table-model.ts'

/** A change of tables with its place in the binary log, as a record of the topic of the schema history. */
export type HistoryRecord = {
  readonly partition: StoredOffset
  /** The offset of the source before the statement. */
  readonly offset: StoredOffset
  readonly timestampMs: number
  readonly database: string
  readonly ddl: string
  readonly changes: readonly TableChange[]
}

export type ParsedHistoryRecord = {
  readonly position: BinlogPosition
  /** Whether a snapshot has written the record. */
  readonly isOfSnapshot: boolean
  readonly server: unknown
  readonly database: string
  readonly ddl: string | undefined
  /** Undefined in records of older versions, which have the statement only. */
  readonly changes: readonly TableChange[] | undefined
}

/** Prints a record in the format of Debezium. */
export function printHistoryRecord({ partition, offset, timestampMs, database, ddl, changes }: HistoryRecord): string {
  return JSON.stringify({
    source: partition,
    position: offset,
    ts_ms: timestampMs,
    databaseName: database,
    ddl,
    tableChanges: changes.map(printChange),
  })
}

/** Parses a record of this connector or of Debezium. Undefined for one without a place, as Debezium ignores it. */
export function parseHistoryRecord(text: string): ParsedHistoryRecord | undefined {
  const { source, position, databaseName, ddl, tableChanges } = JSON.parse(text) as Readonly<Record<string, unknown>>
  if (!isObject(source) || !isObject(position)) return undefined
  return {
    position: parseMysqlOffset(position as StoredOffset).position,
    isOfSnapshot: Boolean(position['snapshot']),
    server: source['server'],
    database: typeof databaseName === 'string' ? databaseName : '',
    ddl: typeof ddl === 'string' ? ddl : undefined,
    changes: Array.isArray(tableChanges) ? tableChanges.map((change) => parseChange(change)) : undefined,
  }
}

function printChange(change: TableChange): object {
  if (change.type === 'DROP') return { type: 'DROP', id: printId(change.id) }
  const { table } = change
  return {
    type: change.type,
    id: printId(table),
    ...(change.type === 'ALTER' && change.previousId !== undefined && { previousId: printId(change.previousId) }),
    table: {
      defaultCharsetName: table.charsetName ?? null,
      primaryKeyColumnNames: table.keyNames,
      columns: table.columns.map(printColumn),
      attributes: [],
    },
    comment: table.comment ?? null,
  }
}

function printColumn(column: HistoryColumn, index: number): object {
  const { name, jdbcType, typeName, charsetName, length, scale, comment, defaultExpression, enumValues } = column
  return {
    name,
    jdbcType,
    typeName,
    typeExpression: typeName,
    charsetName: charsetName ?? null,
    ...(length !== undefined && { length }),
    ...(scale !== undefined && { scale }),
    position: index + 1,
    optional: column.isOptional,
    autoIncremented: column.isAutoIncrement,
    generated: column.isGenerated,
    comment: comment ?? null,
    hasDefaultValue: defaultExpression !== undefined,
    ...(typeof defaultExpression === 'string' && { defaultValueExpression: defaultExpression }),
    ...(enumValues.length > 0 && { enumValues }),
  }
}

function parseChange(change: unknown): TableChange {
  const { type, id, previousId, table, comment } = expectObject(change, 'a change of a table')
  const parsedId = parseId(id)
  if (type === 'DROP') return { type, id: parsedId }
  if (type !== 'CREATE' && type !== 'ALTER') throw new Error(`'${String(type)}' is not a change of a table`)
  const { columns, primaryKeyColumnNames, defaultCharsetName } = expectObject(table, 'a table')
  if (!Array.isArray(columns) || !Array.isArray(primaryKeyColumnNames))
    throw new Error('a table has no columns or no key')
  const parsed: HistoryTable = {
    ...parsedId,
    columns: columns.map((column) => parseColumn(column)),
    keyNames: primaryKeyColumnNames.map(String),
    charsetName: textOf(defaultCharsetName),
    comment: textOf(comment),
  }
  if (type === 'CREATE') return { type, table: parsed }
  return { type, table: parsed, ...(typeof previousId === 'string' && { previousId: parseId(previousId) }) }
}

function parseColumn(value: unknown): HistoryColumn {
  const column = expectObject(value, 'a column')
  const { name, jdbcType, typeName, enumValues, defaultValueExpression, hasDefaultValue } = column
  if (typeof name !== 'string' || typeof jdbcType !== 'number' || typeof typeName !== 'string') {
    throw new Error('a column has no name or no type')
  }
  return {
    name,
    jdbcType,
    typeName,
    charsetName: textOf(column['charsetName']),
    length: numberOf(column['length']),
    scale: numberOf(column['scale']),
    isOptional: column['optional'] === true,
    isAutoIncrement: column['autoIncremented'] === true,
    isGenerated: column['generated'] === true,
    comment: textOf(column['comment']),
    defaultExpression: textOf(defaultValueExpression) ?? (hasDefaultValue === true ? null : undefined),
    enumValues: Array.isArray(enumValues) ? enumValues.map(String) : [],
  }
}

/** `"database"."table"`, with doubled quotes within a name. */
function printId({ schema, name }: TableId): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  return `${quoted(schema)}.${quoted(name)}`
}

function parseId(text: unknown): TableId {
  const [, schema, name] = /^"((?:[^"]|"")*)"\."((?:[^"]|"")*)"$/.exec(String(text)) ?? []
  if (schema === undefined || name === undefined) throw new Error(`'${String(text)}' is not the name of a table`)
  return { schema: schema.replaceAll('""', '"'), name: name.replaceAll('""', '"') }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function expectObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  throw new Error(`${what} is not an object`)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
