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
 * bigint; bytes are a Uint8Array; an array is an array; a map with string keys is a `Map`; a struct is a plain object.
 * Logical types (`name`): Decimal is `{ unscaled: bigint, scale }`; Date and Timestamp are a `Date`; Time is the ms of
 * the day as a number.
 */
export type Schema = {
  readonly type: SchemaType
  readonly optional?: boolean
  readonly default?: unknown
  readonly name?: string
  readonly version?: number
  readonly doc?: string
  readonly parameters?: Readonly<Record<string, string>>
  /** Of an array's items, of a map's values. */
  readonly items?: Schema
  /** Of a map's keys. */
  readonly keys?: Schema
  readonly fields?: readonly Field[]
}
