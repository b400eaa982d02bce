import { type Field, INT64, OPTIONAL_INT64, type Schema, STRING } from '../../../../sdk/index.ts'
import {
  type ColumnDescription,
  type Row,
  type RowImages,
  type TableDescription,
  TableError,
  UNSENT,
} from '../table.ts'
import type { ColumnFields } from './event-dialect.ts'
import type { EventSettings } from './event-settings.ts'
import { adjustedFieldName, adjustedSchemaName } from './name-adjustment.ts'
import type { TopicNaming } from './topic-naming.ts'

export type EventStruct = Readonly<Record<string, unknown>>

export type TableDialect<Column extends ColumnDescription> = {
  readonly columns: ColumnFields<Column>
  readonly sourceSchema: Schema
}

/** One captured column: where its cell is in a row, and the field that it becomes. */
type ColumnDecoder = {
  readonly index: number
  readonly name: string
  readonly field: string
  readonly schema: Schema
  readonly decode: (text: string) => unknown
  /** For NULL: not null if the field is not optional, as in the old row of a deleted one. */
  readonly absent: unknown
  readonly unavailable: unknown
}

export const TRANSACTION_BLOCK: Schema = {
  type: 'struct',
  optional: true,
  name: 'event.block',
  version: 1,
  fields: [
    { name: 'id', schema: STRING },
    { name: 'total_order', schema: INT64 },
    { name: 'data_collection_order', schema: INT64 },
  ],
}

/** The schemas of one version of a table, and its decoders. Created once for each `Table`, since converters cache schemas. */
export class TableEvents<Column extends ColumnDescription> {
  readonly topic: string
  /** Null if the table has no key. */
  readonly keySchema: Schema | null
  readonly #columns: readonly ColumnDecoder[]
  readonly #keys: readonly ColumnDecoder[]
  /** The columns of the key of which the server sends the old values without REPLICA IDENTITY FULL. */
  readonly #sentKeys: readonly ColumnDecoder[]
  /** Names the table in keys of a topic that several tables may have. */
  readonly #keyField: ReturnType<TopicNaming['keyField']>
  readonly #valueName: string
  readonly #envelopeName: string
  readonly #sourceSchema: Schema
  /** Envelopes by the columns that they leave out. */
  readonly #envelopes = new Map<string, Schema>()

  constructor(
    table: TableDescription<Column>,
    topics: TopicNaming,
    settings: EventSettings,
    types: TableDialect<Column>,
  ) {
    const topic = topics.table(table)
    this.topic = topic
    this.#keyField = topics.keyField(table)
    this.#sourceSchema = types.sourceSchema
    const described = table.columns.map((column, index) => describeColumn(column, index, settings, types.columns))
    this.#columns = described.flatMap((one, index) => {
      const column = table.columns[index]!
      return one === undefined || !settings.columns.isCaptured(table, column)
        ? []
        : withRules(one, table, column, settings, types.columns)
    })
    const keyNames = settings.columns.keyNames(table) ?? knownKey(table)
    this.#keys = keyNames.flatMap((name) => described.find((column) => column?.name === name) ?? [])
    const missing = keyNames.find((name) => !this.#keys.some((column) => column.name === name))
    if (missing !== undefined && this.#keys.length > 0) {
      throw keyProblem(table, `events cannot contain its column ${missing}, because of its type`)
    }
    this.#sentKeys = this.#keys.filter(({ name }) => table.keyNames.includes(name))
    this.#valueName = adjustedSchemaName(`${topic}.Value`, settings.schemaNames)
    this.#envelopeName = adjustedSchemaName(`${topic}.Envelope`, settings.schemaNames)
    const keyName = adjustedSchemaName(`${topic}.Key`, settings.schemaNames)
    const added = this.#keyField === undefined ? [] : [{ name: this.#keyField.name, schema: STRING }]
    const fields = [...fieldsOf(this.#keys), ...added]
    this.keySchema = fields.length === 0 ? null : { type: 'struct', name: keyName, fields }
  }

  /** The schema of events. `omitted` has the indexes of columns that it leaves out, as `unsentColumns` returns them. */
  envelope(omitted = ''): Schema {
    const known = this.#envelopes.get(omitted)
    if (known !== undefined) return known
    const skipped = new Set(omitted.split(','))
    const columns = this.#columns.filter(({ index }) => !skipped.has(String(index)))
    const row: Schema = { type: 'struct', optional: true, name: this.#valueName, fields: fieldsOf(columns) }
    const envelope: Schema = {
      type: 'struct',
      name: this.#envelopeName,
      version: 2,
      fields: [
        { name: 'before', schema: row },
        { name: 'after', schema: row },
        { name: 'source', schema: this.#sourceSchema },
        { name: 'transaction', schema: TRANSACTION_BLOCK },
        { name: 'op', schema: STRING },
        { name: 'ts_ms', schema: OPTIONAL_INT64 },
        { name: 'ts_us', schema: OPTIONAL_INT64 },
        { name: 'ts_ns', schema: OPTIONAL_INT64 },
      ],
    }
    this.#envelopes.set(omitted, envelope)
    return envelope
  }

  /** Indexes of the captured columns that the server did not send; empty if it sent all. */
  unsentColumns(row: Row): string {
    if (!row.includes(UNSENT)) return ''
    return this.#columns.flatMap(({ index }) => (row[index] === UNSENT ? index : [])).join(',')
  }

  row(row: Row): EventStruct {
    return structOf(this.#columns, row)
  }

  /** Without the columns that the server did not send. */
  sentRow(row: Row): EventStruct {
    return structOf(
      this.#columns.filter(({ index }) => row[index] !== UNSENT),
      row,
    )
  }

  /** Null if the table has no key. */
  key(row: Row): EventStruct | null {
    if (this.keySchema === null) return null
    const key = structOf(this.#keys, row)
    return this.#keyField === undefined ? key : { ...key, [this.#keyField.name]: this.#keyField.value }
  }

  /** Whether an update changes the key. The server sends the old values of the columns of the replica identity only. */
  isKeyMoved({ before, after, isBeforeKeyOnly }: Omit<RowImages, 'table'>): boolean {
    if (before === undefined || after === undefined) return false
    return !hasSameCells(isBeforeKeyOnly ? this.#sentKeys : this.#keys, before, after)
  }

  /** Whether all captured columns are equal. A column that was not sent did not change. */
  hasSameValues(before: Row, after: Row): boolean {
    return hasSameCells(this.#columns, before, after)
  }
}

function knownKey(table: TableDescription): readonly string[] {
  const { unknownKeyName, columns, keyNames } = table
  if (unknownKeyName === undefined) return keyNames
  const read = columns.map(({ name }) => name).join(', ')
  const reason = `its column ${unknownKeyName} was added or renamed since or is not published, and the stream has the columns ${read}`
  throw keyProblem(table, reason)
}

/** Events with a part of the key would replace each other. */
function keyProblem({ schema, name }: TableDescription, reason: string): TableError {
  const table = `${schema}.${name}`
  const remedy = `Set message.key.columns=${table}:COLUMN,COLUMN to the columns that its key has at this position of the stream`
  return new TableError(`the key of ${table} is not known: ${reason}. ${remedy}`)
}

/** Undefined if events do not contain columns of this type. */
function describeColumn<Column extends ColumnDescription>(
  column: Column,
  index: number,
  { fieldNames, placeholder }: EventSettings,
  types: ColumnFields<Column>,
): ColumnDecoder | undefined {
  const found = types.of(column)
  if (found === undefined) return undefined
  const { schema, decode } = found
  // Debezium has the default for a NULL that the schema does not allow, as in the old row of a deleted one.
  const absent = schema.optional ? null : (schema.default ?? found.zero)
  const field = adjustedFieldName(column.name, fieldNames)
  return {
    index,
    name: column.name,
    field,
    schema,
    decode,
    absent,
    unavailable: found.unavailable(placeholder) ?? absent,
  }
}

/** Applies the settings of the column. Fields of keys are without them, as with Debezium. */
function withRules<Column extends ColumnDescription>(
  described: ColumnDecoder,
  table: TableDescription,
  column: Column,
  { columns: rules }: EventSettings,
  types: ColumnFields<Column>,
): ColumnDecoder {
  const masked = rules.masked(table, column, described, () => types.sizeOf(column))
  if (masked !== undefined) return { ...described, ...masked }
  if (!rules.isTypePropagated(table, column, types.typeNameOf(column))) return described
  const parameters = { ...described.schema.parameters, ...types.parametersOf(column) }
  return { ...described, schema: { ...described.schema, parameters } }
}

function fieldsOf(columns: readonly ColumnDecoder[]): readonly Field[] {
  return columns.map(({ field, schema }) => ({ name: field, schema }))
}

function structOf(columns: readonly ColumnDecoder[], row: Row): EventStruct {
  const struct: Record<string, unknown> = {}
  for (const { index, field, decode, absent, unavailable } of columns) {
    const cell = row[index]
    const value = typeof cell === 'string' ? decode(cell) : cell === UNSENT ? unavailable : absent
    if (field === '__proto__') defineOwn(struct, field, value)
    else struct[field] = value
  }
  return struct
}

/** An assignment to `__proto__` sets no member. */
function defineOwn(struct: object, name: string, value: unknown): void {
  Object.defineProperty(struct, name, { value, enumerable: true, configurable: true, writable: true })
}

function hasSameCells(columns: readonly ColumnDecoder[], before: Row, after: Row): boolean {
  return columns.every(({ index }) => after[index] === UNSENT || after[index] === before[index])
}
