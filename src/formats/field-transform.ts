/** The type of a field's value, by the names that Confluent's clients give it in messages. */
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

/** A field of a record, a message or a JSON object, as the rules of a schema name it. */
export type FieldContext = {
  /** Avro and Protobuf: `namespace.Record.field`; JSON: `$.object.field`. Items of an array have the name of its field. */
  readonly fullName: string
  /** The tags in the schema text. */
  readonly tags: readonly string[]
}

/** Returns the new value of a field, or of one item of it. Never called for null. */
export type FieldTransform = (field: FieldContext, type: FieldType, value: unknown) => unknown
