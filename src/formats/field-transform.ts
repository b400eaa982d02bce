/** The type of a field's value, with the names that Confluent's clients use. */
export type FieldType =
  | 'STRING'
  | 'BYTES'
  | 'FIXED'
  | 'ENUM'
  | 'INT'
  | 'LONG'
  | 'FLOAT'
  | 'DOUBLE'
  | 'BOOLEAN'
  | 'ARRAY'
  | 'MAP'
  | 'RECORD'
  | 'NULL'

/** A field of a record, a message or a JSON object, as rules identify it. */
export type FieldContext = {
  /** Avro and Protobuf: `namespace.Record.field`; JSON: `$.object.field`. Array items have the name of their field. */
  readonly fullName: string
  /** The inline tags of the field in the schema. */
  readonly tags: readonly string[]
}

/**
 * Whether a field is replaced as a whole, also a record, before its own fields are visited. Its value becomes `***`; in Protobuf, other
 * fields than strings are cleared.
 */
export type FieldMask = (field: FieldContext) => boolean

export const MASKED_VALUE = '***'

/** Returns the new value of a field or of one of its items. Not called for null. */
export type FieldTransform = (field: FieldContext, type: FieldType, value: unknown) => unknown
