import type { AvroSchema } from '../../../formats/avro/schema.ts'

// The names under which Confluent's converter keeps in Avro what only Connect knows, and the other way round.

const SPACE = 'io.confluent.connect.avro'

export const DEFAULT_NAME = `${SPACE}.ConnectDefault`
export const MAP_ENTRY = 'MapEntry'
export const MAP_ENTRY_NAME = `${SPACE}.${MAP_ENTRY}`
/** A struct of this name is a union: at most one of its fields has a value. */
export const UNION = `${SPACE}.Union`
/** Parameter of a string schema: full name of the enum; with `.SYMBOL` behind it: one symbol. */
export const ENUM = `${SPACE}.Enum`
export const ENUM_DOC = `${SPACE}.enum.doc.`
export const ENUM_DEFAULT = `${SPACE}.enum.default.`
export const RECORD_DOC = `${SPACE}.record.doc`
export const FIELD_DOC = `${SPACE}.field.doc.`
/** Parameter that marks a default which came from an Avro field, not from Connect. */
export const FIELD_DEFAULT = `${SPACE}.field.default`

/** Parameter of a Decimal schema. */
export const PRECISION = 'connect.decimal.precision'
export const PRECISION_DEFAULT = 64

/** Members of Avro schemas. */
export const PROP = {
  doc: 'connect.doc',
  version: 'connect.version',
  parameters: 'connect.parameters',
  default: 'connect.default',
  name: 'connect.name',
  type: 'connect.type',
  internalType: 'connect.internal.type',
} as const

/** The field of a union's struct that holds the values of one branch. */
export function unionFieldName(branch: AvroSchema): string {
  return 'name' in branch ? branch.name.simple : branch.type
}

export function isMapEntry(schema: AvroSchema): boolean {
  if (schema.type !== 'record') return false
  return schema.name.full === MAP_ENTRY_NAME || schema.props.get(PROP.internalType) === MAP_ENTRY
}
