export type SchemaType =
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'float32'
  | 'float64'
  | 'boolean'
  | 'string'
  | 'bytes'
  | 'array'
  | 'map'
  | 'struct'

export type Field = { readonly name: string; readonly schema: Schema }

/**
 * Kafka Connect's schema. Values: int8…int32 and floats are numbers; int64 is a number when it is a safe integer, else a
 * bigint; bytes are a Uint8Array; an array is an array; a map is a `Map`; a struct is a plain object. Logical types
 * (`name`): Decimal is `{ unscaled: bigint, scale }`; Date and Timestamp are a `Date`; Time is the ms of the day as a
 * number. Schemas are immutable. Converters cache by identity, so create a schema once and use it for every record.
 */
export type Schema = {
  readonly type: SchemaType
  readonly optional?: boolean
  readonly default?: unknown
  readonly name?: string
  readonly version?: number
  readonly doc?: string
  readonly parameters?: Readonly<Record<string, string>>
  /** Schema of the items of an array, or of the values of a map. */
  readonly items?: Schema
  /** Schema of the keys of a map. */
  readonly keys?: Schema
  readonly fields?: readonly Field[]
}

/** Names of the logical types. */
export const LOGICAL = {
  decimal: 'org.apache.kafka.connect.data.Decimal',
  date: 'org.apache.kafka.connect.data.Date',
  time: 'org.apache.kafka.connect.data.Time',
  timestamp: 'org.apache.kafka.connect.data.Timestamp',
} as const

export const INT8: Schema = { type: 'int8' }
export const INT16: Schema = { type: 'int16' }
export const INT32: Schema = { type: 'int32' }
export const INT64: Schema = { type: 'int64' }
export const FLOAT32: Schema = { type: 'float32' }
export const FLOAT64: Schema = { type: 'float64' }
export const BOOLEAN: Schema = { type: 'boolean' }
export const STRING: Schema = { type: 'string' }
export const BYTES: Schema = { type: 'bytes' }
export const DATE: Schema = { type: 'int32', name: LOGICAL.date, version: 1 }
export const TIME: Schema = { type: 'int32', name: LOGICAL.time, version: 1 }
export const TIMESTAMP: Schema = { type: 'int64', name: LOGICAL.timestamp, version: 1 }

export const OPTIONAL_BOOLEAN: Schema = { type: 'boolean', optional: true }
export const OPTIONAL_INT64: Schema = { type: 'int64', optional: true }
export const OPTIONAL_FLOAT64: Schema = { type: 'float64', optional: true }
export const OPTIONAL_STRING: Schema = { type: 'string', optional: true }
export const OPTIONAL_BYTES: Schema = { type: 'bytes', optional: true }

/** An exact decimal number with `scale` digits after the decimal point. */
export function decimal(scale: number): Schema {
  return { type: 'bytes', name: LOGICAL.decimal, version: 1, parameters: { scale: String(scale) } }
}

export function optional(schema: Schema): Schema {
  return { ...schema, optional: true }
}

export function array(items: Schema): Schema {
  return { type: 'array', items }
}

export function map(keys: Schema, items: Schema): Schema {
  return { type: 'map', keys, items }
}

/** The fields have the order of the object's members. */
export function struct(name: string, fields: Readonly<Record<string, Schema>>): Schema {
  return { type: 'struct', name, fields: Object.entries(fields).map(([field, schema]) => ({ name: field, schema })) }
}
