import {
  DataError,
  INT32,
  INT64,
  OPTIONAL_STRING,
  type Schema,
  type SinkRecord,
  STRING,
} from '../../../../sdk/index.ts'
import type { SinkColumn } from './sink-column.ts'
import type { SinkConfig } from './sink-config.ts'
import type { FormOptions, SinkDatabase } from './sink-database.ts'

/** The configuration keys that control how records are converted to rows, and the database that determines the form of values. */
export type RowOptions<Form> = RowKeys & FormOptions & Pick<SinkDatabase<Form>, 'toForm'>

type RowKeys = Pick<
  SinkConfig,
  | 'pk.mode'
  | 'pk.fields'
  | 'fields.whitelist'
  | 'string.output.value.column.name'
  | 'timestamp.fields.list'
  | 'timestamp.precision.mode'
  | 'delete.enabled'
>

const KAFKA_COLUMNS = ['__connect_topic', '__connect_partition', '__connect_offset']

/** Returns why a record cannot be converted to a row of any table, or undefined if it can. */
export function findRecordError(record: SinkRecord, options: RowKeys): DataError | undefined {
  const { value, valueSchema, key, keySchema } = record
  const needsKey = options['pk.mode'] === 'record_key'
  if (needsKey && (key === null || key === undefined || keySchema === null)) {
    return new DataError('the record has no key with a schema, which pk.mode=record_key requires')
  }
  if (value === null || value === undefined) {
    if (options['delete.enabled']) return undefined
    return new DataError('the record has no value: set delete.enabled=true to delete its row, or filter such records')
  }
  if (valueSchema?.type === 'struct' || valueSchema?.type === 'string') return undefined
  const found = valueSchema === null ? 'has no schema' : `is of type ${valueSchema.type}`
  return new DataError(
    `the value of the record ${found}, but must be a struct, whose fields are the columns: use a converter with schemas, such as ` +
      'AvroConverter or JsonConverter with schemas.enable=true',
  )
}

/** Returns the columns for records with these schemas, key columns first. Throws a `DataError` if there are none. */
export function toSinkColumns<Form>(
  keySchema: Schema | null,
  valueSchema: Schema | null,
  options: RowOptions<Form>,
): readonly SinkColumn<Form>[] {
  const keys = keyColumns(keySchema, valueSchema, options)
  const keyNames = new Set(keys.map(({ name }) => name))
  const values = valueColumns(valueSchema, options).filter(({ name }) => !keyNames.has(name))
  if (keys.length + values.length > 0) return [...keys, ...values]
  throw new DataError('the record has no fields to write: check fields.whitelist and pk.mode')
}

function keyColumns<Form>(
  keySchema: Schema | null,
  valueSchema: Schema | null,
  options: RowOptions<Form>,
): readonly SinkColumn<Form>[] {
  const fields = options['pk.fields']
  switch (options['pk.mode']) {
    case 'none':
      return []
    case 'kafka':
      return kafkaColumns(fields.length === 0 ? KAFKA_COLUMNS : fields, options)
    case 'record_key':
      return recordKeyColumns(keySchema!, fields, options)
    case 'record_value':
      return fieldColumns(valueSchema, fields, 'value', options)
  }
}

function kafkaColumns<Form>(
  [topic, partition, offset]: readonly string[],
  options: RowOptions<Form>,
): readonly SinkColumn<Form>[] {
  return [
    column(topic!, STRING, true, options, ({ origin }) => origin.topic),
    column(partition!, INT32, true, options, ({ origin }) => origin.partition),
    column(offset!, INT64, true, options, ({ origin }) => origin.offset),
  ]
}

function recordKeyColumns<Form>(
  schema: Schema,
  fields: readonly string[],
  options: RowOptions<Form>,
): readonly SinkColumn<Form>[] {
  if (schema.type === 'struct') return fieldColumns(schema, fields, 'key', options)
  if (schema.type === 'array' || schema.type === 'map') {
    throw new DataError(
      `the key of the record is of type ${schema.type}: the key of a row must be a primitive or a struct`,
    )
  }
  if (fields.length === 1) return [column(fields[0]!, schema, true, options, ({ key }) => key)]
  throw new DataError(`the key of the record is a primitive: set pk.fields to the name of its column`)
}

function fieldColumns<Form>(
  schema: Schema | null,
  names: readonly string[],
  side: 'key' | 'value',
  options: RowOptions<Form>,
): readonly SinkColumn<Form>[] {
  if (schema?.type !== 'struct')
    throw new DataError(`the ${side} of the record is not a struct, so it has no fields for the key of a row`)
  const wanted = names.length === 0 ? schema.fields!.map(({ name }) => name) : names
  return wanted.map((name) => {
    const found = schema.fields!.find((field) => field.name === name)
    if (found !== undefined) return column(name, found.schema, true, options, (record) => fieldOf(record[side], name))
    const known = schema.fields!.map((field) => field.name).join(', ')
    throw new DataError(`the ${side} of the record has no field '${name}' (pk.fields); its fields are ${known}`)
  })
}

function valueColumns<Form>(schema: Schema | null, options: RowOptions<Form>): readonly SinkColumn<Form>[] {
  if (schema === null) return []
  if (schema.type === 'string') {
    return [column(options['string.output.value.column.name'], OPTIONAL_STRING, false, options, ({ value }) => value)]
  }
  const whitelist = options['fields.whitelist']
  return (schema.fields ?? [])
    .filter(({ name }) => whitelist.length === 0 || whitelist.includes(name))
    .map(({ name, schema: own }) => column(name, own, false, options, ({ value }) => fieldOf(value, name)))
}

function fieldOf(struct: unknown, name: string): unknown {
  return (struct as Readonly<Record<string, unknown>>)[name]
}

function column<Form>(
  name: string,
  schema: Schema,
  isKey: boolean,
  options: RowOptions<Form>,
  pick: (record: SinkRecord) => unknown,
): SinkColumn<Form> {
  const isEpoch = options['timestamp.fields.list'].includes(name) && ['int64', 'string'].includes(schema.type)
  const epochUnit = isEpoch ? options['timestamp.precision.mode'] : undefined
  const { type, fallback, write, form } = options.toForm({ schema, isKey, epochUnit }, options)
  const nullValue = (options.nullIsDefault ? schema.default : undefined) ?? null
  return {
    ...form,
    name,
    isKey,
    type,
    fallback,
    notNull: isKey || schema.optional !== true,
    textOf: (record) => withFieldName(name, () => write(pick(record))),
    pick: (record) => pick(record) ?? nullValue,
  }
}

export function withFieldName<T>(name: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof DataError ? new DataError(`field '${name}': ${error.message}`) : error
  }
}
