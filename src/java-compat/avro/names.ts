import type { AvroSchema } from '../../formats/avro/avro-schema.ts'
import type { Schema } from '../../sdk/index.ts'
import { SUM_TYPE_NAMES } from '../sum-type-names.ts'

// Names that Confluent's converter uses to store Connect metadata in Avro schemas and Avro metadata in Connect schemas.

const SPACE = 'io.confluent.connect.avro'

export const DEFAULT_RECORD_NAME = `${SPACE}.ConnectDefault`
export const MAP_ENTRY = 'MapEntry'
export const MAP_ENTRY_NAME = `${SPACE}.${MAP_ENTRY}`
/** Name of a struct that represents a union: at most one of its fields is set. */
export const AVRO_UNION = `${SPACE}.Union`
/** Parameter of a string schema: full name of the enum. With the suffix `.SYMBOL`: one symbol. */
export const AVRO_ENUM = `${SPACE}.Enum`
export const ENUM_DOC = `${SPACE}.enum.doc.`
export const ENUM_DEFAULT = `${SPACE}.enum.default.`
export const RECORD_DOC = `${SPACE}.record.doc`
export const FIELD_DOC = `${SPACE}.field.doc.`
/** Parameter that marks a default that came from an Avro field. */
export const FIELD_DEFAULT = `${SPACE}.field.default`

/** Parameters that keep the documentation of types when it is not used as documentation of schemas. */
export const RECORD_DOC_KEPT = 'connect.record.doc'
export const ENUM_DOC_KEPT = 'connect.enum.doc'

/** Parameter of a Decimal schema. */
export const AVRO_PRECISION = 'connect.decimal.precision'
export const PRECISION_DEFAULT = 64

/** Parameter of bytes that represent an Avro fixed: its size. */
export const FIXED_SIZE = 'connect.fixed.size'

/** Members of Avro schemas that hold Connect metadata. */
export const AVRO_PROP = {
  doc: 'connect.doc',
  version: 'connect.version',
  parameters: 'connect.parameters',
  default: 'connect.default',
  name: 'connect.name',
  type: 'connect.type',
  internalType: 'connect.internal.type',
} as const

/** Returns the name of the field for a branch in a union's struct. */
export function unionFieldName(branch: AvroSchema, full = false): string {
  if (!('name' in branch)) return branch.type
  return full ? branch.name.full : branch.name.simple
}

export function isUnion({ name, parameters }: Schema): boolean {
  return name === AVRO_UNION || parameters?.[SUM_TYPE_NAMES.union] !== undefined
}

/** Returns the name of the parameter that marks a string as an enum. */
export function enumParameter(
  { parameters = {} }: Schema,
  shared = false,
): typeof SUM_TYPE_NAMES.enum | typeof AVRO_ENUM {
  return shared && parameters[SUM_TYPE_NAMES.enum] !== undefined ? SUM_TYPE_NAMES.enum : AVRO_ENUM
}

/**
 * Replaces characters that Avro names do not permit, as Confluent's converter does: percent-encoding with `_` instead
 * of `%`. Dots separate namespaces and are kept.
 */
export function scrubbed(name: string): string {
  return name.split('.').map(scrubbedPart).join('.')
}

export function scrubbedPart(name: string): string {
  const encoded = name.replace(/[^A-Za-z0-9_]/gu, (character) =>
    /[ .*-]/.test(character) ? '_' : Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '_$&'),
  )
  return /^\d/.test(encoded) ? `x${encoded}` : encoded
}

export function isMapEntry(schema: AvroSchema): boolean {
  if (schema.type !== 'record') return false
  return schema.name.full === MAP_ENTRY_NAME || schema.props.get(AVRO_PROP.internalType) === MAP_ENTRY
}
