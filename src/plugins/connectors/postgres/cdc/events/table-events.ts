import { type Field, INT64, OPTIONAL_INT64, type Schema, STRING } from '../../../../../sdk/index.ts'
import { type Column, type DatabaseChange, type Row, type Table, UNCHANGED_TOAST } from '../changes/change.ts'
import type { ColumnTypes } from '../values/column-types.ts'
import { sourceParameters } from '../values/source-parameters.ts'
import type { EventSettings } from './event-settings.ts'
import { adjustedFieldName, adjustedSchemaName } from './name-adjustment.ts'
import { SOURCE_SCHEMA } from './source-block.ts'
import type { TopicNaming } from './topic-naming.ts'

export type EventStruct = Readonly<Record<string, unknown>>
export type TableRowChange = Extract<DatabaseChange, { readonly kind: 'row' }>

/** One captured column: where its cell is in a row, and the field that it becomes. */
type CapturedColumn = {
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
export class TableEvents {
  readonly topic: string
  /** Null if the table has no key. */
  readonly keySchema: Schema | null
  readonly #columns: readonly CapturedColumn[]
  readonly #keys: readonly CapturedColumn[]
  /** The columns of the key of which the server sends the old values without REPLICA IDENTITY FULL. */
  readonly #sentKeys: readonly CapturedColumn[]
  /** Names the table in keys of a topic that several tables may have. */
  readonly #keyField: ReturnType<TopicNaming['keyField']>
  readonly #valueName: string
  readonly #envelopeName: string
  /** Envelopes by the columns that they leave out. */
  readonly #envelopes = new Map<string, Schema>()

  constructor(table: Table, topics: TopicNaming, settings: EventSettings, types: ColumnTypes) {
    const topic = topics.table(table)
    this.topic = topic
    this.#keyField = topics.keyField(table)
    const described = table.columns.map((column, index) => describeColumn(column, index, settings, types))
    this.#columns = described.flatMap((one, index) => {
      const column = table.columns[index]!
      return one === undefined || !settings.columns.isCaptured(table, column)
        ? []
        : withRules(one, table, column, settings, types)
    })
    const keyNames = settings.columns.keyNames(table) ?? table.keyNames
    this.#keys = keyNames.flatMap((name) => described.find((column) => column?.name === name) ?? [])
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
        { name: 'source', schema: SOURCE_SCHEMA },
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
    if (!row.includes(UNCHANGED_TOAST)) return ''
    return this.#columns.flatMap(({ index }) => (row[index] === UNCHANGED_TOAST ? index : [])).join(',')
  }

  row(row: Row): EventStruct {
    return structOf(this.#columns, row)
  }

  /** Without the columns that the server did not send. */
  sentRow(row: Row): EventStruct {
    return structOf(
      this.#columns.filter(({ index }) => row[index] !== UNCHANGED_TOAST),
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
  isKeyMoved({ before, after, isBeforeKeyOnly }: TableRowChange): boolean {
    if (before === undefined || after === undefined) return false
    return !hasSameCells(isBeforeKeyOnly ? this.#sentKeys : this.#keys, before, after)
  }

  /** Whether all captured columns are equal. A column that was not sent did not change. */
  hasSameValues(before: Row, after: Row): boolean {
    return hasSameCells(this.#columns, before, after)
  }
}

/** Undefined if events do not contain columns of this type. */
function describeColumn(
  column: Column,
  index: number,
  { fieldNames, placeholder }: EventSettings,
  types: ColumnTypes,
): CapturedColumn | undefined {
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
function withRules(
  described: CapturedColumn,
  table: Table,
  column: Column,
  { columns: rules }: EventSettings,
  types: ColumnTypes,
): CapturedColumn {
  const masked = rules.masked(table, column, described, () => types.sizeOf(column))
  if (masked !== undefined) return { ...described, ...masked }
  if (!rules.isTypePropagated(table, column, types.catalog.get(column.typeId)?.name ?? '')) return described
  const parameters = { ...described.schema.parameters, ...sourceParameters(column, types.catalog) }
  return { ...described, schema: { ...described.schema, parameters } }
}

function fieldsOf(columns: readonly CapturedColumn[]): readonly Field[] {
  return columns.map(({ field, schema }) => ({ name: field, schema }))
}

function structOf(columns: readonly CapturedColumn[], row: Row): EventStruct {
  const struct: Record<string, unknown> = {}
  for (const { index, field, decode, absent, unavailable } of columns) {
    const cell = row[index]
    const value = typeof cell === 'string' ? decode(cell) : cell === UNCHANGED_TOAST ? unavailable : absent
    if (field === '__proto__') defineOwn(struct, field, value)
    else struct[field] = value
  }
  return struct
}

/** An assignment to `__proto__` sets no member. */
function defineOwn(struct: object, name: string, value: unknown): void {
  Object.defineProperty(struct, name, { value, enumerable: true, configurable: true, writable: true })
}

function hasSameCells(columns: readonly CapturedColumn[], before: Row, after: Row): boolean {
  return columns.every(({ index }) => after[index] === UNCHANGED_TOAST || after[index] === before[index])
}
